"""Validation of `x-kubernetes-validations` in a definition: the fields of rules, then their compilation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from pyctrl.apiserver._apiextensions.cel_compilation import (
    NO_TYPE,
    SELF_TYPE,
    CompilationResult,
    printed_path,
    self_decl_type,
)
from pyctrl.apiserver._apiextensions.cel_costs import TotalCost, child_cardinality
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.cel import NOT_INSTALLED, has_library

__all__ = ["rule_compilation_errors", "rule_field_errors"]


Schema: TypeAlias = Mapping[str, Any]
_KEY = "x-kubernetes-validations"
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def _children(schema: Schema, path: str) -> Iterator[tuple[Schema, str]]:
    """Yield the schemas directly inside a schema, with their paths."""
    for key, each in (schema.get("properties") or {}).items():
        yield each, f"{path}.properties[{key}]"
    for key in ("additionalProperties", "items"):
        if isinstance(schema.get(key), Mapping):
            yield schema[key], f"{path}.{key}"


# -- fields of rules -------------------------------------------------------------------------------------------


def rule_field_errors(schema: Schema, path: str) -> Iterator[FieldError]:
    """Yield the errors in the fields of the rules of one schema node."""
    for index, rule in enumerate(schema.get(_KEY) or ()):
        where = f"{path}.{_KEY}[{index}]"
        yield from _texts(rule, where)
        reason = rule.get("reason")
        if reason is not None and reason not in _REASONS:
            yield not_supported(f"{where}.reason", reason, _REASONS)
        if rule.get("fieldPath"):
            yield from _field_path(rule["fieldPath"], schema, f"{where}.fieldPath")


def _texts(rule: Mapping[str, Any], where: str) -> Iterator[FieldError]:
    text, message = rule.get("rule") or "", rule.get("message") or ""
    if not text.strip():
        yield required(f"{where}.rule", "rule is not specified")
    elif message and not message.strip():
        yield invalid_value(f"{where}.message", message, "must be non-empty if specified")
    elif "\n" in message.strip():
        yield invalid_value(f"{where}.message", message, "must not contain line breaks")
    elif "\n" in text.strip() and not message.strip():
        yield required(f"{where}.message", "message must be specified if rule contains line breaks")
    expression = rule.get("messageExpression") or ""
    if expression and not expression.strip():
        yield required(f"{where}.messageExpression", "messageExpression must be non-empty if specified")


def _field_path(path: str, schema: Schema, where: str) -> Iterator[FieldError]:
    if not path.strip():
        yield invalid_value(where, path, "must be non-empty if specified")
    if "\n" in path:
        yield invalid_value(where, path, "must not contain line breaks")
    if printed_path(path, schema) is None:
        yield invalid_value(where, path, "must be a valid path")


def _rule_paths(schema: Schema, path: str) -> Iterator[str]:
    if schema.get(_KEY):
        yield f"{path}.{_KEY}"
    for each, where in _children(schema, path):
        yield from _rule_paths(each, where)


# -- compilation -----------------------------------------------------------------------------------------------


def rule_compilation_errors(
    schema: Schema, path: str, causes: Sequence[FieldError], *, limits_expressions: bool = True
) -> list[FieldError]:
    """Return the compilation errors of the rules of a whole structural schema.

    Args:
        schema: The schema.
        path: Its path in the definition.
        causes: The other errors of the schema. Rules of a node with an error at or below it are not compiled.
        limits_expressions: An expensive expression is an error; only the sum of all costs has a limit otherwise.
    """
    if not has_library():
        where = next(_rule_paths(schema, path), None)  # one: the remedy is the same for all rules
        return [] if where is None else [field_forbidden(where, NOT_INSTALLED)]
    compiler = _RuleCompiler([cause.field for cause in causes], TotalCost(limits_expressions=limits_expressions))
    found = list(compiler.compile(schema, path, None, 1, is_root=True))
    return [*found, *compiler.costs.schema_errors(path)]


class _RuleCompiler:
    """Compiler of the rules of one schema. `broken` has the paths of the schema's other errors."""

    def __init__(self, broken: Sequence[str], costs: TotalCost) -> None:
        self._broken = broken
        self.costs = costs

    def compile(
        self, schema: Schema, path: str, lost: str | None, cardinality: int | None, *, is_root: bool = False
    ) -> Iterator[FieldError]:
        """Yield the errors of the rules at and below a node.

        Args:
            schema: The node.
            path: Its path in the definition.
            lost: The path of a list around it whose items have no keys.
            cardinality: The maximum number of its values in an object.
            is_root: The node is the root of the schema.
        """
        is_lost = schema.get("type") == "array" and schema.get("x-kubernetes-list-type") != "map"
        inner = child_cardinality(schema, cardinality)
        for each, where in _children(schema, path):
            yield from self.compile(each, where, lost or (path if is_lost else None), inner)
        rules = schema.get(_KEY) or ()
        if any(field.startswith(path) for field in self._broken):
            return
        declaration = self_decl_type(schema, SELF_TYPE, is_resource=is_root) if rules else None
        if rules and declaration is None:
            yield FieldError("InternalError", f"Internal error: {NO_TYPE}", f"{path}.{_KEY}")
        elif declaration is not None:
            for index, rule in enumerate(rules):
                where = f"{path}.{_KEY}[{index}]"
                yield from self._compiled(CompilationResult(rule, declaration), where, lost, cardinality)

    def _compiled(
        self, rule: CompilationResult, where: str, lost: str | None, cardinality: int | None
    ) -> Iterator[FieldError]:
        text = rule.text
        yield from self.costs.rule_errors(rule, cardinality, where)
        if rule.error:
            yield invalid_value(f"{where}.rule", _as_go(text), rule.error)
        if rule.message_error:
            yield invalid_value(f"{where}.messageExpression", _as_go(text), rule.message_error)
        yield from self.costs.message_errors(rule, where)
        if rule.is_transition:
            if lost is not None:
                why = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {lost}"
                yield invalid_value(f"{where}.rule", text["rule"], why)
        elif text.get("optionalOldSelf") is not None:
            why = "may not be set if oldSelf is not used in rule"
            yield invalid_value(f"{where}.optionalOldSelf", text["optionalOldSelf"], why)


def _as_go(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule with the field names of kube-apiserver's internal type, for errors."""
    return {
        "Rule": rule.get("rule", ""),
        "Message": rule.get("message", ""),
        "MessageExpression": rule.get("messageExpression", ""),
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath", ""),
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
