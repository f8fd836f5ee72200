"""Planner: turns a checked expression into Python closures, one per node, chosen by the types of the checker.

A closure takes the frame, a list with one slot for each variable, and returns a value or raises `EvaluationFailed`.
Conversions of constants are evaluated once, by the planner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from pyctrl.cel._dispatch import resolve_call
from pyctrl.cel._errors import NO_OVERLOAD, EvaluationFailed, InstantiationFailed
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
from pyctrl.cel._library.arithmetic import as_duration, as_timestamp
from pyctrl.cel._library.containers import index_map
from pyctrl.cel._library.conversions import CONVERSIONS
from pyctrl.cel._library.times import SECOND
from pyctrl.cel._loops import Loop, decided, plan_loop
from pyctrl.cel._patch_types import constructed_value, is_object_type, patch_type
from pyctrl.cel._values import NONE, Optional, TypeValue, UnconvertedLiteral, equal

__all__ = ["Closure", "Frame", "Planner"]


Frame: TypeAlias = list[Any]
Closure: TypeAlias = Callable[[Frame], Any]

_DIRECT = frozenset(("string", "int", "uint", "double", "bool", "bytes", "timestamp", "duration", "null"))


class Planner:
    """Planner of one expression. `size` is the number of slots of its frame; `used` has its variables."""

    def __init__(self, variables: Sequence[str]) -> None:
        self._scopes: list[dict[str, tuple[int, bool]]] = [{name: (i, False) for i, name in enumerate(variables)}]
        self.size = len(variables)
        self.used: dict[str, int] = {}

    def plan(self, expression: Expression) -> Closure:
        """Return the closure that evaluates an expression.

        Raises:
            InstantiationFailed: The evaluation of a constant failed.
        """
        match expression:
            case Constant(value=value):
                return lambda _frame: value
            case Identifier(name=name):
                return self._identifier(name)
            case Select():
                return self._select(expression)
            case Call():
                return self._call(expression)
            case ListLiteral():
                return self._list(expression)
            case MapLiteral():
                return self._message(expression) if expression.message else self._map(expression)
            case Comprehension():
                return self._loop(expression)
        raise TypeError(f"{expression!r} is not a node of an expression")

    # -- variables and fields ----------------------------------------------------------------------------------

    def _slot(self, name: str) -> tuple[int, bool] | None:
        scopes = self._scopes[:1] if name.startswith(".") else self._scopes
        name = name.removeprefix(".")
        found = next((scope for scope in reversed(scopes) if name in scope), None)
        if found is None:
            return None
        if found is self._scopes[0]:
            self.used[name] = found[name][0]
        return found[name]

    def _identifier(self, name: str) -> Closure:
        found = self._slot(name)
        if found is None:
            value = TypeValue(name.removeprefix("."))
            if patch_type(value.name) is not None:  # as upstream, which knows these names in messages only
                raise InstantiationFailed(f"program instantiation failed: reference to undefined type: {value.name}")
            return lambda _frame: value
        slot, may_fail = found
        return _accumulated(slot) if may_fail else lambda frame: frame[slot]

    def _select(self, select: Select) -> Closure:
        if select.variable:
            return self._identifier(select.variable)
        operand, key = self.plan(select.operand), select.key or select.field
        kind = select.operand.type.kind
        if select.is_test:
            return lambda frame: _has(operand(frame), key)
        if kind not in ("object", "map"):
            return lambda frame: _select_any(operand(frame), key)
        if isinstance(select.operand, Identifier) and (found := self._slot(select.operand.name)) and not found[1]:
            return _field_of_variable(found[0], key)
        return _field(operand, key)

    # -- calls -------------------------------------------------------------------------------------------------

    def _call(self, call: Call) -> Closure:
        special = _SPECIAL.get(call.function)
        if special is not None:
            return special(self, call)
        closures = [self.plan(each) for each in call.operands]
        function = resolve_call(call)
        if call.function in CONVERSIONS and all(isinstance(each, Constant) for each in call.operands):
            return _folded(function, [each.value for each in call.operands if isinstance(each, Constant)])
        return _applied(function, closures)

    def logical_and(self, call: Call) -> Closure:
        left, right = (self.plan(each) for each in call.arguments)
        return lambda frame: decided((left, right), frame, decisive=False)

    def logical_or(self, call: Call) -> Closure:
        left, right = (self.plan(each) for each in call.arguments)
        return lambda frame: decided((left, right), frame, decisive=True)

    def conditional(self, call: Call) -> Closure:
        condition, yes, no = (self.plan(each) for each in call.arguments)

        def run(frame: Frame) -> Any:
            chosen = condition(frame)
            if chosen is True:
                return yes(frame)
            if chosen is False:
                return no(frame)
            raise EvaluationFailed(NO_OVERLOAD)

        return run

    def not_strictly_false(self, call: Call) -> Closure:
        argument = self.plan(call.arguments[0])

        def run(frame: Frame) -> bool:
            try:
                return argument(frame) is not False
            except EvaluationFailed:
                return True

        return run

    def equality(self, call: Call) -> Closure:
        left, right = (self.plan(each) for each in call.arguments)
        first, second = (each.type for each in call.arguments)
        if first == second and first.kind in _DIRECT:
            return lambda frame: left(frame) == right(frame)
        return lambda frame: equal(left(frame), right(frame))

    def inequality(self, call: Call) -> Closure:
        are_equal = self.equality(call)
        return lambda frame: not are_equal(frame)

    def contained(self, call: Call) -> Closure:
        value, items = call.arguments
        if value.type.kind == "string" and isinstance(items, ListLiteral) and not items.optional:
            texts = [each.value for each in items.items if isinstance(each, Constant)]
            if len(texts) == len(items.items):
                known, wanted = frozenset(texts), self.plan(value)
                return lambda frame: wanted(frame) in known
        return _applied(resolve_call(call), [self.plan(each) for each in call.arguments])

    def optional_select(self, call: Call) -> Closure:
        operand, field = self.plan(call.arguments[0]), call.arguments[1]
        key = field.value if isinstance(field, Constant) else ""
        return lambda frame: _find(operand(frame), key)

    def or_value(self, call: Call) -> Closure:
        """Plan `optional.or(optional)` or `optional.orValue(value)`: the argument is evaluated only if needed."""
        closures = [self.plan(each) for each in call.operands]
        if call.target is None or len(closures) != 2:
            return _applied(resolve_call(call), closures)
        held, other, unwraps = closures[0], closures[1], call.function == "orValue"

        def run(frame: Frame) -> Any:
            found = held(frame)
            if not isinstance(found, Optional):
                raise EvaluationFailed(NO_OVERLOAD)
            if found is NONE:
                return other(frame)
            return found.value if unwraps else found

        return run

    # -- literals and loops ------------------------------------------------------------------------------------

    def _list(self, literal: ListLiteral, plan: Callable[[Expression], Closure] | None = None) -> Closure:
        items, optional = [(plan or self.plan)(each) for each in literal.items], literal.optional
        if not optional:
            if all(isinstance(each, Constant) for each in literal.items):
                whole = [each.value for each in literal.items if isinstance(each, Constant)]
                return lambda _frame: whole
            return lambda frame: [item(frame) for item in items]

        def run(frame: Frame) -> list[Any]:
            values = [(item(frame), index in optional) for index, item in enumerate(items)]
            kept = [(value, is_optional) for value, is_optional in values if not (is_optional and value is NONE)]
            return [value.value if is_optional else value for value, is_optional in kept]

        return run

    def _map(self, literal: MapLiteral, plan: Callable[[Expression], Closure] | None = None) -> Closure:
        value_plan = plan or self.plan
        entries = [(self.plan(each.key), value_plan(each.value), each.is_optional) for each in literal.entries]

        def run(frame: Frame) -> dict[Any, Any]:
            found = {}
            for key, value, is_optional in entries:
                item = value(frame)
                if not is_optional:
                    found[key(frame)] = item
                elif item is not NONE:
                    found[key(frame)] = item.value
            return found

        return run

    def _message(self, literal: MapLiteral) -> Closure:
        if literal.type.kind == "object":
            return self._object(literal)
        given = {each.key.value: self.plan(each.value) for each in literal.entries if isinstance(each.key, Constant)}
        make = as_timestamp if literal.message.endswith("Timestamp") else as_duration

        def run(frame: Frame) -> Any:
            values = {name: closure(frame) for name, closure in given.items()}
            return make(values.get("seconds", 0) * SECOND + values.get("nanos", 0))

        return run

    def _object(self, literal: MapLiteral) -> Closure:
        name = literal.type.name
        fields = self._map(literal, self._field if is_object_type(name) else None)
        return lambda frame: constructed_value(name, fields(frame))

    def _field(self, value: Expression) -> Closure:
        """Plan a field of an object: the literals inside of a literal are not converted."""
        if isinstance(value, ListLiteral):
            return self._list(value, self._part)
        if isinstance(value, MapLiteral) and not value.message:
            return self._map(value, self._part)
        return self.plan(value)

    def _part(self, value: Expression) -> Closure:
        closure = self.plan(value)
        if isinstance(value, ListLiteral) or (isinstance(value, MapLiteral) and not value.message):
            return lambda frame: UnconvertedLiteral(closure(frame))
        return closure

    def _loop(self, loop: Comprehension) -> Closure:
        ranged, initial = self.plan(loop.range), self.plan(loop.initial)
        accumulator, first, second = self.size, self.size + 1, self.size + 2
        self.size += 3
        self._scopes.append({loop.accumulator: (accumulator, True)})
        names = {loop.variable: (first, False)}
        if loop.second:
            names[loop.second] = (second, False)
        self._scopes.append(names)
        planned = Loop(ranged, initial, accumulator, first, second if loop.second else None)
        condition_and_step = self._plan_loop(planned, loop)
        self._scopes.pop()
        result = self.plan(loop.result)
        self._scopes.pop()
        return condition_and_step(result)

    def _plan_loop(self, planned: Loop, loop: Comprehension) -> Callable[[Closure], Closure]:
        return plan_loop(planned, loop, self.plan)


_SPECIAL: Mapping[str, Callable[[Planner, Call], Closure]] = {
    "_&&_": Planner.logical_and,
    "_||_": Planner.logical_or,
    "_?_:_": Planner.conditional,
    "@not_strictly_false": Planner.not_strictly_false,
    "_==_": Planner.equality,
    "_!=_": Planner.inequality,
    "@in": Planner.contained,
    "_?._": Planner.optional_select,
    "or": Planner.or_value,
    "orValue": Planner.or_value,
}


# -- closures --------------------------------------------------------------------------------------------------


def _accumulated(slot: int) -> Closure:
    """Read the accumulator of a loop, whose value may be an error."""

    def run(frame: Frame) -> Any:
        value = frame[slot]
        if type(value) is EvaluationFailed:
            raise value
        return value

    return run


def _field_of_variable(slot: int, key: str) -> Closure:
    def run(frame: Frame) -> Any:
        try:
            return frame[slot][key]
        except (KeyError, TypeError):
            return _select_any(frame[slot], key)

    return run


def _field(operand: Closure, key: str) -> Closure:
    def run(frame: Frame) -> Any:
        value = operand(frame)
        try:
            return value[key]
        except (KeyError, TypeError):
            return _select_any(value, key)

    return run


def _select_any(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return index_map(value, key)
    if isinstance(value, Optional):
        return NONE if value is NONE else _find(value.value, key)
    if isinstance(value, list):
        raise EvaluationFailed("unsupported index type 'string' in list")
    raise EvaluationFailed(f"no such key: {key}")


def _has(value: Any, key: str) -> bool:
    if isinstance(value, dict):
        return key in value
    if isinstance(value, Optional):
        return value is not NONE and _has(value.value, key)
    if isinstance(value, list):
        raise EvaluationFailed("unsupported index type 'string' in list")
    return False


def _find(value: Any, key: str) -> Optional:
    if isinstance(value, Optional):
        return NONE if value is NONE else _find(value.value, key)
    if isinstance(value, dict):
        return Optional(value[key]) if key in value else NONE
    raise EvaluationFailed(f"no such key: {key}")


def _applied(function: Callable[..., Any], closures: Sequence[Closure]) -> Closure:
    match closures:
        case [one]:
            return lambda frame: function(one(frame))
        case [one, two]:
            return lambda frame: function(one(frame), two(frame))
        case [one, two, three]:
            return lambda frame: function(one(frame), two(frame), three(frame))
    return lambda frame: function(*(each(frame) for each in closures))


def _folded(function: Callable[..., Any], values: Sequence[Any]) -> Closure:
    try:
        value = function(*values)
    except EvaluationFailed as failed:
        raise InstantiationFailed(f"program instantiation failed: {failed}") from failed
    return lambda _frame: value
