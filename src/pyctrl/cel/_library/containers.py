"""Operators and functions of lists, maps and optional values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyctrl.cel._errors import EvaluationFailed
from pyctrl.cel._signatures import Table
from pyctrl.cel._values import NONE, Duration, Optional, contains, equal

__all__ = ["COLLECTIONS", "INSERTIONS", "OPTIONALS", "index_map"]


def index_list(items: list[Any], index: Any) -> Any:
    """Return `list[index]`.

    Raises:
        EvaluationFailed: The index is out of bounds.
    """
    if type(index) is float:
        if not index.is_integer():
            raise EvaluationFailed(f"unsupported index value {index} in list")
        index = int(index)
    if 0 <= index < len(items):
        return items[index]
    raise EvaluationFailed(f"index out of bounds: {index}")


def index_map(items: dict[Any, Any], key: Any) -> Any:
    """Return `map[key]`.

    Raises:
        EvaluationFailed: The key does not exist.
    """
    try:
        return items[key]
    except (KeyError, TypeError) as error:
        raise EvaluationFailed(f"no such key: {_shown(key)}") from error


def _shown(key: Any) -> str:
    return {True: "true", False: "false"}[key] if isinstance(key, bool) else str(key)


def _find_list(items: list[Any], index: int) -> Optional:
    return Optional(items[index]) if 0 <= index < len(items) else NONE


def _find_map(items: dict[Any, Any], key: Any) -> Optional:
    return Optional(items[key]) if key in items else NONE


def _inside(find: Callable[[Any, Any], Optional]) -> Callable[[Optional, Any], Optional]:
    return lambda held, key: NONE if held is NONE else find(held.value, key)


COLLECTIONS: Table = {
    "_[_]": [
        ("(list(A), int) -> A", index_list),
        ("(map(A, B), A) -> B", index_map),
        ("(optional_type(list(A)), int) -> optional_type(A)", _inside(_find_list)),
        ("(optional_type(map(A, B)), A) -> optional_type(B)", _inside(_find_map)),
    ],
    "_[?_]": [
        ("(list(A), int) -> optional_type(A)", _find_list),
        ("(optional_type(list(A)), int) -> optional_type(A)", _inside(_find_list)),
        ("(map(A, B), A) -> optional_type(B)", _find_map),
        ("(optional_type(map(A, B)), A) -> optional_type(B)", _inside(_find_map)),
    ],
    "@in": [
        ("(A, list(A)) -> bool", lambda value, items: contains(items, value)),
        ("(A, map(A, B)) -> bool", lambda key, items: key in items),
    ],
    "size": [
        (form.format(kind), len)
        for kind in ("string", "bytes", "list(A)", "map(A, B)")
        for form in ("({}) -> int", "{}.() -> int")
    ],
    "_==_": [("(A, A) -> bool", equal)],
    "_!=_": [("(A, A) -> bool", lambda left, right: not equal(left, right))],
    "@not_strictly_false": [("(bool) -> bool", lambda value: value is not False)],
    "_?_:_": [("(bool, A, A) -> A", lambda condition, left, right: left if condition else right)],
}

# -- optional values -------------------------------------------------------------------------------------------


def _is_zero(value: Any) -> bool:
    return not value if not isinstance(value, Duration) else not value.nanoseconds


def _value(held: Optional) -> Any:
    if held is NONE:
        raise EvaluationFailed("optional.none() dereference")
    return held.value


OPTIONALS: Table = {
    "optional.of": [("(V) -> optional_type(V)", Optional)],
    "optional.none": [("() -> optional_type(V)", lambda: NONE)],
    "optional.ofNonZeroValue": [
        ("(V) -> optional_type(V)", lambda value: NONE if _is_zero(value) else Optional(value))
    ],
    "optional.unwrap": [
        ("(list(optional_type(V))) -> list(V)", lambda items: [each.value for each in items if each is not NONE])
    ],
    "unwrapOpt": [
        ("list(optional_type(V)).() -> list(V)", lambda items: [each.value for each in items if each is not NONE])
    ],
    "hasValue": [("optional_type(V).() -> bool", lambda held: held is not NONE)],
    "value": [("optional_type(V).() -> V", _value)],
    "or": [
        (
            "optional_type(V).(optional_type(V)) -> optional_type(V)",
            lambda held, other: other if held is NONE else held,
        )
    ],
    "orValue": [("optional_type(V).(V) -> V", lambda held, other: other if held is NONE else held.value)],
    "first": [("list(V).() -> optional_type(V)", lambda items: Optional(items[0]) if items else NONE)],
    "last": [("list(V).() -> optional_type(V)", lambda items: Optional(items[-1]) if items else NONE)],
}


# -- maps from macros ------------------------------------------------------------------------------------------


def _insert(items: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    if key in items:
        raise EvaluationFailed(f"insert failed: key {_shown(key)} already exists")
    return {**items, key: value}


def _insert_all(items: dict[Any, Any], more: dict[Any, Any]) -> dict[Any, Any]:
    for key, value in more.items():
        items = _insert(items, key, value)
    return items


INSERTIONS: Table = {
    "cel.@mapInsert": [
        ("(map(A, B), A, B) -> map(A, B)", _insert),
        ("(map(A, B), map(A, B)) -> map(A, B)", _insert_all),
    ],
}
