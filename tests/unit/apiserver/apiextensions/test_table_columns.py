"""Cells of custom resources."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._apiextensions.table_columns import row_cells

OLD = "2025-12-30T00:00:00Z"  # two days before the first day of virtual time


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("string", "a", "a"),
        ("string", 1000.0, "1000"),
        ("string", True, "true"),
        ("string", None, "<no value>"),
        ("string", {"b": [1, None], "a": "<"}, '{"a":"\\u003c","b":[1,null]}'),
        ("integer", 3.7, 3),
        ("integer", "3", None),
        ("number", 2, 2.0),
        ("boolean", False, False),
        ("boolean", "yes", None),
        ("date", OLD, "2d"),
        ("date", "soon", "<invalid>"),
        ("date", "2026-01-01", "<invalid>"),
        ("date", "", "<unknown>"),
        ("date", 5, None),
    ],
)
@pytest.mark.virtual_time
async def test_a_cell_has_the_type_of_its_column(kind: str, value: Any, cell: Any) -> None:
    """kubectl prints a value as the column's type, and nothing for a value of another type."""
    obj = {"metadata": {"name": "t"}, "spec": {"v": value}}
    assert row_cells([{"name": "V", "type": kind, "jsonPath": ".spec.v"}], obj) == ["t", cell]


def test_a_cell_shows_the_first_value() -> None:
    """A column whose path finds several values shows the first."""
    obj = {"metadata": {"name": "t"}, "spec": {"v": ["a", "b"]}}
    columns = [{"name": "V", "type": "string", "jsonPath": path} for path in (".spec.v[*]", ".spec.nosuch")]
    assert row_cells(columns, obj) == ["t", "a", None]
