"""List functions of Kubernetes, cel-go's lists extension, and its sets extension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from pyctrl.cel._errors import NO_OVERLOAD, EvaluationFailed
from pyctrl.cel._library.arithmetic import as_duration, as_int, as_uint, less
from pyctrl.cel._signatures import Table
from pyctrl.cel._values import Duration, Timestamp, Uint, contains, equal

__all__ = ["LISTS", "SETS"]


_ORDERED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")


def _each(kinds: tuple[str, ...], form: str, function: Callable[..., Any]) -> list[tuple[str, Callable[..., Any]]]:
    return [(form.format(kind), function) for kind in kinds]


def _sum(items: list[Any]) -> Any:
    if not items:
        return 0
    if any(type(each) is not type(items[0]) for each in items):
        raise EvaluationFailed(NO_OVERLOAD)
    if isinstance(items[0], Duration):
        return as_duration(sum(each.nanoseconds for each in items))
    if type(items[0]) is float:
        return float(sum(items))
    return as_uint(sum(items)) if isinstance(items[0], Uint) else as_int(sum(items))


def _summed(zero: Any) -> Callable[[list[Any]], Any]:
    return lambda items: _sum(items) if items else zero


def _extreme(name: str, wins: Callable[[Any, Any], bool]) -> Callable[[list[Any]], Any]:
    def run(items: list[Any]) -> Any:
        if not items:
            raise EvaluationFailed(f"{name} called on empty list")
        best = items[0]
        for each in items[1:]:
            if wins(each, best):
                best = each
        return best

    return run


def _index_of(items: list[Any], wanted: Any) -> int:
    return next((index for index, each in enumerate(items) if equal(each, wanted)), -1)


def _last_index_of(items: list[Any], wanted: Any) -> int:
    return next((index for index in range(len(items) - 1, -1, -1) if equal(items[index], wanted)), -1)


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise EvaluationFailed(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationFailed(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise EvaluationFailed(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def _flatten(items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise EvaluationFailed("level must be non-negative")
    return list(_flat(items, depth))


def _flat(items: list[Any], depth: int) -> Iterator[Any]:
    for each in items:
        if depth > 0 and isinstance(each, list):
            yield from _flat(each, depth - 1)
        else:
            yield each


def _compare(left: Any, right: Any) -> int:
    return less(right, left) - less(left, right)


def _sort(items: list[Any]) -> list[Any]:
    _one_type(items)
    return sorted(items, key=cmp_to_key(_compare))


def _one_type(keys: list[Any]) -> None:
    if keys and type(keys[0]) not in (int, Uint, float, bool, Duration, Timestamp, str, bytes):
        raise EvaluationFailed("list elements must be comparable")
    if any(type(each) is not type(keys[0]) for each in keys):
        raise EvaluationFailed("list elements must have the same type")


def _sort_by(items: list[Any], keys: list[Any]) -> list[Any]:
    _one_type(keys)

    def by_key(left: int, right: int) -> int:
        return _compare(keys[left], keys[right])

    return [items[index] for index in sorted(range(len(items)), key=cmp_to_key(by_key))]


def _hashable(*lists: list[Any]) -> bool:
    """Return whether all elements are integers, or all are strings, which Python compares as CEL does."""
    return {type(each) for items in lists for each in items} in ({int}, {str})


def _distinct(items: list[Any]) -> list[Any]:
    if _hashable(items):
        return list(dict.fromkeys(items))
    found: list[Any] = []
    for each in items:
        if not contains(found, each):
            found.append(each)
    return found


LISTS: Table = {
    "isSorted": _each(_ORDERED, "list({}).() -> bool", lambda items: not any(less(b, a) for a, b in pairwise(items))),
    "sum": [
        ("list(int).() -> int", _summed(0)),
        ("list(uint).() -> uint", _summed(Uint(0))),
        ("list(double).() -> double", _summed(0.0)),
        ("list(duration).() -> duration", _summed(Duration(0))),
    ],
    "min": [(f"list({kind}).() -> {kind}", _extreme("min", less)) for kind in _ORDERED],
    "max": [(f"list({kind}).() -> {kind}", _extreme("max", lambda new, best: less(best, new))) for kind in _ORDERED],
    "indexOf": [("list(T).(T) -> int", _index_of)],
    "lastIndexOf": [("list(T).(T) -> int", _last_index_of)],
    "slice": [("list(T).(int, int) -> list(T)", _slice)],
    "flatten": [
        ("list(list(T)).() -> list(T)", _flatten),
        ("list(dyn).(int) -> list(dyn)", _flatten),
    ],
    "lists.range": [("(int) -> list(int)", lambda count: list(range(count)))],
    "distinct": [("list(T).() -> list(T)", _distinct)],
    "reverse": [("list(T).() -> list(T)", lambda items: items[::-1])],
    "sort": [(f"list({kind}).() -> list({kind})", _sort) for kind in _ORDERED],
    "@sortByAssociatedKeys": [(f"list(T).(list({kind})) -> list(T)", _sort_by) for kind in _ORDERED],
}


def _has_all(items: list[Any], wanted: list[Any]) -> bool:
    if _hashable(items, wanted):
        return set(wanted) <= set(items)
    return all(contains(items, each) for each in wanted)


def _have_common(left: list[Any], right: list[Any]) -> bool:
    if _hashable(left, right):
        return not set(left).isdisjoint(right)
    return any(contains(right, each) for each in left)


SETS: Table = {
    "sets.contains": [("(list(T), list(T)) -> bool", _has_all)],
    "sets.equivalent": [
        ("(list(T), list(T)) -> bool", lambda left, right: _has_all(left, right) and _has_all(right, left))
    ],
    "sets.intersects": [("(list(T), list(T)) -> bool", _have_common)],
}
