"""Table columns of custom resources: the `additionalPrinterColumns` of a definition."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pyctrl._go.durations import age
from pyctrl._go.text import HTML_ESCAPES, go_text
from pyctrl._go.times import parse_rfc3339
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
    """Return the first value that a column's path finds, as the column's type; None for none or another type."""
    found = column_values(obj, column["jsonPath"])
    if not found:
        return None
    value, kind = found[0], column["type"]
    if kind == "date":
        return _age(value) if isinstance(value, str) else None
    if kind == "string":
        return _text(value)
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if kind == "integer" else float(value)


def _age(text: str) -> str:
    """Return how long ago a time was; a text is a time in RFC 3339, or none."""
    if text in ("", "null"):
        return "<unknown>"
    try:
        parse_rfc3339(text)
    except ValueError:
        return "<invalid>"
    return age(text)


def _text(value: JSON) -> str:
    """Format a value as Go does: a list or an object as JSON, and all else as `%v` formats it."""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True).translate(HTML_ESCAPES)
    return "<no value>" if value is None else go_text(value)
