"""Estimation of the maximum cost of a checked expression, from the sizes that a schema declares.

The rules are those of cel-go's checker: a definition is refused by their result, so that each number matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyctrl.cel._declarations import DeclType
from pyctrl.cel._estimates import MAX, UNKNOWN, Size, capped, fixed
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
from pyctrl.cel._library.costs import LIST_COST, MAP_COST, MESSAGE_COST, CallEstimate, Operand, library_estimate
from pyctrl.cel._library.standard_costs import standard_estimate
from pyctrl.cel._types import Type, is_optional

__all__ = ["estimate_cost"]


_SCALARS = frozenset(("bool", "double", "duration", "int", "timestamp", "uint"))
_EMPTY = Size(MAX, 0)  # the union with it is the other size


def estimate_cost(expression: Expression, root: DeclType) -> int:
    """Return the maximum cost of a checked expression whose variables are of type `root`."""
    return CostEstimator(root).cost(expression)


class _Path(Sequence[str]):
    """Fields from a variable to a value. Appending to the same path twice changes the first result, as in cel-go.

    cel-go's paths are Go slices. With spare capacity, `append` writes into the memory that the slices share.
    """

    def __init__(self, names: list[str], length: int, capacity: int) -> None:
        self._names, self._length, self._capacity = names, length, capacity

    def append(self, name: str) -> _Path:
        if self._length < self._capacity:
            self._names[self._length : self._length + 1] = [name]
            return _Path(self._names, self._length + 1, self._capacity)
        names = [*self._names[: self._length], name]
        return _Path(names, len(names), 2 * self._capacity or 1)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> str:  # type: ignore[override]  # no slices
        if index >= self._length:
            raise IndexError(index)
        return self._names[index]


class _EntrySize(NamedTuple):
    """The sizes of the keys and values of a literal `list` or `map`."""

    container: str
    key: Size
    value: Size

    def union(self, other: _EntrySize) -> _EntrySize:
        return _EntrySize(self.container, self.key.union(other.key), self.value.union(other.value))


class _LocalVariable(NamedTuple):
    path: _Path | None
    size: Size | None
    entry_size: _EntrySize | None


class CostEstimator:
    """Estimator of one expression."""

    def __init__(self, root: DeclType) -> None:
        self._root = root
        self._paths: dict[Expression, _Path] = {}
        self._sizes: dict[Expression, Size] = {}
        self._entry_sizes: dict[Expression, _EntrySize] = {}
        self._variables: dict[str, list[_LocalVariable]] = {}

    def cost(self, expression: Expression) -> int:
        """Return the maximum cost of an expression, and note the sizes of its parts."""
        match expression:
            case Identifier(name=name):
                return self._identifier(expression, name)
            case Select():
                return self._select(expression)
            case Call():
                return self._call(expression)
            case ListLiteral():
                return self._list(expression)
            case MapLiteral(message=""):
                return self._map(expression)
            case MapLiteral(entries=entries):
                return capped(sum(self.cost(each.value) for each in entries) + MESSAGE_COST)
            case Comprehension():
                return self._bind(expression) if _is_bind(expression) else self._comprehension(expression)
        return 0

    def find_size(self, path: Sequence[str] | None) -> Size | None:
        """Return the size that the schema declares for the value at a path; None if it has no such value."""
        if not path:
            return None
        node = self._root
        for name in list(path)[1:]:
            if name == "@keys":
                return Size(0, 0) if node.type.kind == "map" else None  # keys have no limit of their own
            found = node.item if name in ("@items", "@values") else node.fields.get(name)
            if found is None:
                return None
            node = found
        return Size(0, node.max_elements or 0)

    # -- nodes -------------------------------------------------------------------------------------------------

    def _identifier(self, expression: Expression, name: str) -> int:
        known = self._variable(name)
        self._set_path(expression, _Path([name], 1, 1) if known is None else known.path)
        return 1

    def _select(self, select: Select) -> int:
        if select.variable:
            return self._identifier(select, select.variable)
        cost = self.cost(select.operand)
        if select.is_test:
            return cost
        self._set_path(select, self._append(select.operand, select.field))
        return capped(cost + (select.operand.type.kind in ("map", "object")))

    def _list(self, literal: ListLiteral) -> int:
        cost, size = LIST_COST, _EMPTY if literal.items else Size(0, 0)
        for item in literal.items:
            cost = capped(cost + self.cost(item))
            size = size.union(self.size(item))
        self._entry_sizes[literal] = _EntrySize("list", fixed(1), size)
        return cost

    def _map(self, literal: MapLiteral) -> int:
        cost = MAP_COST
        key = value = _EMPTY if literal.entries else Size(0, 0)
        for entry in literal.entries:
            cost = capped(cost + self.cost(entry.key) + self.cost(entry.value))
            key, value = key.union(self.size(entry.key)), value.union(self.size(entry.value))
        self._entry_sizes[literal] = _EntrySize("map", key, value)
        return cost

    # -- loops -------------------------------------------------------------------------------------------------

    def _comprehension(self, loop: Comprehension) -> int:
        cost = self.cost(loop.range) + self.cost(loop.initial)
        self._push_value(loop.accumulator, loop.initial)
        if loop.second:
            self._push_entry(loop.variable, loop.range, is_key=True)
            self._push_entry(loop.second, loop.range, is_key=False)
        else:
            self._push_entry(loop.variable, loop.range, is_key=self._container(loop.range) != "list")
        each = self.cost(loop.condition) + self.cost(loop.step)
        self._variables[loop.variable].pop()
        if loop.second:
            self._variables[loop.second].pop()
        cost += self.cost(loop.result)
        self._variables[loop.accumulator].pop()
        count = self.size(loop.range)
        if isinstance(loop.initial, Constant):
            self._set_size(loop, self.find_computed_size(loop.initial))
        elif isinstance(loop.initial, (ListLiteral, MapLiteral)):
            self._sizes[loop] = count
            self._set_entry_size(loop, self.entry_size(loop.step))
        return capped(cost + capped(count.most * capped(each)))

    def _bind(self, loop: Comprehension) -> int:
        cost = self.cost(loop.range) + self.cost(loop.initial)
        self._push_value(loop.accumulator, loop.initial)
        cost += self.cost(loop.result)
        self._variables[loop.accumulator].pop()
        self._copy_sizes(loop, loop.result)
        return capped(cost)

    def _container(self, ranged: Expression) -> str:
        known = self.entry_size(ranged)
        return ranged.type.kind if known is None else known.container

    def _push_entry(self, name: str, ranged: Expression, *, is_key: bool) -> None:
        """Declare a variable for the keys or indexes, or for the values, of a range."""
        known, container = self.entry_size(ranged), self._container(ranged)
        if is_key:
            part, size = "@indices" if container == "list" else "@keys", known and known.key
        else:
            part, size = "@items" if container == "list" else "@values", known and known.value
        self._variables.setdefault(name, []).append(_LocalVariable(self._append(ranged, part), size, None))

    def _push_value(self, name: str, value: Expression) -> None:
        entry_size = self.entry_size(value)
        known = _LocalVariable(self._path(value), self.find_computed_size(value), entry_size)
        self._variables.setdefault(name, []).append(known)

    def _variable(self, name: str) -> _LocalVariable | None:
        known = self._variables.get(name)
        return known[-1] if known else None

    # -- calls -------------------------------------------------------------------------------------------------

    def _call(self, call: Call) -> int:
        if call.function == "dyn":
            cost = self.cost(call.arguments[0])
            self._copy_sizes(call, call.arguments[0])
            return capped(cost + 1)
        costs, arguments = [], []
        for each in call.arguments:
            costs.append(self.cost(each))
            arguments.append(self._operand(each))
        target_cost, target = 0, None
        if call.target is not None:
            target_cost = self.cost(call.target)
            target = self._operand(call.target)
        most, size = 0, None
        for signature in [each.signature for each in call.overloads] or [""]:
            estimate = self._estimate(call, signature, target, arguments, costs)
            most = max(most, estimate.cost)
            if estimate.size is not None:
                size = estimate.size if size is None else size.union(estimate.size)
            size = self._index(call, signature, size)
            if size is None:
                size = self.find_computed_size(call)
        self._set_size(call, size)
        return capped(target_cost + most)

    def _index(self, call: Call, signature: str, size: Size | None) -> Size | None:
        """Note the path of `list[index]` or `map[key]` and return the size of its value if it is known."""
        part = _INDEXES.get(signature) if call.function == "_[_]" else None
        if part is None:
            return size
        known = self.entry_size(call.arguments[0])
        self._set_path(call, self._append(call.arguments[0], part))
        return None if known is None else known.value

    def _estimate(
        self, call: Call, signature: str, target: Operand | None, arguments: list[Operand], costs: list[int]
    ) -> CallEstimate:
        """Return the estimate of a call with the cost of its arguments."""
        of_arguments = capped(sum(costs))
        if call.function in ("_&&_", "_||_"):
            return CallEstimate(of_arguments)
        if call.function == "_?_:_":
            return self._conditional(call, costs)
        found = library_estimate(self, call.function, signature, target, arguments)
        if found is None:
            found = standard_estimate(call.function, signature, target, arguments)
            if call.function == "_+_" and found.size is not None:
                left, right = (self.entry_size(each) for each in call.arguments)
                self._set_entry_size(call, left and right and left.union(right))
        return CallEstimate(capped(found.cost + of_arguments), found.size)

    def _conditional(self, call: Call, costs: list[int]) -> CallEstimate:
        _condition, yes, no = call.arguments
        size = self.size(yes).union(self.size(no))
        left, right = self.entry_size(yes), self.entry_size(no)
        self._set_entry_size(call, left and right and left.union(right))
        return CallEstimate(capped(costs[0] + max(costs[1], costs[2])), size)

    def _operand(self, expression: Expression) -> Operand:
        size = self.find_computed_size(expression)
        return Operand(expression.type, self._path(expression), size, expression)

    # -- paths and sizes ---------------------------------------------------------------------------------------

    def _path(self, expression: Expression) -> _Path | None:
        if isinstance(expression, Identifier) and (known := self._variable(expression.name)) is not None:
            return known.path
        return self._paths.get(expression)

    def _append(self, expression: Expression, name: str) -> _Path:
        return (self._path(expression) or _Path([], 0, 0)).append(name)

    def _set_path(self, expression: Expression, path: _Path | None) -> None:
        if path is not None:
            self._paths[expression] = path
        else:
            self._paths.pop(expression, None)

    def size(self, expression: Expression) -> Size:
        """Return the size of an expression, `UNKNOWN` if nothing is known of it."""
        return self.find_computed_size(expression) or UNKNOWN

    def find_computed_size(self, expression: Expression) -> Size | None:
        """Return the size of an expression; None if nothing is known of it."""
        known = self._sizes.get(expression) or _literal_size(expression)
        if known is not None:
            return known
        if (declared := self.find_size(self._path(expression))) is not None:
            self._sizes[expression] = declared
            return declared
        if _is_scalar(expression.type):
            return fixed(1)
        variable = self._variable(expression.name) if isinstance(expression, Identifier) else None
        return None if variable is None else variable.size

    def entry_size(self, expression: Expression) -> _EntrySize | None:
        """Return the sizes of the keys and values of a list or map; None if they are not known."""
        known = self._entry_sizes.get(expression)
        if known is None and isinstance(expression, Identifier):
            variable = self._variable(expression.name)
            return None if variable is None else variable.entry_size
        return known

    def _set_size(self, expression: Expression, size: Size | None) -> None:
        if size is not None:
            self._sizes[expression] = size

    def _set_entry_size(self, expression: Expression, size: _EntrySize | None) -> None:
        if size is not None:
            self._entry_sizes[expression] = size

    def _copy_sizes(self, expression: Expression, source: Expression) -> None:
        self._set_size(expression, self.find_computed_size(source))
        self._set_entry_size(expression, self.entry_size(source))


_INDEXES = {"(list(A), int) -> A": "@items", "(map(A, B), A) -> B": "@values"}


def _is_bind(loop: Comprehension) -> bool:
    """Return whether a loop only names a value, as that of `optMap`."""
    is_empty = isinstance(loop.range, ListLiteral) and not loop.range.items
    return is_empty and isinstance(loop.condition, Constant) and loop.condition.value is False


def _literal_size(expression: Expression) -> Size | None:
    match expression:
        case Constant(value=str() | bytes() as text):
            return fixed(len(text))
        case Constant():
            return fixed(1)
        case ListLiteral(items=items):
            return fixed(len(items))
        case MapLiteral(message="", entries=entries):
            return fixed(len(entries))
    return None


def _is_scalar(kind: Type) -> bool:
    return kind.kind in _SCALARS or (is_optional(kind) and _is_scalar(kind.parameters[0]))
