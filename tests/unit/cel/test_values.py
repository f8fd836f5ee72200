"""Equality and concatenation of CEL values."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.cel import NONE, Optional
from pyctrl.cel._values import Duration, MapList, SetList, Uint, concatenate_lists, contains, equal

ONE, OTHER = {"k": 1, "v": 1}, {"k": 2, "v": 1}


@pytest.mark.parametrize(
    ("left", "right", "is_equal"),
    [
        (1, 1.0, True),
        (1, Uint(1), True),
        (1, True, False),
        (1, "1", False),
        ([1, 2], [2, 1], False),
        (SetList([1, 2]), SetList([2, 1]), True),
        (SetList([1, 2]), SetList([2, 3]), False),
        (MapList([ONE, OTHER], ("k",)), MapList([OTHER, ONE], ("k",)), True),
        ({"a": 1}, {"a": 1.0}, True),
        (Optional(1), Optional(1.0), True),
        (Optional(None), NONE, False),
        (Duration(1), Duration(1), True),
    ],
)
def test_equality(left: Any, right: Any, is_equal: bool) -> None:
    """Numbers are compared by value, other types never equal each other, sets and maps ignore the order."""
    assert equal(left, right) is is_equal
    assert contains([None, left], right) is is_equal


def test_lists_are_joined_by_their_type() -> None:
    """Sets add missing items, maps replace those with the same key, other lists keep all."""
    assert concatenate_lists([1], [1]) == [1, 1]
    assert concatenate_lists(SetList([1, 2]), [2, 3]) == [1, 2, 3]
    assert concatenate_lists(MapList([ONE, OTHER], ("k",)), [{"k": 1, "v": 9}]) == [{"k": 1, "v": 9}, OTHER]
