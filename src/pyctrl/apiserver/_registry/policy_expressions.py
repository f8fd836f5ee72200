"""Compilation of the expressions of validating admission policies, with the variables that each may use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pyctrl.apiserver._admission.match_conditions import validate_conditions, validate_expression
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._schema.schema import JSON
from pyctrl.cel import (
    BOOL,
    DYN,
    NOT_INSTALLED,
    NULL,
    STRING,
    CompileFailed,
    Environment,
    Type,
    has_library,
    policy_variables,
)

__all__ = ["validate_expressions"]

_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")


def validate_expressions(spec: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check variables, match conditions, validations and audit annotations of a policy."""
    if not has_library():
        yield field_forbidden(f"{path}.validations", NOT_INSTALLED)
        return
    has_params = bool(spec.get("paramKind"))
    types: dict[str, Type] = {}
    for index, variable in enumerate(spec.get("variables") or ()):
        where = f"{path}.variables[{index}]"
        name = variable.get("name") or ""
        if not name:
            yield required(f"{where}.name", "name is not specified")
        elif not _IDENTIFIER.fullmatch(name):
            yield invalid_value(f"{where}.name", name, "must be a valid CEL identifier")
        environment = Environment(policy_variables(types, has_params=has_params))
        try:
            types[variable.get("name", "")] = environment.compile(variable.get("expression") or "").type
        except CompileFailed as failed:
            yield invalid_value(f"{where}.expression", variable.get("expression") or "", str(failed))
            types[variable.get("name", "")] = DYN
    environment = Environment(policy_variables(types, has_params=has_params))
    yield from validate_conditions(spec.get("matchConditions") or (), f"{path}.matchConditions", environment)
    for index, validation in enumerate(spec.get("validations") or ()):
        where, text = f"{path}.validations[{index}]", validation.get("expression") or ""
        if not text.strip():
            yield required(f"{where}.expression", "expression is not specified")
        else:
            yield from validate_expression(text, f"{where}.expression", environment, BOOL)
        reason = validation.get("reason")
        if reason is not None and reason not in _REASONS:
            yield not_supported(f"{where}.reason", reason, _REASONS)
        if text := validation.get("messageExpression"):
            yield from validate_expression(text, f"{where}.messageExpression", environment, STRING)
    for index, annotation in enumerate(spec.get("auditAnnotations") or ()):
        where = f"{path}.auditAnnotations[{index}].valueExpression"
        yield from validate_expression(annotation.get("valueExpression") or "", where, environment, STRING, NULL)
