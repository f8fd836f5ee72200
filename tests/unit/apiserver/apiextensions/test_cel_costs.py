"""Limits of the costs of rules in definitions."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._apiextensions.cel_costs import child_cardinality
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, definition, spec_schema, update

SPEC = "spec.validation.openAPIV3Schema.properties[spec]"
HINT = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength "
    "where arrays, maps, and strings are declared)"
)
TEXTS = {"type": "array", "items": {"type": "string"}}


def _ruled(schema: dict[str, Any], *rules: dict[str, Any]) -> dict[str, Any]:
    return definition(spec_schema({"x": {**schema, "x-kubernetes-validations": list(rules)}}))


def _refusals(obj: dict[str, Any]) -> list[str]:
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), obj)
    return complaints(refused.value)


@pytest.mark.parametrize(
    ("limit", "factor"), [({}, "more than 100"), ({"maxItems": 2000}, "4.0"), ({"maxItems": 1000}, "1.000500")]
)
def test_an_expensive_rule_is_refused_with_a_factor(limit: dict[str, int], factor: str) -> None:
    """The message has the factor, more exact near the limit, and says what to add to the schema."""
    schema = {"type": "array", "items": {"type": "integer"}, **limit}
    told = _refusals(_ruled(schema, {"rule": "self.all(a, self.all(b, a + b > 1 && a < b))"}))
    where = f"{SPEC}.properties[x].x-kubernetes-validations[0].rule"
    assert told[0] == f"{where}: Forbidden: estimated rule cost exceeds budget by factor of {factor}x {HINT}"


def test_a_rule_with_limits_is_accepted() -> None:
    """The same rule is accepted once the lists are short."""
    schema = {"type": "array", "items": {"type": "string", "maxLength": 20}, "maxItems": 20}
    create(ResourceRegistry(), _ruled(schema, {"rule": "self.all(a, self.exists_one(b, a == b))"}))


def test_rules_inside_lists_count_for_each_item() -> None:
    """A cheap rule in a long list is expensive; a limit of the list around it helps."""
    rule = {"rule": "self.matches('^[a-z]+$')"}
    items = {"type": "string", "maxLength": 1000, "x-kubernetes-validations": [rule]}
    outer: dict[str, Any] = {"type": "array", "items": items}
    (told,) = _refusals(definition(spec_schema({"x": outer})))[:1]
    assert told.startswith(
        f"{SPEC}.properties[x].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost"
    )
    create(ResourceRegistry(), definition(spec_schema({"x": {**outer, "maxItems": 10}})))


def test_an_expensive_message_expression_is_refused() -> None:
    """A messageExpression has the same limit, without a factor for lists."""
    rule = {"rule": "self.size() < 3", "messageExpression": "self.map(x, self.join(x)).join('')"}
    told = _refusals(_ruled(TEXTS, rule))
    where = f"{SPEC}.properties[x].x-kubernetes-validations[0].messageExpression"
    why = f"estimated messageExpression cost exceeds budget by factor of more than 100x {HINT}"
    assert told[0] == f"{where}: Forbidden: {why}"


def test_many_moderate_rules_exceed_the_limit_of_the_schema() -> None:
    """The four most expensive rules are named, then the schema."""
    schema = {"type": "array", "items": {"type": "string", "maxLength": 100}, "maxItems": 10_000}
    rules = [{"rule": f"self.all(x, x.matches('^[a-z]{{{number}}}$'))"} for number in range(1, 101)]
    told = _refusals(_ruled(schema, *rules))
    contributed = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
    assert [each.partition(": Forbidden: ")[2] for each in told[:4]] == [contributed] * 4
    assert told[4].startswith(
        "spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total "
        "for entire OpenAPIv3 schema exceeds budget by factor of "
    )


def test_stored_rules_are_not_refused_for_their_cost() -> None:
    """An update that leaves the schema unchanged is accepted, so that definitions of older servers can be changed."""
    registry = ResourceRegistry()
    old, _ = create(registry, definition(spec_schema({"x": TEXTS})))
    rule = {"rule": "self.all(a, self.all(b, a.size() > b.size()))"}
    old["spec"]["versions"] = _ruled({**TEXTS, "maxItems": 1500}, rule)["spec"]["versions"]
    new = copy.deepcopy(old)
    new["spec"]["names"]["shortNames"] = ["wid"]
    update(registry, new, old)
    new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "Other."
    with pytest.raises(StatusError, match="estimated rule cost exceeds budget by factor of 1.8x"):
        update(registry, new, old)


@pytest.mark.parametrize(
    ("schema", "cardinality"),
    [
        ({"type": "array", "maxItems": 3}, 6),
        ({"type": "array"}, None),
        ({"type": "object", "additionalProperties": {}, "maxProperties": 4}, 8),
        ({"type": "object", "additionalProperties": {}}, None),
        ({"type": "object"}, 2),
        ({"type": "array", "maxItems": -1}, 0),
    ],
)
def test_cardinality_is_the_product_of_limits(schema: dict[str, Any], cardinality: int | None) -> None:
    """Each list and map around a rule multiplies its cost; one without a limit makes it unlimited."""
    assert child_cardinality(schema, 2) == cardinality
    assert child_cardinality(schema, None) is None
