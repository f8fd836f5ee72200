"""Execution of comprehensions; the loops of common macros run without intermediate accumulators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

from pyctrl.cel._errors import NO_OVERLOAD, EvaluationFailed
from pyctrl.cel._expressions import Call, Comprehension, Constant, Expression, Identifier, ListLiteral

__all__ = ["Loop", "added_item", "decided", "general_loop", "is_accumulator", "plan_loop"]


_Closure: TypeAlias = Callable[[list[Any]], Any]
_Plan: TypeAlias = Callable[[Expression], _Closure]

_GO_TYPES = {int: "types.Int", float: "types.Double", bool: "types.Bool", str: "types.String", bytes: "types.Bytes"}


class Loop(NamedTuple):
    """A planned comprehension: its range, its initial value, and the slots of its variables."""

    ranged: _Closure
    initial: _Closure
    accumulator: int
    first: int
    second: int | None

    def iterate(self, frame: list[Any]) -> Iterable[None]:
        """Set the variables and yield, for each element of the range."""
        values = self.ranged(frame)
        if self.second is None:
            if not isinstance(values, (list, dict)):
                raise _not_iterable(values)
            for value in values:
                frame[self.first] = value
                yield
            return
        if not isinstance(values, (list, dict)):
            raise _not_iterable(values)
        pairs = enumerate(values) if isinstance(values, list) else values.items()
        for first, second in pairs:
            frame[self.first], frame[self.second] = first, second
            yield


def _not_iterable(value: Any) -> EvaluationFailed:
    return EvaluationFailed(f"got '{_GO_TYPES.get(type(value), 'types.Null')}', expected iterable type")


def plan_loop(planned: Loop, loop: Comprehension, plan: _Plan) -> Callable[[_Closure], _Closure]:
    """Plan the body of a loop. The returned function takes the closure of the loop's result."""
    step = loop.step
    if isinstance(step, Call) and is_accumulator(step.arguments[0] if step.arguments else None, loop):
        if step.function in ("_&&_", "_||_"):
            predicate = plan(step.arguments[1])
            return lambda _result: _quantified(planned, predicate, decisive=step.function == "_||_")
        if (item := added_item(step)) is not None:
            return _collected(planned, None, plan(item))
    if isinstance(step, Call) and step.function == "_?_:_" and is_accumulator(step.arguments[2], loop):
        inner = step.arguments[1]
        if isinstance(inner, Call) and (item := added_item(inner)) is not None:
            return _collected(planned, plan(step.arguments[0]), plan(item))
    return general_loop(planned, loop, plan)


def general_loop(planned: Loop, loop: Comprehension, plan: _Plan) -> Callable[[_Closure], _Closure]:
    """Plan the body of a loop with its accumulator. The returned function takes the closure of the loop's result."""
    return _general(planned, None if _is_true(loop.condition) else plan(loop.condition), plan(loop.step))


def _is_true(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.value is True


def is_accumulator(expression: Expression | None, loop: Comprehension) -> bool:
    """Return whether an expression reads the accumulator of a loop."""
    return isinstance(expression, Identifier) and expression.name == loop.accumulator


def added_item(step: Call) -> Expression | None:
    """Return the item of a step `accumulator + [item]`; None for another step."""
    if step.function != "_+_" or not isinstance(step.arguments[1], ListLiteral):
        return None
    items = step.arguments[1]
    return items.items[0] if len(items.items) == 1 and not items.optional else None


def _quantified(loop: Loop, predicate: _Closure, *, decisive: bool) -> _Closure:
    """Plan `all` or `exists`: an iteration with the decisive value ends the loop, despite errors in earlier ones."""
    return lambda frame: decided((predicate for _ in loop.iterate(frame)), frame, decisive=decisive)


def decided(closures: Iterable[_Closure], frame: list[Any], *, decisive: bool) -> bool:
    """Evaluate closures until one returns the decisive value; raise the first error only if none does."""
    error: EvaluationFailed | None = None
    for closure in closures:
        try:
            value = closure(frame)
        except EvaluationFailed as failed:
            error = error or failed
            continue
        if value is decisive:
            return bool(value)
        if type(value) is not bool:
            error = error or EvaluationFailed(NO_OVERLOAD)
    if error is not None:
        raise error
    return not decisive


def _collected(loop: Loop, predicate: _Closure | None, transform: _Closure) -> Callable[[_Closure], _Closure]:
    """Plan `map`, `filter` or `transformList`."""

    def run(frame: list[Any]) -> list[Any]:
        found = []
        for _ in loop.iterate(frame):
            chosen = True if predicate is None else predicate(frame)
            if chosen is True:
                found.append(transform(frame))
            elif chosen is not False:
                raise EvaluationFailed(NO_OVERLOAD)
        return found

    return lambda _result: run


def _general(loop: Loop, condition: _Closure | None, step: _Closure) -> Callable[[_Closure], _Closure]:
    def finished(result: _Closure) -> _Closure:
        def run(frame: list[Any]) -> Any:
            frame[loop.accumulator] = loop.initial(frame)
            for _ in loop.iterate(frame):
                if condition is not None and condition(frame) is False:
                    break
                frame[loop.accumulator] = _or_error(step, frame)
            return result(frame)

        return run

    return finished


def _or_error(step: _Closure, frame: list[Any]) -> Any:
    """Return an error as the value: a later iteration may still be decisive."""
    try:
        return step(frame)
    except EvaluationFailed as failed:
        return failed
