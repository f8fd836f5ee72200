"""The estimated costs of expressions, compared with recorded answers of a kube-apiserver 1.36.2."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pyctrl.cel import Environment, schema_decl_type
from pyctrl.cel._declarations import DeclType

LIMIT = 10_000_000
RECORDED: Mapping[str, Any] = json.loads(Path(__file__).with_name("rule_costs.json").read_text())


def _cost(rule: str, declaration: DeclType) -> int:
    return Environment({"self": declaration.type}).compile(rule).estimate_cost(declaration)


def _shown(cost: int) -> str:
    factor = cost / LIMIT
    return "more than 100" if factor > 100 else f"{factor:f}" if factor < 1.5 else f"{factor:.1f}"


@pytest.mark.parametrize("schema", ["unlimited", "limited"])
def test_costs_are_those_of_a_cluster(schema: str) -> None:
    """kube-apiserver and pyctrl find each rule equally expensive, to six digits, with and without limits."""
    declaration = schema_decl_type(RECORDED["schemas"][schema], "self")
    assert declaration is not None
    differing = {}
    for rule, answers in RECORDED["rules"].items():
        count, factor = answers[schema]
        if (found := _shown(_cost(rule, declaration) * count)) != factor:
            differing[rule] = (found, factor)
    assert differing == {}


def test_every_library_is_recorded() -> None:
    """The recording has the functions of all libraries, and loops with one and two variables."""
    rules = "\n".join(RECORDED["rules"])
    for function in ("isSorted", "find", "url(", "quantity(", "ip(", "cidr(", "format.", "semver(", "sets.", "optMap"):
        assert function in rules
    assert len(RECORDED["rules"]) > 300


def test_a_limit_makes_a_rule_cheaper() -> None:
    """The hint of a refusal is right: maxItems reduces the cost of a loop."""
    lists: list[dict[str, Any]] = [
        {"type": "array", "items": {"type": "integer"}, **each} for each in ({}, {"maxItems": 5})
    ]
    costs = []
    for each in lists:
        declaration = schema_decl_type(each, "self")
        assert declaration is not None
        costs.append(_cost("self.all(x, x > 1)", declaration))
    assert costs[1] < costs[0] / 1000


def test_the_size_of_a_computed_text_is_unknown() -> None:
    """A conversion to a string has no size in the schema, so that its use has the highest cost."""
    declaration = schema_decl_type({"type": "integer"}, "self")
    assert declaration is not None
    assert _cost("string(self).matches('a')", declaration) >= 2**60
