"""Evaluation of validation rules."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._apiextensions.cel_validation import RuleValidator, compile_rules
from pyctrl.apiserver._errors import required


def _validator(*rules: dict[str, Any]) -> RuleValidator:
    spec = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "m": {"type": "integer"}},
        "x-kubernetes-validations": list(rules),
    }
    return compile_rules({"type": "object", "properties": {"spec": spec}})


def _told(validator: RuleValidator, spec: Any, old: Any = None) -> list[tuple[str, str]]:
    before = None if old is None else {"spec": old}
    return [(cause.field, cause.message) for cause in validator.validate({"spec": spec}, before, (), [])]


@pytest.mark.parametrize(
    ("rule", "field", "message"),
    [
        ({"message": "too large"}, "spec", "Invalid value: too large"),
        ({"messageExpression": "'n is ' + string(self.n)"}, "spec", "Invalid value: n is 5"),
        ({"messageExpression": "' '", "message": "m"}, "spec", "Invalid value: m"),
        ({"fieldPath": ".n", "reason": "FieldValueForbidden", "message": "m"}, "spec.n", "Forbidden: m"),
    ],
)
def test_a_false_rule_is_an_error(rule: dict[str, Any], field: str, message: str) -> None:
    """Field, reason and message are those of the rule."""
    validator = _validator({"rule": "self.n < 5", **rule})
    assert _told(validator, {"n": 4}) == []
    assert _told(validator, {"n": 5}) == [(field, message)]


def test_a_transition_rule_needs_an_old_value() -> None:
    """A new object is not checked, a change is."""
    validator = _validator({"rule": "self.n >= oldSelf.n", "message": "shrinks"})
    assert _told(validator, {"n": 1}) == []
    assert _told(validator, {"n": 1}, {"n": 2}) == [("spec", "Invalid value: shrinks")]


def test_errors_in_unchanged_values_are_ratcheted() -> None:
    """An update that leaves an invalid value unchanged is accepted, with a warning."""
    validator, warnings = _validator({"rule": "self.n < 5", "message": "large"}), list[str]()
    assert validator.validate({"spec": {"n": 9}}, {"spec": {"n": 9}}, (), warnings) == []
    assert warnings == ["spec: Invalid value: large"]
    assert _told(validator, {"n": 9, "m": 1}, {"n": 9}) == [("spec", "Invalid value: large")]


def test_rules_are_not_evaluated_for_objects_that_do_not_match_the_schema() -> None:
    """The error mentions the skipped rules."""
    (cause,) = _validator({"rule": "self.n < 5"}).validate({"spec": {"n": 9}}, None, [required("spec.x")], [])
    assert (cause.field, "some validation rules were not checked" in cause.message) == ("<nil>", True)


_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
_CONTAINS = "self.a.contains(self.b)"  # costs a hundredth of the product of the lengths and takes no time


def _texts(a: int, b: int) -> dict[str, str]:
    return {"a": "x" * a, "b": "x" * b}


def _text_validator(*rules: dict[str, Any], b_limit: int = 1200) -> RuleValidator:
    texts = {name: {"type": "string", "maxLength": limit} for name, limit in (("a", 100_000), ("b", b_limit))}
    spec = {"type": "object", "properties": texts, "x-kubernetes-validations": list(rules)}
    return compile_rules({"type": "object", "properties": {"spec": spec}})


def test_a_rule_that_costs_too_much_ends_the_validation() -> None:
    """One evaluation may cost a million; no further rule is evaluated after it."""
    validator = _text_validator({"rule": _CONTAINS, "message": "m"}, {"rule": "self.a == ''", "message": "long"})
    assert _told(validator, _texts(100_000, 900)) == [("spec", "Invalid value: long")]
    why = "no further validation rules will be run due to call cost exceeds limit for rule: m"
    message = f"Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': {why}"
    assert _told(validator, _texts(100_000, 1100)) == [("spec", message)]


@pytest.mark.parametrize("limit", [60, 1200])
def test_the_rules_of_an_object_have_one_budget(limit: int) -> None:
    """The errors before the end of the budget are reported, and then the end itself."""
    rules = [{"rule": f"{_CONTAINS} && self.b.size() < {each}", "message": f"m{each}"} for each in range(16)]
    validator = _text_validator(*rules, b_limit=limit)  # whether the estimate of one rule exceeds a million
    assert len(_told(validator, _texts(1000, 50))) == 16
    *found, last = _told(validator, _texts(100_000, 900))
    assert found == [("spec", f"Invalid value: m{each}") for each in range(11)]
    assert last == ("spec", f'Invalid value: "object": {_OUT_OF_BUDGET}')


def test_a_message_expression_takes_from_the_budget() -> None:
    """The budget that ends in a messageExpression is an error of this expression."""
    rules = [{"rule": f"{_CONTAINS} && false", "messageExpression": f"string({_CONTAINS})"} for _ in range(9)]
    *_, last = _told(_text_validator(*rules), _texts(100_000, 900))
    why = f"messageExpression evaluation failed {_OUT_OF_BUDGET.removeprefix('validation failed ')}"
    assert last == ("spec", f'Invalid value: "object": {why}')


@pytest.mark.parametrize("expression", ["oldSelf.hasValue() ? 'a' : 'b'", "string(oldSelf.value().n)"])
def test_a_message_expression_has_no_optional_old_value(expression: str) -> None:
    """As in kube-apiserver, such an expression fails and the rule's message is used."""
    rule = {"rule": "!oldSelf.hasValue()", "optionalOldSelf": True, "messageExpression": expression, "message": "m"}
    assert _told(_validator(rule), {"n": 1}, {"n": 2}) == [("spec", "Invalid value: m")]


def test_a_default_is_checked_as_an_old_and_as_a_new_value() -> None:
    """A transition rule sees the default as the old value; a rule with an optional one sees none, too."""

    def told(rule: str, **fields: Any) -> list[tuple[str, str]]:
        schema = {"type": "integer", "default": 7, "x-kubernetes-validations": [{"rule": rule, **fields}]}
        found = compile_rules(schema, is_resource=False).validate_default(7, "n.default")
        return [(cause.field, cause.message) for cause in found]

    assert told("self < 8") == []
    assert told("self < 5") == [("n.default", "Invalid value: 7: failed rule: self < 5")]
    assert told("self > oldSelf") == [("n.default", "Invalid value: 7: failed rule: self > oldSelf")]
    assert len(told("oldSelf.hasValue()", optionalOldSelf=True)) == 1
