"""Limits of the estimated costs of validation rules: for one expression and for a whole schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pyctrl.apiserver._apiextensions.cel_compilation import CompilationResult
from pyctrl.apiserver._errors import FieldError, field_forbidden

__all__ = ["TotalCost", "child_cardinality"]


_EXPRESSION_LIMIT: Final = 10_000_000
_SCHEMA_LIMIT: Final = 100_000_000
_MAX: Final = 2**64 - 1
_REPORTED = 4  # of the rules that contribute most
_CONTRIBUTED = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
_HINT = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength "
    "where arrays, maps, and strings are declared)"
)


def child_cardinality(schema: Mapping[str, Any], cardinality: int | None) -> int | None:
    """Return how often the children of a schema can occur in an object; None if there is no limit."""
    kind = schema.get("type")
    if kind == "array":
        limit = schema.get("maxItems")
    elif kind == "object" and schema.get("additionalProperties") is not None:
        limit = schema.get("maxProperties")
    else:
        limit = 1
    if cardinality is None or limit is None:
        return None
    return min(cardinality * max(int(limit), 0), _MAX)


class TotalCost:
    """The sum of the costs of a schema's expressions.

    Args:
        limits_expressions: Expressions over their own limit are errors. It is False for a schema that is stored.
    """

    def __init__(self, *, limits_expressions: bool) -> None:
        self._limits_expressions = limits_expressions
        self._total = 0
        self._expensive: list[tuple[int, str]] = []

    def rule_errors(self, rule: CompilationResult, cardinality: int | None, where: str) -> Iterator[FieldError]:
        """Add the cost of a rule."""
        count = rule.max_cardinality if cardinality is None else cardinality
        yield from self._add(min(rule.max_cost * count, _MAX), f"{where}.rule", "estimated rule cost")

    def message_errors(self, rule: CompilationResult, where: str) -> Iterator[FieldError]:
        """Add the cost of a messageExpression, which is evaluated at most once."""
        if rule.message_program is not None:
            where = f"{where}.messageExpression"
            yield from self._add(rule.message_max_cost, where, "estimated messageExpression cost")

    def _add(self, cost: int, where: str, name: str) -> Iterator[FieldError]:
        if self._limits_expressions and cost > _EXPRESSION_LIMIT:
            yield field_forbidden(where, _exceeds(name, cost, _EXPRESSION_LIMIT))
        self._total = min(self._total + cost, _MAX)
        if cost >= _SCHEMA_LIMIT // 100:
            self._expensive.append((cost, where))

    def schema_errors(self, path: str) -> Iterator[FieldError]:
        """Yield the errors of the sum: the rules that contribute most, then the schema."""
        if self._total > _SCHEMA_LIMIT:
            for _, where in sorted(self._expensive, key=lambda found: -found[0])[:_REPORTED]:
                yield field_forbidden(where, _CONTRIBUTED)
            name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
            yield field_forbidden(path, _exceeds(name, self._total, _SCHEMA_LIMIT))


def _exceeds(name: str, cost: int, limit: int) -> str:
    factor = cost / limit
    shown = "more than 100" if factor > 100 else f"{factor:f}" if factor < 1.5 else f"{factor:.1f}"
    return f"{name} exceeds budget by factor of {shown}x {_HINT}"
