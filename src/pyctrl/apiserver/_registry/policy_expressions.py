"""Compilation of the expressions of admission policies, with the variables that each may use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pyctrl._validation import names
from pyctrl.apiserver._admission.match_conditions import validate_conditions, validate_expression
from pyctrl.apiserver._errors import (
    FieldError,
    duplicate,
    field_forbidden,
    invalid_value,
    not_supported,
    required,
)
from pyctrl.apiserver._schema.schema import JSON
from pyctrl.cel import (
    BOOL,
    DYN,
    JSON_PATCH,
    NOT_INSTALLED,
    NULL,
    OBJECT,
    STRING,
    CompileFailed,
    Environment,
    InstantiationFailed,
    Type,
    has_library,
    list_of,
    policy_variables,
)

__all__ = ["validate_mutating_expressions", "validate_validating_expressions"]

_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_MAX_ANNOTATIONS = 20  # as upstream
_MAX_ANNOTATION_BYTES = 5 * 1024  # of a valueExpression, as upstream
_NOT_BOTH = "validations or auditAnnotations must contain at least one item"
_GO_NAMES = {"key": "Key", "valueExpression": "ValueExpression"}  # in the error that shows all annotations
#: The patch type of a mutation -> its field, and the type of its expression.
_PATCHES: Mapping[str, tuple[str, Type]] = {
    "ApplyConfiguration": ("applyConfiguration", OBJECT),
    "JSONPatch": ("jsonPatch", list_of(JSON_PATCH)),
}


class _Scope:
    """The environments of one policy's expressions; `variables` is None for a policy without variables."""

    def __init__(self, spec: Mapping[str, JSON], variables: dict[str, Type] | None) -> None:
        self._has_params = spec.get("paramKind") is not None
        self.variables = variables

    def environment(self, *, has_authorizer: bool = True, has_patch_types: bool = False) -> Environment:
        """Return the environment of expressions that may use the variables so far."""
        found = policy_variables(self.variables, has_params=self._has_params, has_authorizer=has_authorizer)
        return Environment(found, has_patch_types=has_patch_types)

    def condition_environment(self) -> Environment:
        """Return the environment of match conditions, which may not use the policy's variables."""
        return Environment(policy_variables(None, has_params=self._has_params))


def validate_validating_expressions(policy: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check match conditions, variables, validations and audit annotations of a policy."""
    spec = policy["spec"]
    if not has_library():
        yield field_forbidden(f"{path}.validations", NOT_INSTALLED)
        return
    scope = _Scope(spec, {} if spec.get("variables") else None)
    conditions = spec.get("matchConditions") or ()
    yield from validate_conditions(conditions, f"{path}.matchConditions", scope.condition_environment())
    yield from _validate_variables(scope, spec, path)
    validations, annotations = spec.get("validations") or (), spec.get("auditAnnotations") or ()
    if not validations and not annotations:
        yield required(f"{path}.validations", _NOT_BOTH)
        yield required(f"{path}.auditAnnotations", _NOT_BOTH)
        return
    for index, validation in enumerate(validations):
        yield from _validate_validation(scope, validation, f"{path}.validations[{index}]")
    name = (policy.get("metadata") or {}).get("name") or ""
    yield from _validate_annotations(scope, annotations, name, f"{path}.auditAnnotations")


def validate_mutating_expressions(spec: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check match conditions, variables and mutations of a policy."""
    if not has_library():
        yield field_forbidden(f"{path}.mutations", NOT_INSTALLED)
        return
    scope = _Scope(spec, {})
    conditions = spec.get("matchConditions") or ()
    yield from validate_conditions(conditions, f"{path}.matchConditions", scope.condition_environment())
    yield from _validate_variables(scope, spec, path)
    if not spec.get("mutations"):
        yield required(f"{path}.mutations", "mutations must contain at least one item")
    for index, mutation in enumerate(spec.get("mutations") or ()):
        yield from _validate_mutation(scope, mutation, f"{path}.mutations[{index}]")


def _validate_variables(scope: _Scope, spec: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check the variables in order: each may use those before it."""
    for index, variable in enumerate(spec.get("variables") or ()):
        where = f"{path}.variables[{index}]"
        name, text = variable.get("name") or "", variable.get("expression") or ""
        if not name.strip():
            yield required(f"{where}.name", "name is not specified")
        elif not _IDENTIFIER.fullmatch(name):
            yield invalid_value(f"{where}.name", name, "must be a valid CEL identifier")
        if not text.strip():
            yield required(f"{where}.expression", "expression is not specified")
            continue
        found = DYN
        try:
            found = scope.environment().compile(text).type
        except InstantiationFailed as failed:
            yield FieldError("InternalError", f"Internal error: {failed}", f"{where}.expression")
        except CompileFailed as failed:
            yield invalid_value(f"{where}.expression", text, str(failed))
        if scope.variables is not None:
            scope.variables[name] = found


def _validate_validation(scope: _Scope, validation: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    text, message = validation.get("expression") or "", validation.get("message") or ""
    if not text.strip():
        yield required(f"{path}.expression", "expression is not specified")
    else:
        yield from validate_expression(text, f"{path}.expression", scope.environment(), BOOL)
    if expression := validation.get("messageExpression"):
        where = f"{path}.messageExpression"
        if not expression.strip():
            yield invalid_value(where, expression, "must be non-empty if specified")
        else:
            yield from validate_expression(expression, where, scope.environment(has_authorizer=False), STRING)
    if message and not message.strip():
        yield invalid_value(f"{path}.message", message, "must be non-empty if specified")
    elif re.search(r"[\n\r]", message.strip()):
        yield invalid_value(f"{path}.message", message, "must not contain line breaks")
    reason = validation.get("reason")
    if reason is not None and reason not in _REASONS:
        yield not_supported(f"{path}.reason", reason, _REASONS)


def _validate_annotations(
    scope: _Scope, annotations: Sequence[Mapping[str, JSON]], policy: str, path: str
) -> Iterator[FieldError]:
    if len(annotations) > _MAX_ANNOTATIONS:
        shown = [{_GO_NAMES.get(key, key): value for key, value in each.items()} for each in annotations]
        yield invalid_value(path, shown, f"must not have more than {_MAX_ANNOTATIONS} auditAnnotations")
    seen: set[str] = set()
    for index, annotation in enumerate(annotations):
        where, key = f"{path}[{index}]", annotation.get("key") or ""
        if not policy:
            yield invalid_value(f"{where}.key", key, "requires metadata.name be non-empty")
        else:
            yield from (
                invalid_value(f"{where}.key", f"{policy}/{key}", why) for why in names.qualified_name(f"{policy}/{key}")
            )
        yield from _validate_value_expression(
            scope, annotation.get("valueExpression") or "", f"{where}.valueExpression"
        )
        if key in seen:
            yield duplicate(f"{where}.key", key)
        seen.add(key)


def _validate_value_expression(scope: _Scope, text: str, path: str) -> Iterator[FieldError]:
    trimmed = text.strip()
    if not trimmed:
        yield required(path, "valueExpression is not specified")
    elif len(trimmed.encode()) > _MAX_ANNOTATION_BYTES:
        yield required(path, f"must not exceed {_MAX_ANNOTATION_BYTES} bytes in length")
    else:
        yield from validate_expression(trimmed, path, scope.environment(), STRING, NULL, shown=text)


def _validate_mutation(scope: _Scope, mutation: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    kind = mutation.get("patchType") or ""
    if not kind:
        yield required(f"{path}.patchType")
        return
    if kind not in _PATCHES:
        yield not_supported(f"{path}.patchType", kind, _PATCHES)
        return
    field, wanted = _PATCHES[kind]
    if (patch := mutation.get(field)) is None:
        yield required(f"{path}.{field}", f"must be specified when patchType is {kind}")
    else:
        text = (patch.get("expression") or "").strip()
        environment = scope.environment(has_patch_types=True)
        yield from validate_expression(text, f"{path}.{field}.expression", environment, wanted)
    for other, _ in _PATCHES.values():
        if other != field and mutation.get(other) is not None:
            yield invalid_value(f"{path}.{other}", f"{{{other}}}", f"must not be specified when patchType is {kind}")
