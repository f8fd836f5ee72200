"""Evaluation of validation rules on an object and the old object, from the root down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pyctrl.apiserver._apiextensions.cel_compilation import SELF_TYPE, RuleNode, RuleProgram, rule_node
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, required
from pyctrl.apiserver._schema.ratcheting import is_same
from pyctrl.apiserver._schema.schema import list_key
from pyctrl.cel import NO_OVERLOAD, NONE, EvaluationFailed, Optional, ValueReader, value_reader

__all__ = ["RuleValidator", "compile_rules"]


_JSON: TypeAlias = Any
_BLOCKING = frozenset(f"FieldValue{each}" for each in ("NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"))
_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
_MESSAGE_BYTES = 5 * 1024  # maximum size of a messageExpression's result


class RuleValidator:
    """Validator of the rules of a kind."""

    def __init__(self, node: RuleNode, read: ValueReader | None) -> None:
        self._node = node
        self._read = read

    def validate(self, value: _JSON, old: _JSON | None, causes: Sequence[FieldError]) -> list[FieldError]:
        """Return the errors of an object's rules.

        Args:
            value: The object.
            old: The object that it replaces; None for a new one.
            causes: The schema errors of the object. Rules are evaluated only for objects that match the schema.
        """
        node, read = self._node, self._read
        if any(cause.reason in _BLOCKING for cause in causes):
            return [invalid_value("<nil>", None, _NOT_CHECKED)]
        cel_value = value if read is None else read(value)
        old_cel_value = old if read is None or old is None or not node.has_transitions else read(old)
        found: list[FieldError] = []
        _walk(node, _CorrelatedObject(value, cel_value, old, old_cel_value, ""), found)
        return [cause if cause.field else cause._replace(field="<nil>") for cause in found]


def compile_rules(schema: Mapping[str, Any]) -> RuleValidator:
    """Compile the rules of a validated schema of a kind."""
    node = rule_node(schema, SELF_TYPE, is_resource=True)
    return RuleValidator(node or RuleNode(kind="object"), value_reader(schema))


class _CorrelatedObject:
    """A value and its old value, both as JSON and as CEL values (`cel_value`)."""

    __slots__ = ("cel_value", "json", "old", "old_cel_value", "parent", "path")

    def __init__(
        self,
        json: _JSON,
        cel_value: Any,
        old: _JSON | None,
        old_cel_value: Any,
        path: str,
        parent: _CorrelatedObject | None = None,
    ) -> None:
        self.json, self.cel_value, self.old, self.old_cel_value, self.path = json, cel_value, old, old_cel_value, path
        self.parent = parent

    def key(self, key: str, path: str) -> _CorrelatedObject:
        """Return the value of a key with the old value of the same key."""
        old = self.old.get(key) if isinstance(self.old, dict) else None
        old_cel_value = None if old is None else self.old_cel_value.get(key)
        return _CorrelatedObject(self.json[key], self.cel_value[key], old, old_cel_value, path, self)

    @property
    def is_unchanged(self) -> bool:
        """Whether the value is unchanged, so that errors in it are ratcheted."""
        if self.old is None:
            return self.parent is not None and self.parent.is_unchanged
        return is_same(self.json, self.old)


def _walk(node: RuleNode, obj: _CorrelatedObject, causes: list[FieldError]) -> None:
    for rule in node.rules:
        cause = _evaluate(rule, node, obj)
        if cause is not None:
            causes.append(cause)
    if isinstance(obj.json, dict):
        _walk_object(node, obj, causes)
    elif isinstance(obj.json, list) and node.items is not None:
        _walk_list(node, node.items, obj, causes)


def _walk_object(node: RuleNode, obj: _CorrelatedObject, causes: list[FieldError]) -> None:
    prefix = f"{obj.path}." if obj.path else ""
    for key, child in node.properties.items():
        if obj.json.get(key) is not None:
            _walk(child, obj.key(key, prefix + key), causes)
    if node.additional is not None:
        for key, item in obj.json.items():
            if item is not None:
                _walk(node.additional, obj.key(key, f"{obj.path}[{key}]"), causes)


def _walk_list(node: RuleNode, items: RuleNode, obj: _CorrelatedObject, causes: list[FieldError]) -> None:
    known = _by_key(node, obj)
    for index, item in enumerate(obj.json):
        if item is not None:
            old, old_cel_value = known.get(list_key(item, node.keys, None), (None, None)) if known else (None, None)
            path = f"{obj.path}[{index}]"
            _walk(items, _CorrelatedObject(item, obj.cel_value[index], old, old_cel_value, path, obj), causes)


def _by_key(node: RuleNode, obj: _CorrelatedObject) -> Mapping[Any, tuple[_JSON, Any]]:
    """Return the old items of a list of type map by their keys; items of other lists have no old values."""
    if not node.keys or not isinstance(obj.old, list):
        return {}
    pairs = zip(obj.old, obj.old_cel_value, strict=True)
    return {list_key(item, node.keys, None): (item, cel_value) for item, cel_value in pairs}


# -- one rule --------------------------------------------------------------------------------------------------


def _evaluate(rule: RuleProgram, node: RuleNode, obj: _CorrelatedObject) -> FieldError | None:
    old = obj.old_cel_value
    if rule.is_transition and old is None and not rule.is_optional:
        return None
    if rule.is_optional:
        old = NONE if old is None else Optional(old)
    variables = {"self": obj.cel_value, "oldSelf": old}
    try:
        if rule.program.evaluate(variables) is True:
            return None
    except EvaluationFailed as failed:
        return invalid_value(obj.path, node.kind, _evaluation_error(str(failed), rule.display_name))
    if not rule.is_transition and obj.is_unchanged:
        return None
    return _cause(rule, obj, _message(rule, variables))


def _evaluation_error(error: str, display_name: str) -> str:
    if error.startswith(NO_OVERLOAD):
        why = "call arguments did not match a supported operator, function or macro signature for rule"
        return f"'{error}': {why}: {display_name}"
    return f"{error} evaluating rule: {display_name}"


def _message(rule: RuleProgram, variables: Mapping[str, Any]) -> str:
    if rule.message_program is None:
        return rule.message
    try:
        found = str(rule.message_program.evaluate(variables)).strip()
    except EvaluationFailed:
        return rule.message
    is_usable = found and "\n" not in found and len(found.encode()) <= _MESSAGE_BYTES
    return found if is_usable else rule.message


def _cause(rule: RuleProgram, obj: _CorrelatedObject, message: str) -> FieldError:
    where = (obj.path + rule.field_path).lstrip(".") if not obj.path else obj.path + rule.field_path
    if rule.reason == "FieldValueRequired":
        return required(where, message)
    if rule.reason == "FieldValueForbidden":
        return field_forbidden(where, message)
    is_large = isinstance(obj.json, (dict, list))
    if rule.reason == "FieldValueDuplicate":
        return FieldError(rule.reason, "Duplicate value", where) if is_large else duplicate(where, obj.json)
    text = f"Invalid value: {message}"
    return FieldError(rule.reason, text, where) if is_large else invalid_value(where, obj.json, message)
