"""Comparison of values with their old values."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._schema.ratcheting import is_unchanged
from pyctrl.apiserver._schema.schema import compile_structural

_ITEM = {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}
_KEYED = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": _ITEM}
_SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "keyed": _KEYED,
        "plain": {"type": "array", "items": _ITEM},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
_A, _B = {"k": "a", "v": 1}, {"k": "b", "v": 2}


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ({"n": 1}, {"n": 1}, True),
        ({"n": 1}, {"n": True}, False),
        ({"n": 1}, {}, False),
        ({"keyed": [_B, _A]}, {"keyed": [_A, _B]}, True),
        ({"keyed": [_B, _B]}, {"keyed": [_A, _B]}, True),
        ({"keyed": [_B]}, {"keyed": [_A, _B]}, False),
        ({"keyed": [_A]}, {"keyed": [_B]}, False),
        ({"plain": [_A, _B]}, {"plain": [_A, _B]}, True),
        ({"plain": [_B, _A]}, {"plain": [_A, _B]}, False),
        ({"free": {}}, {"free": {}}, True),
        ({"free": {"a": 1}}, {"free": {"a": 1}}, False),
    ],
)
def test_values_are_compared_by_the_schema(new: Any, old: Any, expected: bool) -> None:
    """The order of a list of type map does not count, and a field without a schema has no old value."""
    assert is_unchanged(compile_structural(_SCHEMA), new, old) is expected
