"""Evaluation of validation rules on an object and the old object, from the root down.

An object's rules have a budget. Counting the actual costs takes longer than most rules, so a rule with a low estimate,
which is an upper bound, is evaluated without. If the rules cost more than is short, all of them are evaluated again
with actual costs. This takes seconds in the worst case, so the caller chooses where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn, TypeAlias

from pyctrl._go.text import quoted
from pyctrl.apiserver._apiextensions.cel_compilation import SELF_TYPE, RuleNode, RuleProgram, rule_node
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, required
from pyctrl.apiserver._schema.ratcheting import is_unchanged
from pyctrl.apiserver._schema.schema import SchemaNode, compile_structural, list_key
from pyctrl.cel import (
    COST_LIMIT_EXCEEDED,
    NO_OVERLOAD,
    NONE,
    RUNTIME_BUDGET,
    CostBudget,
    EvaluationFailed,
    LongEvaluation,
    Optional,
    OutOfBudget,
    Patience,
    ValueReader,
    value_reader,
)

__all__ = ["RuleValidator", "compile_rules"]


_JSON: TypeAlias = Any
_BLOCKING = frozenset(f"FieldValue{each}" for each in ("NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"))
_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
_NO_FURTHER = "no further validation rules will be run"
_LOW_ESTIMATE = 5_000  # of a rule whose actual cost is not counted
_MESSAGE_BYTES = 5 * 1024  # maximum size of a messageExpression's result


class RuleValidator:
    """Validator of the rules of a kind, or of a schema inside one."""

    def __init__(self, node: RuleNode, read: ValueReader | None) -> None:
        self._node = node
        self._read = read

    def validate(
        self, value: _JSON, old: _JSON | None, causes: Sequence[FieldError], warnings: list[str]
    ) -> list[FieldError]:
        """Return the errors of an object's rules. Errors in unchanged values are warnings (ratcheting).

        Args:
            value: The object.
            old: The object that it replaces; None for a new one.
            causes: The schema errors of the object. Rules are evaluated only for objects that match the schema.
            warnings: The list that gets the warnings.
        """
        return self._validate(value, old, causes, warnings, None)

    def validate_short(
        self, value: _JSON, old: _JSON | None, causes: Sequence[FieldError], warnings: list[str]
    ) -> list[FieldError] | None:
        """Return the errors as `validate` does; None if this takes longer than some milliseconds."""
        with suppress(LongEvaluation):
            return self._validate(value, old, causes, warnings, Patience())
        return None

    def _validate(
        self,
        value: _JSON,
        old: _JSON | None,
        causes: Sequence[FieldError],
        warnings: list[str],
        patience: Patience | None,
    ) -> list[FieldError]:
        if any(cause.reason in _BLOCKING for cause in causes):
            return [invalid_value("<nil>", None, _NOT_CHECKED)]
        found = _Evaluation(patience, is_ratcheting=True)
        found.run(self._node, self._correlated(value, old, ""))
        warnings.extend(f"{cause.field}: {cause.message}" for cause in found.ratcheted)
        return found.causes

    def validate_default(self, value: _JSON, path: str) -> list[FieldError]:
        """Return the errors of a schema's default value, as an unchanged value and as a new one."""
        for old in (value, None):
            found = _Evaluation(None, is_ratcheting=False)
            found.run(self._node, self._correlated(value, old, path))
            if found.causes:
                return found.causes
        return []

    def _correlated(self, value: _JSON, old: _JSON | None, path: str) -> _CorrelatedObject:
        node, read = self._node, self._read
        cel_value = value if read is None else read(value)
        old_cel_value = old if read is None or old is None or not node.has_transitions else read(old)
        return _CorrelatedObject(value, cel_value, old, old_cel_value, path)


def compile_rules(schema: Mapping[str, Any], *, is_resource: bool = True) -> RuleValidator:
    """Compile the rules of a validated schema: that of a kind, or one inside it."""
    node = compile_structural(schema)
    found = rule_node(schema, node, SELF_TYPE, is_resource=is_resource)
    return RuleValidator(found or RuleNode(schema=node), value_reader(schema))


class _CorrelatedObject:
    """A value and its old value, both as JSON and as CEL values (`cel_value`)."""

    __slots__ = ("cel_value", "json", "old", "old_cel_value", "parent", "path", "schema")

    def __init__(
        self,
        json: _JSON,
        cel_value: Any,
        old: _JSON | None,
        old_cel_value: Any,
        path: str,
        schema: SchemaNode | None = None,
        parent: _CorrelatedObject | None = None,
    ) -> None:
        self.json, self.cel_value, self.old, self.old_cel_value, self.path = json, cel_value, old, old_cel_value, path
        self.schema, self.parent = schema, parent

    def key(self, key: str, path: str, schema: SchemaNode) -> _CorrelatedObject:
        """Return the value of a key with the old value of the same key."""
        old = self.old.get(key) if isinstance(self.old, dict) else None
        old_cel_value = None if old is None else self.old_cel_value.get(key)
        return _CorrelatedObject(self.json[key], self.cel_value[key], old, old_cel_value, path, schema, self)

    @property
    def is_unchanged(self) -> bool:
        """Whether the value is unchanged, so that errors in it are ratcheted."""
        if self.old is None:
            return self.parent is not None and self.parent.is_unchanged
        # A whole object always differs from the old one: its metadata has no schema.
        return self.schema is not None and is_unchanged(self.schema, self.json, self.old)


class _NoFurtherRules(Exception):
    """Raised after the error that ends the validation."""


class _Evaluation:
    """One evaluation of an object's rules: the errors, the budget, and the patience, None if it may take long."""

    def __init__(self, patience: Patience | None, *, is_ratcheting: bool) -> None:
        self.causes: list[FieldError] = []
        self.ratcheted: list[FieldError] = []
        self._budget = CostBudget(RUNTIME_BUDGET)
        self._patience = patience
        self._is_ratcheting = is_ratcheting

    def run(self, node: RuleNode, obj: _CorrelatedObject) -> None:
        """Evaluate the rules.

        Raises:
            LongEvaluation: The rules cost more than the patience.
        """
        with suppress(_NoFurtherRules):
            self._walk(node, obj)

    # -- from the root down ------------------------------------------------------------------------------------

    def _walk(self, node: RuleNode, obj: _CorrelatedObject) -> None:
        if node.rules and self._budget.is_spent:
            self._stop(node, obj, str(OutOfBudget()))
        for rule in node.rules:
            self._evaluate(rule, node, obj)
        if isinstance(obj.json, dict):
            self._walk_object(node, obj)
        elif isinstance(obj.json, list) and node.items is not None:
            self._walk_list(node, node.items, obj)

    def _walk_object(self, node: RuleNode, obj: _CorrelatedObject) -> None:
        prefix = f"{obj.path}." if obj.path else ""
        for key, child in node.properties.items():
            if obj.json.get(key) is not None:
                self._walk(child, obj.key(key, prefix + key, child.schema))
        if node.additional is not None:
            for key, item in obj.json.items():
                if item is not None:
                    self._walk(node.additional, obj.key(key, f"{obj.path}[{key}]", node.additional.schema))

    def _walk_list(self, node: RuleNode, items: RuleNode, obj: _CorrelatedObject) -> None:
        known = _by_key(node, obj)
        for index, item in enumerate(obj.json):
            if item is not None:
                key = list_key(item, node.schema.map_keys, items.schema) if known else None
                old, old_cel_value = known.get(key, (None, None))
                path = f"{obj.path}[{index}]"
                cel_value = obj.cel_value[index]
                self._walk(items, _CorrelatedObject(item, cel_value, old, old_cel_value, path, items.schema, obj))

    # -- one rule ----------------------------------------------------------------------------------------------

    def _evaluate(self, rule: RuleProgram, node: RuleNode, obj: _CorrelatedObject) -> None:
        old = obj.old_cel_value
        if rule.is_transition and old is None and not rule.is_optional:
            return
        if rule.is_optional:
            old = NONE if old is None else Optional(old)
        variables = {"self": obj.cel_value, "oldSelf": old}
        value, cost = self._value(rule, variables)
        if not self._spend(cost):
            self._stop(node, obj, str(OutOfBudget()))
        if isinstance(value, EvaluationFailed):
            self._failed(rule, node, obj, str(value))
        elif value is not True:
            self._add(_cause(rule, obj, self._message(rule, node, obj, variables)), rule, obj)

    def _value(self, rule: RuleProgram, variables: Mapping[str, Any]) -> tuple[Any, int]:
        """Return the value of a rule, or the error of its evaluation, and its cost, or an upper bound of it."""
        if self._patience is None or rule.max_cost > _LOW_ESTIMATE:
            return rule.program.evaluate_with_cost(variables, self._patience)
        self._patience.spend(rule.max_cost)
        try:
            return rule.program.evaluate(variables), rule.max_cost
        except EvaluationFailed as failed:
            return failed, rule.max_cost

    def _spend(self, cost: int) -> bool:
        """Take a cost from the budget; return whether it sufficed."""
        try:
            self._budget.spend(cost)
        except OutOfBudget:
            return False
        return True

    def _stop(self, node: RuleNode, obj: _CorrelatedObject, message: str) -> NoReturn:
        self.causes.append(invalid_value(obj.path or "<nil>", node.schema.type or "", message))
        raise _NoFurtherRules

    def _failed(self, rule: RuleProgram, node: RuleNode, obj: _CorrelatedObject, error: str) -> None:
        if error == COST_LIMIT_EXCEEDED:
            why = f"{_NO_FURTHER} due to call cost exceeds limit for rule"
            self._stop(node, obj, f"'{error}': {why}: {rule.display_name}")
        message = f"{error} evaluating rule: {rule.display_name}"
        if error.startswith(NO_OVERLOAD):
            why = "call arguments did not match a supported operator, function or macro signature for rule"
            message = f"'{error}': {why}: {rule.display_name}"
        self.causes.append(invalid_value(obj.path or "<nil>", node.schema.type or "", message))

    def _add(self, cause: FieldError, rule: RuleProgram, obj: _CorrelatedObject) -> None:
        is_ratcheted = self._is_ratcheting and not rule.is_transition and obj.is_unchanged
        (self.ratcheted if is_ratcheted else self.causes).append(cause)

    def _message(self, rule: RuleProgram, node: RuleNode, obj: _CorrelatedObject, variables: Mapping[str, Any]) -> str:
        if rule.message_program is None:
            return rule.message
        value, cost = rule.message_program.evaluate_with_cost(variables, self._patience)
        error = ""
        if not self._spend(cost):
            error = f"messageExpression evaluation failed due to running out of cost budget, {_NO_FURTHER}"
        elif isinstance(value, EvaluationFailed) and str(value) == COST_LIMIT_EXCEEDED:
            text = quoted(rule.message_program.text)
            error = f"{_NO_FURTHER} due to call cost exceeds limit for messageExpression: {text}"
        if error:
            self._add(invalid_value(_where(rule, obj), node.schema.type or "", error), rule, obj)
            raise _NoFurtherRules
        found = value.strip() if isinstance(value, str) else ""
        is_usable = found and "\n" not in found and len(found.encode()) <= _MESSAGE_BYTES
        return found if is_usable else rule.message


def _by_key(node: RuleNode, obj: _CorrelatedObject) -> Mapping[Any, tuple[_JSON, Any]]:
    """Return the old items of a list of type map by their keys; items of other lists have no old values."""
    if node.schema.list_type != "map" or not isinstance(obj.old, list):
        return {}
    keys, items = node.schema.map_keys, node.schema.items
    pairs = zip(obj.old, obj.old_cel_value, strict=True)
    return {list_key(item, keys, items): (item, cel_value) for item, cel_value in pairs}


def _where(rule: RuleProgram, obj: _CorrelatedObject) -> str:
    path = obj.path + rule.field_path
    return (path if obj.path else path.lstrip(".")) or "<nil>"


def _cause(rule: RuleProgram, obj: _CorrelatedObject, message: str) -> FieldError:
    where = _where(rule, obj)
    if rule.reason == "FieldValueRequired":
        return required(where, message)
    if rule.reason == "FieldValueForbidden":
        return field_forbidden(where, message)
    is_large = isinstance(obj.json, (dict, list))
    if rule.reason == "FieldValueDuplicate":
        return FieldError(rule.reason, "Duplicate value", where) if is_large else duplicate(where, obj.json)
    text = f"Invalid value: {message}"
    return FieldError(rule.reason, text, where) if is_large else invalid_value(where, obj.json, message)
