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
    return [(cause.field, cause.message) for cause in validator.validate({"spec": spec}, before, ())]


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
    """An update that leaves an invalid value unchanged is accepted."""
    validator = _validator({"rule": "self.n < 5", "message": "large"})
    assert _told(validator, {"n": 9}, {"n": 9}) == []
    assert _told(validator, {"n": 9, "m": 1}, {"n": 9}) == [("spec", "Invalid value: large")]


def test_rules_are_not_evaluated_for_objects_that_do_not_match_the_schema() -> None:
    """The error mentions the skipped rules."""
    (cause,) = _validator({"rule": "self.n < 5"}).validate({"spec": {"n": 9}}, None, [required("spec.x")])
    assert (cause.field, "some validation rules were not checked" in cause.message) == ("<nil>", True)
