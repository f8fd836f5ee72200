"""Planner that counts the cost of an evaluation as cel-go does, and stops it at a limit.

The frame has one more slot, which holds the cost so far. Programs whose cost is not needed use the plain planner,
which is faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyctrl.cel._cost_budget import PER_CALL_LIMIT
from pyctrl.cel._dispatch import resolve_call
from pyctrl.cel._errors import EvaluationFailed
from pyctrl.cel._expressions import (
    Call,
    Comprehension,
    Constant,
    Expression,
    Identifier,
    ListLiteral,
    MapLiteral,
    Select,
)
from pyctrl.cel._library.actual_costs import call_cost, equality_cost
from pyctrl.cel._library.conversions import CONVERSIONS
from pyctrl.cel._loops import Loop, general_loop
from pyctrl.cel._planner import Closure, Frame, Planner
from pyctrl.cel._values import NONE

__all__ = ["CostLimitExceeded", "CostPlanner"]


_LIST, _MAP, _MESSAGE = 10, 30, 40
_INDEXES = ("_[_]", "_[?_]", "_?._")
_FREE = frozenset(("_&&_", "_||_", "_?_:_", "or", "orValue"))


class CostLimitExceeded(Exception):
    """Raised if the cost of an evaluation exceeds its limit; no expression can catch it."""


class CostPlanner(Planner):
    """Planner of one expression; `cost` is the slot of its frame with the cost."""

    def __init__(self, variables: Sequence[str]) -> None:
        super().__init__(variables)
        self.cost = self.size
        self.size += 1

    def plan(self, expression: Expression) -> Closure:
        """Return the closure that evaluates an expression and adds its cost.

        Raises:
            InstantiationFailed: The evaluation of a constant failed.
        """
        match expression:
            case Identifier(name=name):
                planned = super().plan(expression)
                return planned if self._slot(name) is None else self._adding(planned, 1)
            case Select():
                planned = super().plan(expression)
                if expression.variable:
                    return planned
                extra = 0 if _is_attribute(expression.operand) else 1
                return self._adding(planned, extra if expression.is_test else 1 + extra)
            case ListLiteral():
                return self._made(expression, _LIST)
            case MapLiteral():
                return self._made(expression, _MESSAGE if expression.message else _MAP)
            case Call():
                return self._costed_call(expression)
        return super().plan(expression)

    def _adding(self, closure: Closure, cost: int) -> Closure:
        """Add a fixed cost, whether the evaluation fails or not."""
        if not cost:
            return closure
        slot = self.cost

        def run(frame: Frame) -> Any:
            frame[slot] += cost
            return closure(frame)

        return run

    def _made(self, literal: ListLiteral | MapLiteral, cost: int) -> Closure:
        planned = super().plan(literal)
        is_message = isinstance(literal, MapLiteral) and literal.message
        return self._adding(planned, 0 if _is_constant(literal) and not is_message else cost)

    # -- calls -------------------------------------------------------------------------------------------------

    def _costed_call(self, call: Call) -> Closure:
        if call.function in _INDEXES:
            return self._index(call)
        if call.function == "_?_:_":
            return self.conditional(call)
        if call.function in _FREE and len(call.operands) == 2:
            return super().plan(call)
        if call.function == "@not_strictly_false":
            return self._adding(super().plan(call), 1)
        if call.function == "@in" and _is_constant(call.arguments[1]):
            return super().plan(call)
        if call.function in CONVERSIONS and all(isinstance(each, Constant) for each in call.operands):
            return super().plan(call)
        closures = [self.plan(each) for each in call.operands]
        if call.function in ("_==_", "_!=_"):
            return self._compared(call, closures)
        return self._called(call, closures)

    def _called(self, call: Call, closures: list[Closure]) -> Closure:
        function, slot, name, overloads = resolve_call(call), self.cost, call.function, call.overloads

        def run(frame: Frame) -> Any:
            values = _evaluated(closures, frame, slot)
            try:
                result = function(*values)
            except EvaluationFailed:
                frame[slot] += call_cost(name, overloads, values, None)
                raise
            frame[slot] += call_cost(name, overloads, values, result)
            if frame[slot] > PER_CALL_LIMIT:
                raise CostLimitExceeded
            return result

        return run

    def _compared(self, call: Call, closures: list[Closure]) -> Closure:
        function, slot = resolve_call(call), self.cost

        def run(frame: Frame) -> Any:
            first, second = _evaluated(closures, frame, slot)
            frame[slot] += equality_cost(first, second)
            return function(first, second)

        return run

    def _index(self, call: Call) -> Closure:
        """Plan a selection, whose cost an optional selection of an absent value does not have."""
        base = 0 if _is_attribute(call.arguments[0]) else 1
        if call.function == "_[_]":
            discount = _branch_discount(call.arguments[1])  # an attribute that is an index has no cost of its own
            return self._adding(self._plain_call(call), 1 + base - discount)
        planned, slot = (super().plan(call) if call.function == "_?._" else self._plain_call(call)), self.cost

        def run(frame: Frame) -> Any:
            frame[slot] += base
            found = planned(frame)
            if found is not NONE:
                frame[slot] += 1
            return found

        return run

    def _plain_call(self, call: Call) -> Closure:
        closures, function = [self.plan(each) for each in call.operands], resolve_call(call)
        return lambda frame: function(*[each(frame) for each in closures])

    def conditional(self, call: Call) -> Closure:
        """Plan a condition; as in cel-go, a variable that is a whole branch has no cost."""
        yes, no = (_branch_discount(each) for each in call.arguments[1:])
        planned, slot = super().conditional(call), self.cost
        if not yes and not no:
            return planned
        condition, *branches = (self.plan(each) for each in call.arguments)

        def run(frame: Frame) -> Any:
            chosen = condition(frame)
            if chosen is True:
                frame[slot] -= yes
                return branches[0](frame)
            if chosen is False:
                frame[slot] -= no
                return branches[1](frame)
            raise EvaluationFailed("no such overload")

        return run

    # -- loops -------------------------------------------------------------------------------------------------

    def _plan_loop(self, planned: Loop, loop: Comprehension) -> Any:
        slot, inner = self.cost, general_loop(planned, loop, self.plan)

        def finished(result: Closure) -> Closure:
            run = inner(result)

            def limited(frame: Frame) -> Any:
                found = run(frame)
                if frame[slot] > PER_CALL_LIMIT:
                    raise CostLimitExceeded
                return found

            return limited

        return finished


def _evaluated(closures: Sequence[Closure], frame: Frame, slot: int) -> list[Any]:
    """Return the values of operands. All are evaluated, and have a cost, even if one fails."""
    values: list[Any] = []
    error: EvaluationFailed | None = None
    for closure in closures:
        try:
            values.append(closure(frame))
        except EvaluationFailed as failed:
            error = error or failed
    if error is not None:
        frame[slot] += 1
        raise error
    return values


def _is_attribute(expression: Expression) -> bool:
    """Return whether cel-go resolves an expression as one attribute: a variable with fields and indexes."""
    if isinstance(expression, Identifier):
        return True
    if isinstance(expression, Select):
        return not expression.is_test
    return isinstance(expression, Call) and expression.function in (*_INDEXES, "_?_:_")


def _branch_discount(expression: Expression) -> int:
    if isinstance(expression, Identifier):
        return 1
    if isinstance(expression, Select):
        return int(not expression.is_test)
    return int(isinstance(expression, Call) and expression.function in _INDEXES)


def _is_constant(expression: Expression) -> bool:
    """Return whether an expression is a constant for cel-go: a literal, or a list or map of such."""
    match expression:
        case Constant():
            return True
        case ListLiteral(items=items):
            return not expression.optional and all(map(_is_constant, items))
        case MapLiteral(entries=entries):
            return not expression.message and all(
                _is_constant(each.key) and _is_constant(each.value) and not each.is_optional for each in entries
            )
    return False
