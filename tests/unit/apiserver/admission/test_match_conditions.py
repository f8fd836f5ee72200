"""Validation of match conditions."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._admission.match_conditions import LIMIT, compiled_condition, validate_conditions


@pytest.mark.parametrize(
    ("condition", "field", "message"),
    [
        ({"name": "a", "expression": " "}, "c[0].expression", "Required value"),
        ({"expression": "true"}, "c[0].name", "Required value"),
        ({"name": "a/b/c", "expression": "true"}, "c[0].name", 'Invalid value: "a/b/c": '),
        ({"name": "a", "expression": "1"}, "c[0].expression", 'Invalid value: "1": must evaluate to bool but got int'),
        ({"name": "a", "expression": "nix"}, "c[0].expression", 'Invalid value: "nix": compilation failed'),
    ],
)
def test_an_invalid_condition(condition: dict[str, Any], field: str, message: str) -> None:
    """Name and expression are required and checked."""
    (cause,) = validate_conditions([condition], "c")
    assert cause.field == field
    assert cause.message.startswith(message)


def test_names_are_unique_and_few() -> None:
    """Names are unique, and a webhook has at most 64 conditions."""
    condition = {"name": "a", "expression": "true"}
    assert [cause.message for cause in validate_conditions([condition] * 2, "c")] == ['Duplicate value: "a"']
    cause = next(iter(validate_conditions([condition] * (LIMIT + 1), "c")))
    assert cause.message == "Too many: 65: must have at most 64 items"


def test_a_compiled_condition_is_cached() -> None:
    """Equal expressions are compiled once."""
    assert compiled_condition("object.kind == 'Pod'") is compiled_condition("object.kind == 'Pod'")
