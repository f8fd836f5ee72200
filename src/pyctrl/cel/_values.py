"""CEL values without a Python type of their own, and equality of values.

bool, int, float, str, bytes, list, dict and None represent themselves; the data of an object is used unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

__all__ = [
    "NONE",
    "Duration",
    "MapList",
    "ObjectValue",
    "Optional",
    "SetList",
    "Timestamp",
    "TypeValue",
    "Uint",
    "UnconvertedLiteral",
    "concatenate_lists",
    "contains",
    "equal",
]


Value: TypeAlias = Any  # a CEL value; its type is known at evaluation only


class Uint(int):
    """An unsigned number."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A point in time, in nanoseconds since 1970 UTC, and the offset of its time zone from UTC in minutes."""

    nanoseconds: int
    ahead: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A length of time in nanoseconds."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value, such as the result of `type(1)`."""

    name: str


class Optional:
    """An optional value. `NONE` is the empty one."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value: Value = value


NONE: Final = Optional(None)


class SetList(list[Value]):
    """A list of `x-kubernetes-list-type: set`: equality ignores the order, `+` adds missing items."""

    __slots__ = ()


class MapList(list[Value]):
    """A list of `x-kubernetes-list-type: map`: items have keys, `+` replaces items with the same key."""

    __slots__ = ("keys",)

    def __init__(self, items: Sequence[Value], keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.keys = keys

    def key_of(self, item: Value) -> tuple[Value, ...] | None:
        """Return the values of the keys of an item."""
        return tuple(item.get(key) for key in self.keys) if isinstance(item, dict) else None


class ObjectValue(dict[str, Value]):
    """An object that an expression constructed, such as `Object.spec{replicas: 3}`."""

    __slots__ = ("type_name",)

    def __init__(self, fields: Mapping[str, Value], type_name: str) -> None:
        super().__init__(fields)
        self.type_name: str = type_name


class UnconvertedLiteral(NamedTuple):
    """A list or map literal inside of another one in a field of a constructed object.

    cel-go converts what fields hold, and leaves the literals in there as they are, which no field accepts.
    """

    value: list[Value] | dict[Value, Value]


_PLAIN = frozenset((str, int, bool, float, bytes, type(None), Timestamp, Duration, TypeValue, Uint))
_NUMBERS = frozenset((int, float, Uint))


def equal(left: Value, right: Value) -> bool:
    """Compare as CEL's `==`: numbers by value across types, other values of different types are unequal."""
    kind, other = type(left), type(right)
    if kind is other and kind in _PLAIN:
        return bool(left == right)
    if kind in _NUMBERS and other in _NUMBERS:
        return float(left) == float(right) if float in (kind, other) else bool(left == right)
    if isinstance(left, list):
        return isinstance(right, list) and _equal_lists(left, right)
    if kind is dict or isinstance(left, dict):
        return isinstance(right, dict) and _constructed(left) == _constructed(right) and _equal_maps(left, right)
    if kind is Optional and other is Optional:
        if left is NONE or right is NONE:
            return left is right
        return equal(left.value, right.value)
    return kind is other and bool(left == right)


def _equal_lists(left: list[Value], right: list[Value]) -> bool:
    if len(left) != len(right):
        return False
    if isinstance(left, MapList):
        by_key = {left.key_of(item): item for item in right}
        return all((key := left.key_of(item)) in by_key and equal(item, by_key[key]) for item in left)
    if isinstance(left, SetList):
        return all(contains(right, item) for item in left)
    return all(map(equal, left, right))


def _constructed(value: dict[Value, Value]) -> str:
    """Return the type name of a constructed object; it is not equal to a map, nor to an object of another name."""
    return value.type_name if isinstance(value, ObjectValue) else ""


def _equal_maps(left: dict[Value, Value], right: dict[Value, Value]) -> bool:
    return len(left) == len(right) and all(key in right and equal(value, right[key]) for key, value in left.items())


def contains(items: Sequence[Value], wanted: Value) -> bool:
    """Return whether a list has a value."""
    return any(equal(item, wanted) for item in items)


def concatenate_lists(left: list[Value], right: list[Value]) -> list[Value]:
    """Add lists by their list type: concatenate, or merge sets and maps without duplicates."""
    if isinstance(left, MapList):
        merged = {left.key_of(item): item for item in left}
        merged.update({left.key_of(item): item for item in right})
        return MapList(list(merged.values()), left.keys)
    if isinstance(left, SetList):
        whole = SetList(left)
        for item in right:
            if not contains(whole, item):
                whole.append(item)
        return whole
    return [*left, *right]
