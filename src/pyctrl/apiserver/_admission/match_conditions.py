"""Validation and compilation of match conditions, the CEL expressions that select writes for a webhook or policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, required, too_many
from pyctrl.apiserver._schema.schema import JSON
from pyctrl.cel import (
    BOOL,
    MATCH_CONDITION,
    NOT_INSTALLED,
    CompileFailed,
    Environment,
    InstantiationFailed,
    Program,
    Type,
    has_library,
)

__all__ = ["compiled_condition", "validate_conditions", "validate_expression"]


LIMIT = 64  # match conditions of one webhook, as in kube-apiserver


@lru_cache(maxsize=1)
def condition_environment() -> Environment:
    """Return the environment of webhooks' match conditions."""
    return Environment(MATCH_CONDITION)


@lru_cache(maxsize=256)
def compiled_condition(text: str) -> Program:
    """Compile a match condition.

    Raises:
        CompileFailed: It does not compile.
    """
    return condition_environment().compile(text)


def validate_conditions(
    conditions: Sequence[Mapping[str, JSON]], path: str, environment: Environment | None = None
) -> Iterator[FieldError]:
    """Validate the match conditions of a webhook or policy."""
    if len(conditions) > LIMIT:
        yield too_many(path, len(conditions), LIMIT)
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        yield from _condition(condition, f"{path}[{index}]", environment or condition_environment())
        name = condition.get("name") or ""
        if name and name in seen:
            yield duplicate(f"{path}[{index}].name", name)
        seen.add(name)


def _condition(condition: Mapping[str, JSON], path: str, environment: Environment) -> Iterator[FieldError]:
    text, name = (condition.get("expression") or "").strip(), condition.get("name") or ""
    yield from validate_expression(text, f"{path}.expression", environment, BOOL)
    if not name:
        yield required(f"{path}.name")
        return
    for why in names.qualified_name(name):
        yield invalid_value(f"{path}.name", name, why)


def validate_expression(
    text: str, path: str, environment: Environment, *wanted: Type, shown: JSON = None
) -> Iterator[FieldError]:
    """Validate that an expression compiles to one of the wanted types.

    Args:
        shown: The invalid value in errors; the default is the text.
    """
    if not text.strip():
        yield required(path)
        return
    if not has_library():
        yield field_forbidden(path, NOT_INSTALLED)
        return
    try:
        program = environment.compile(text)
    except InstantiationFailed as failed:
        yield FieldError("InternalError", f"Internal error: {failed}", path)
        return
    except CompileFailed as failed:
        yield invalid_value(path, text if shown is None else shown, str(failed))
        return
    if program.type not in wanted:
        names = " ".join(map(_type_name, wanted))
        kinds = names if len(wanted) == 1 else f"one of [{names}]"
        why = f"must evaluate to {kinds} but got {_type_name(program.type)}"
        yield invalid_value(path, text if shown is None else shown, why)


def _type_name(kind: Type) -> str:
    return "null_type" if str(kind) == "null" else str(kind)
