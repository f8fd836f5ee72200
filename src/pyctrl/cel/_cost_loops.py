"""Loops that count their cost: those of common macros add the cost of an iteration at once.

An iteration of a macro evaluates more than its predicate: the condition of the loop, and the accumulator. The costs of
these are constants. Where an evaluation fails, cel-go's costs depend on what remains, so the general loop runs then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from pyctrl.cel._errors import NO_OVERLOAD, EvaluationFailed
from pyctrl.cel._expressions import Call, Comprehension, Constant, Expression, ListLiteral
from pyctrl.cel._loops import Loop, added_item, is_accumulator

__all__ = [
    "collecting_loop",
    "collector_of",
    "counted_predicate_of",
    "counting_loop",
    "quantifier_of",
    "quantifying_loop",
]


_Closure: TypeAlias = Callable[[list[Any]], Any]
_RESULT: Final = 1  # of reading the accumulator
_ADDED: Final = 2  # of reading the accumulator and adding to it
_COMPARED: Final = 2  # of reading the accumulator and comparing it


def quantifier_of(loop: Comprehension) -> tuple[Expression, bool, int] | None:
    """Return the predicate of `all` or `exists`, its decisive value, and the cost of the condition; None for others."""
    step, condition = loop.step, loop.condition
    if (
        not isinstance(step, Call)
        or step.function not in ("_&&_", "_||_")
        or not is_accumulator(step.arguments[0], loop)
    ):
        return None
    if not isinstance(condition, Call) or condition.function != "@not_strictly_false":
        return None
    decisive = step.function == "_||_"
    inner = condition.arguments[0]
    if decisive:  # the condition negates the accumulator
        if not isinstance(inner, Call) or inner.function != "!_":
            return None
        inner = inner.arguments[0]
    if not is_accumulator(inner, loop) or not is_accumulator(loop.result, loop):
        return None
    return step.arguments[1], decisive, 3 if decisive else 2


def collector_of(loop: Comprehension) -> tuple[Expression | None, ListLiteral] | None:
    """Return the predicate, if there is one, and the list that `map` or `filter` adds; None for other loops."""
    step = loop.step
    is_endless = isinstance(loop.condition, Constant) and loop.condition.value is True
    if not isinstance(step, Call) or not is_endless or not is_accumulator(loop.result, loop):
        return None
    predicate: Expression | None = None
    if step.function == "_?_:_" and is_accumulator(step.arguments[2], loop):
        predicate, step = step.arguments[0], step.arguments[1]
    if not isinstance(step, Call) or not is_accumulator(step.arguments[0], loop) or added_item(step) is None:
        return None
    items = step.arguments[1]
    return (predicate, items) if isinstance(items, ListLiteral) else None


def counted_predicate_of(loop: Comprehension) -> Expression | None:
    """Return the predicate of `exists_one`; None for other loops."""
    step, result = loop.step, loop.result
    if not isinstance(step, Call) or step.function != "_?_:_" or not is_accumulator(step.arguments[2], loop):
        return None
    added = step.arguments[1]
    is_one = _is_one(added, "_+_", loop) and _is_one(result, "_==_", loop)
    return step.arguments[0] if is_one and isinstance(loop.condition, Constant) else None


def _is_one(expression: Expression, function: str, loop: Comprehension) -> bool:
    """Return whether an expression is a call with the accumulator and 1."""
    if not isinstance(expression, Call) or expression.function != function:
        return False
    accumulated, one = expression.arguments
    return is_accumulator(accumulated, loop) and isinstance(one, Constant) and one.value == 1


def quantifying_loop(loop: Loop, predicate: _Closure, *, decisive: bool, condition: int, slot: int) -> _Closure:
    """Return the closure of `all` or `exists`."""
    iteration = condition + 1  # the accumulator is an operand of the step

    def run(frame: list[Any]) -> bool:
        error: EvaluationFailed | None = None
        is_decided = False
        for _ in loop.iterate(frame):
            if is_decided:
                frame[slot] += condition
                break
            frame[slot] += iteration
            try:
                value = predicate(frame)
            except EvaluationFailed as failed:
                error = error or failed
                continue
            if value is decisive:
                is_decided = True
            elif type(value) is not bool:
                error = error or EvaluationFailed(NO_OVERLOAD)
        frame[slot] += _RESULT
        if is_decided:
            return decisive
        if error is not None:
            raise error
        return not decisive

    return run


def counting_loop(loop: Loop, predicate: _Closure, general: _Closure, slot: int) -> _Closure:
    """Return the closure of `exists_one`. `general` runs if an evaluation fails."""

    def run(frame: list[Any]) -> Any:
        before, count = frame[slot], 0
        try:
            for _ in loop.iterate(frame):
                chosen = predicate(frame)
                if chosen is True:
                    count += 1
                elif chosen is not False:
                    raise EvaluationFailed(NO_OVERLOAD)
        except EvaluationFailed:
            frame[slot] = before
            return general(frame)
        frame[slot] += _ADDED * count + _COMPARED
        return count == 1

    return run


def collecting_loop(loop: Loop, predicate: _Closure | None, items: _Closure, general: _Closure, slot: int) -> _Closure:
    """Return the closure of `map` or `filter`. `general` runs if an evaluation fails."""

    def run(frame: list[Any]) -> Any:
        before, found = frame[slot], list[Any]()
        try:
            for _ in loop.iterate(frame):
                chosen = True if predicate is None else predicate(frame)
                if chosen is True:
                    found += items(frame)
                    frame[slot] += _ADDED
                elif chosen is not False:
                    raise EvaluationFailed(NO_OVERLOAD)
        except EvaluationFailed:
            frame[slot] = before
            return general(frame)
        frame[slot] += _RESULT
        return found

    return run
