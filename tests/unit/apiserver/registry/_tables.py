"""Rows of tables, for tests of kinds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeAlias

from pyctrl import _clock
from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._endpoints.tables import convert_to_table

#: Group, version and resource, an object, and the cells that kube-apiserver 1.36 shows for it.
Row: TypeAlias = tuple[tuple[str, str, str], dict[str, Any], list[Any]]

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def row_id(each: object) -> str:
    """Return the resource of a row, for the id of a test."""
    return each[2] if isinstance(each, tuple) else ""


def cells_of(place: tuple[str, str, str], obj: dict[str, Any]) -> list[Any]:
    """Return the cells of an object's row, except those of the columns for name and age."""
    found = ResourceRegistry().find(*place)
    assert found is not None
    obj = {**obj, "metadata": {"name": "a", **obj.get("metadata", {})}}
    with _clock.use(lambda: NOW):
        made = convert_to_table(found, [obj], metadata={})
    names = [column["name"] for column in made["columnDefinitions"]]
    cells = made["rows"][0]["cells"]
    shown = dict(zip(names, cells[: len(names)], strict=True))
    return [*(shown[name] for name in names if name not in ("Name", "Age")), *cells[len(names) :]]
