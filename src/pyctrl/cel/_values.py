"""The values of expressions that Python has no type for, and when two values are equal.

bool, int, float, str, bytes, list, dict and None are themselves; the data of an object is used as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Value: TypeAlias = Any  # what an expression comes to; only evaluation tells which type it has


class Uint(int):
    """An unsigned number."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A moment, in nanoseconds since 1970, and the minutes that the zone it is written in is ahead of UTC."""

    nanoseconds: int
    ahead: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A length of time in nanoseconds."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: what `type(1)` gives."""

    name: str


class Optional:
    """A value that may be missing. `NONE` is the one that is."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    @property
    def is_present(self) -> bool:
        """Whether there is a value."""
        return self is not NONE


NONE: Final = Optional(None)


class SetList(list[Value]):
    """A list of `x-kubernetes-list-type: set`: order does not matter, `+` adds what is missing."""

    __slots__ = ()


class MapList(list[Value]):
    """A list of `x-kubernetes-list-type: map`: items have keys; `+` replaces those that are there."""

    __slots__ = ("keys",)

    def __init__(self, items: Sequence[Value], keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.keys = keys

    def key_of(self, item: Value) -> tuple[Value, ...] | None:
        """Give the values of the keys of an item."""
        return tuple(item.get(key) for key in self.keys) if isinstance(item, dict) else None


_PLAIN = frozenset((str, int, bool, float, bytes, type(None), Timestamp, Duration, TypeValue, Uint))
_NUMBERS = frozenset((int, float, Uint))


def equal(left: Value, right: Value) -> bool:
    """Compare as `==` does: numbers by value whatever their type, else values of different types are different."""
    kind, other = type(left), type(right)
    if kind is other and kind in _PLAIN:
        return bool(left == right)
    if kind in _NUMBERS and other in _NUMBERS:
        return float(left) == float(right) if float in (kind, other) else bool(left == right)
    if isinstance(left, list):
        return isinstance(right, list) and _equal_lists(left, right)
    if kind is dict or isinstance(left, dict):
        return isinstance(right, dict) and _equal_maps(left, right)
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


def _equal_maps(left: dict[Value, Value], right: dict[Value, Value]) -> bool:
    return len(left) == len(right) and all(key in right and equal(value, right[key]) for key, value in left.items())


def contains(items: Sequence[Value], wanted: Value) -> bool:
    """Say whether a list has a value."""
    return any(equal(item, wanted) for item in items)


def concatenate_lists(left: list[Value], right: list[Value]) -> list[Value]:
    """Add lists as their list type says: one behind the other, or without what is there twice."""
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
