"""JSONPath of printer columns."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._apiextensions.jsonpath import column_values


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".a.b", [1]),
        (".list[0].n", ["x"]),
        (".list[-1].n", ["y"]),
        (".list[*].n", ["x", "y"]),
        (".map['k.io/x']", ["v"]),
        (".map.k\\.io/x", ["v"]),
        ('.list[?(@.n=="y")].v', [2]),
        ("..n", ["x", "y"]),
        (".nowhere", []),
        (".a[", []),
    ],
)
def test_column_paths(path: str, found: list[Any]) -> None:
    """Column paths support fields, indexes, keys, filters and recursive descent; invalid paths find nothing."""
    obj = {"a": {"b": 1}, "list": [{"n": "x", "v": 1}, {"n": "y", "v": 2}], "map": {"k.io/x": "v"}}
    assert column_values(obj, path) == found
