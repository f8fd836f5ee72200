"""Planner that counts the cost of an evaluation as cel-go does, and stops it at a limit.

The frame has two more slots, which hold the cost so far and its limit. Programs whose cost is not needed use the
plain planner, which is faster. An expression whose cost does not depend on values is planned twice: the plain closure
runs, and the cost is added at once; if it fails, the other closure runs, because the cost is that of the parts that
were evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyctrl.cel._cost_loops import (
    collecting_loop,
    collector_of,
    counted_predicate_of,
    counting_loop,
    quantifier_of,
    quantifying_loop,
)
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
    parts,
    walk,
)
from pyctrl.cel._fixed_costs import (
    INDEXES,
    branch_discount,
    call_of_fixed_cost,
    is_attribute,
    is_constant,
    literal_cost,
    select_cost,
    selects_from_variable,
)
from pyctrl.cel._library.actual_costs import QUADRATIC, ActualCost, cost_of_call, equality_cost
from pyctrl.cel._library.conversions import CONVERSIONS
from pyctrl.cel._loops import Loop, general_loop
from pyctrl.cel._planner import Closure, Frame, Planner
from pyctrl.cel._values import NONE

__all__ = ["CostLimitExceeded", "CostPlanner"]


_FREE = frozenset(("_&&_", "_||_", "_?_:_", "or", "orValue"))


class CostLimitExceeded(Exception):
    """Raised if the cost of an evaluation exceeds its limit; no expression can catch it."""


class CostPlanner(Planner):
    """Planner of one expression; `cost` and `limit` are slots of its frame: the cost, and what it must not exceed."""

    def __init__(self, variables: Sequence[str]) -> None:
        super().__init__(variables)
        self.cost, self.limit = self.size, self.size + 1
        self.size += 2
        self._is_plain = False  # whether the closures that are planned count nothing
        self._is_within_fixed = False

    def plan(self, expression: Expression) -> Closure:
        """Return the closure that evaluates an expression and adds its cost.

        Raises:
            InstantiationFailed: The evaluation of a constant failed.
        """
        if self._is_plain:
            return super().plan(expression)
        is_composed = not isinstance(expression, (Constant, Identifier, Comprehension))
        if is_composed and not self._is_within_fixed and (cost := self._fixed_cost(expression)) is not None:
            return self._fixed(expression, cost)
        return self._counting(expression)

    def _counting(self, expression: Expression) -> Closure:
        match expression:
            case Identifier(name=name):
                planned = super().plan(expression)
                return planned if self._slot(name) is None else self._adding(planned, 1)
            case Select():
                planned = super().plan(expression)
                return planned if expression.variable else self._adding(planned, select_cost(expression))
            case ListLiteral() | MapLiteral():
                return self._adding(super().plan(expression), literal_cost(expression))
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

    # -- expressions of a fixed cost ---------------------------------------------------------------------------

    def _fixed_cost(self, expression: Expression) -> int | None:
        """Return the cost of a successful evaluation; None if it depends on values."""
        match expression:
            case Constant():
                return 0
            case Identifier(name=name):
                found = self._slot(name)
                return 0 if found is None else None if found[1] else 1
            case Select():
                if expression.variable:
                    return 0
                own: int | None = select_cost(expression)
                if selects_from_variable(expression) and self._fixed_cost(expression.operand) == 1:
                    return own
            case Call():
                own = call_of_fixed_cost(expression)
            case ListLiteral(optional=optional):
                own = None if optional else literal_cost(expression)
            case MapLiteral(entries=entries):
                own = None if any(each.is_optional for each in entries) else literal_cost(expression)
            case _:
                own = None
        if own is None:
            return None
        costs = [self._fixed_cost(each) for each in _counted_parts(expression)]
        return None if None in costs else own + sum(each for each in costs if each is not None)

    def _fixed(self, expression: Expression, cost: int) -> Closure:
        self._is_plain = True
        plain = super().plan(expression)
        self._is_plain = False
        self._is_within_fixed = True
        counting = self._counting(expression)
        self._is_within_fixed = False
        slot, limit, is_limited = self.cost, self.limit, any(isinstance(each, Call) for each in walk(expression))

        def run(frame: Frame) -> Any:
            try:
                found = plain(frame)
            except EvaluationFailed:
                return counting(frame)  # which fails as well
            frame[slot] += cost
            if is_limited and frame[slot] > frame[limit]:
                raise CostLimitExceeded
            return found

        return run

    # -- calls -------------------------------------------------------------------------------------------------

    def _costed_call(self, call: Call) -> Closure:
        if call.function in INDEXES:
            return self._index(call)
        if call.function == "_?_:_":
            return self.conditional(call)
        if call.function in _FREE and len(call.operands) == 2:
            return super().plan(call)
        if call.function == "@not_strictly_false":
            return self._adding(super().plan(call), 1)
        if call.function == "@in" and is_constant(call.arguments[1]):
            return super().plan(call)
        if call.function in CONVERSIONS and all(isinstance(each, Constant) for each in call.operands):
            return super().plan(call)
        closures = [self.plan(each) for each in call.operands]
        if call.function in ("_==_", "_!=_"):
            return self._compared(call, closures)
        if call.function in QUADRATIC:
            return self._called_if_affordable(call, closures)
        return self._called(call, closures)

    def _called(self, call: Call, closures: list[Closure]) -> Closure:
        function, slot, limit = resolve_call(call), self.cost, self.limit
        cost = cost_of_call(call.function, call.overloads)

        def run(frame: Frame) -> Any:
            values = _evaluated(closures, frame, slot)
            try:
                result = function(*values)
            except EvaluationFailed:
                frame[slot] += 1 if cost is None else cost(values, None)
                raise
            frame[slot] += 1 if cost is None else cost(values, result)
            if frame[slot] > frame[limit]:
                raise CostLimitExceeded
            return result

        return self._of_two(function, closures, cost, run) if len(closures) == 2 else run

    def _called_if_affordable(self, call: Call, closures: list[Closure]) -> Closure:
        """Plan a call whose arguments alone decide its cost, which is added before the call."""
        function, slot, limit = resolve_call(call), self.cost, self.limit
        cost = QUADRATIC[call.function]

        def run(frame: Frame) -> Any:
            values = _evaluated(closures, frame, slot)
            frame[slot] += cost(values, None)
            if frame[slot] > frame[limit]:
                raise CostLimitExceeded
            return function(*values)

        return run

    def _of_two(
        self, function: Callable[..., Any], closures: Sequence[Closure], cost: ActualCost | None, general: Closure
    ) -> Closure:
        """Plan a call with two operands, of which most calls are. `general` runs if an evaluation fails."""
        one, two = closures
        slot, limit = self.cost, self.limit

        def run(frame: Frame) -> Any:
            before = frame[slot]
            try:
                first, second = one(frame), two(frame)
                result = function(first, second)
            except EvaluationFailed:
                frame[slot] = before
                return general(frame)
            frame[slot] += 1 if cost is None else cost((first, second), result)
            if frame[slot] > frame[limit]:
                raise CostLimitExceeded
            return result

        return run

    def _compared(self, call: Call, closures: list[Closure]) -> Closure:
        function, slot = resolve_call(call), self.cost
        one, two = closures

        def run(frame: Frame) -> Any:
            before = frame[slot]
            try:
                first, second = one(frame), two(frame)
            except EvaluationFailed:
                frame[slot] = before
                first, second = _evaluated(closures, frame, slot)
            frame[slot] += equality_cost(first, second)
            return function(first, second)

        return run

    def _index(self, call: Call) -> Closure:
        """Plan a selection, whose cost an optional selection of an absent value does not have."""
        base = 0 if is_attribute(call.arguments[0]) else 1
        if call.function == "_[_]":
            discount = branch_discount(call.arguments[1])  # an attribute that is an index has no cost of its own
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
        yes, no = (branch_discount(each) for each in call.arguments[1:])
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
        if (quantifier := quantifier_of(loop)) is not None:
            each, decisive, condition = quantifier
            run = quantifying_loop(planned, self.plan(each), decisive=decisive, condition=condition, slot=self.cost)
            return lambda _result: self._limited(run)
        general = general_loop(planned, loop, self.plan)
        if (predicate := counted_predicate_of(loop)) is not None:
            counted = self.plan(predicate)
            return lambda result: self._limited(counting_loop(planned, counted, general(result), self.cost))
        collector = collector_of(loop)
        if collector is None:
            return lambda result: self._limited(general(result))
        chosen = self.plan(collector[0]) if collector[0] is not None else None
        items = self.plan(collector[1])
        return lambda result: self._limited(collecting_loop(planned, chosen, items, general(result), self.cost))

    def _limited(self, run: Closure) -> Closure:
        slot, limit = self.cost, self.limit

        def limited(frame: Frame) -> Any:
            found = run(frame)
            if frame[slot] > frame[limit]:
                raise CostLimitExceeded
            return found

        return limited


def _counted_parts(expression: Expression) -> Iterator[Expression]:
    """Yield the parts of an expression whose cost is added to its own."""
    is_conversion = isinstance(expression, Call) and expression.function in CONVERSIONS
    if isinstance(expression, MapLiteral) and expression.message:
        yield from (each.value for each in expression.entries)
    elif not (is_conversion and all(isinstance(each, Constant) for each in parts(expression))):
        yield from parts(expression)


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
