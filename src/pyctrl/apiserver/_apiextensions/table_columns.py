"""Table columns of custom resources: the `additionalPrinterColumns` of a definition."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pyctrl._go.durations import age
from pyctrl.apiserver._apiextensions.jsonpath import column_values
from pyctrl.apiserver._meta.table_columns import AGE_COLUMN, NAME_COLUMN
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["column_definitions", "row_cells"]


def column_definitions(printer_columns: Sequence[Mapping[str, JSON]]) -> list[Mapping[str, JSON]]:
    """Return the column definitions of a table: the name, then the printer columns, or the age where there are none."""
    return [NAME_COLUMN, *map(_definition, printer_columns or (AGE_COLUMN,))]


def _definition(column: Mapping[str, JSON]) -> dict[str, JSON]:
    path = column["jsonPath"]
    return {
        "name": column["name"],
        "type": column["type"],
        "format": column.get("format", ""),
        "description": column.get("description") or f"Custom resource definition column (in JSONPath format): {path}",
        "priority": column.get("priority", 0),
    }


def row_cells(printer_columns: Sequence[Mapping[str, JSON]], obj: Mapping[str, JSON]) -> list[JSON]:
    """Return the cells of an object's row, in the order of the column definitions."""
    return [obj["metadata"].get("name", ""), *(_cell(each, obj) for each in printer_columns or (AGE_COLUMN,))]


def _cell(column: Mapping[str, JSON], obj: Mapping[str, JSON]) -> JSON:
    """Return what a column's path finds, as the column's type; None when it finds nothing, or another type."""
    found = column_values(obj, column["jsonPath"])
    if not found:
        return None
    value, kind = found[0], column["type"]
    if kind == "date":
        return age(value) if isinstance(value, str) else "<unknown>"
    if kind == "string":
        return _text(found)
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if kind == "integer" else float(value)


def _text(found: list[JSON]) -> str | None:
    if len(found) == 1 and found[0] is None:
        return None
    return " ".join(
        each if isinstance(each, str) else json.dumps(each, separators=(",", ":"), ensure_ascii=False) for each in found
    )
