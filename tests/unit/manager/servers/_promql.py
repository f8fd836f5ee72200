"""The PromQL of our alert rules, evaluated over a manager's metrics: the subset that tests need."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import TypeAlias

import promql_parser as promql

Labels: TypeAlias = frozenset[tuple[str, str]]
Vector: TypeAlias = dict[Labels, float]
Sample: TypeAlias = tuple[str, Mapping[str, str], float]

_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_COMPARISON: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}
_AGGREGATION: dict[str, Callable[[Iterable[float]], float]] = {"sum": sum, "min": min, "max": max}


class Scrapes:
    """Scrapes with their times.

    A rate is the increase between the first and the last scrape of the range, divided by its length: scrape for the
    whole range. Counters do not reset here. Other PromQL raises an error.
    """

    def __init__(self) -> None:
        self._series: dict[tuple[str, Labels], list[tuple[float, float]]] = {}

    def add(self, at: float, samples: Iterable[Sample]) -> None:
        """Store one scrape."""
        for name, labels, value in samples:
            self._series.setdefault((name, frozenset(labels.items())), []).append((at, value))

    def evaluate(self, expression: str, at: float) -> Vector:
        """Return the value of an expression at a time: an alert fires for each element."""
        found = self._value(promql.parse(expression), at)
        assert isinstance(found, dict), f"{expression} is a number, and no alert"
        return found

    def _value(self, expression: promql.Expr, at: float) -> Vector | float:
        match expression:
            case promql.NumberLiteral():
                return expression.val
            case promql.ParenExpr():
                return self._value(expression.expr, at)
            case promql.VectorSelector():
                return {labels: points[-1][1] for labels, points in self._points(expression, at, timedelta(minutes=5))}
            case promql.AggregateExpr():
                return self._aggregated(expression, at)
            case promql.Call() if expression.func.name in ("rate", "increase"):
                return self._increases(expression, at)
            case promql.BinaryExpr():
                return _joined(str(expression.op), self._value(expression.lhs, at), self._value(expression.rhs, at))
        raise NotImplementedError(f"{type(expression).__name__}: {expression}")

    def _points(
        self, selector: promql.VectorSelector, at: float, within: timedelta
    ) -> Iterable[tuple[Labels, list[tuple[float, float]]]]:
        for (name, labels), points in self._series.items():
            recent = [point for point in points if at - within.total_seconds() <= point[0] <= at]
            if name == selector.name and recent and _matches(selector.matchers, dict(labels)):
                yield labels, recent

    def _increases(self, call: promql.Call, at: float) -> Vector:
        [argument] = call.args
        assert isinstance(argument, promql.MatrixSelector)
        per = argument.range.total_seconds() if call.func.name == "rate" else 1.0
        points = self._points(argument.vector_selector, at, argument.range)
        return {labels: (found[-1][1] - found[0][1]) / per for labels, found in points}

    def _aggregated(self, expression: promql.AggregateExpr, at: float) -> Vector:
        inner = self._value(expression.expr, at)
        assert isinstance(inner, dict)
        kept = set() if expression.modifier is None else set(expression.modifier.labels)
        groups: dict[Labels, list[float]] = {}
        for labels, value in inner.items():
            groups.setdefault(frozenset(pair for pair in labels if pair[0] in kept), []).append(value)
        aggregate = _AGGREGATION[str(expression.op)]
        return {labels: aggregate(values) for labels, values in groups.items()}


def _matches(matchers: promql.Matchers, labels: Mapping[str, str]) -> bool:
    for matcher in matchers.matchers:
        is_equal = labels.get(matcher.name, "") == matcher.value
        if matcher.op == promql.MatchOp.Equal:
            matches = is_equal
        elif matcher.op == promql.MatchOp.NotEqual:
            matches = not is_equal
        else:
            raise NotImplementedError(str(matcher.op))
        if not matches:
            return False
    return True


def _joined(op: str, left: Vector | float, right: Vector | float) -> Vector | float:
    if isinstance(left, float) and isinstance(right, float):
        return _ARITHMETIC[op](left, right)
    pairs = _pairs(left, right)
    if op == "and":
        return {labels: one for labels, (one, _) in pairs.items()}
    if op in _COMPARISON:
        return {labels: one for labels, (one, other) in pairs.items() if _COMPARISON[op](one, other)}
    return {labels: _ARITHMETIC[op](one, other) for labels, (one, other) in pairs.items() if other or op != "/"}


def _pairs(left: Vector | float, right: Vector | float) -> dict[Labels, tuple[float, float]]:
    """Return the elements of both sides with equal labels; a number pairs with each element."""
    if isinstance(left, float):
        assert isinstance(right, dict)
        return {labels: (left, value) for labels, value in right.items()}
    if isinstance(right, float):
        return {labels: (value, right) for labels, value in left.items()}
    return {labels: (value, right[labels]) for labels, value in left.items() if labels in right}
