"""Conversion of JSON to CEL values."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.cel._data import value_reader
from pyctrl.cel._values import Duration, MapList, SetList, Timestamp

TEXT: dict[str, Any] = {"type": "string"}
SECOND = 1_000_000_000


@pytest.mark.parametrize(
    "schema", [TEXT, {"type": "array", "items": TEXT}, {"type": "object", "properties": {"a": TEXT}}]
)
def test_most_data_needs_no_conversion(schema: dict[str, Any]) -> None:
    """A schema whose JSON is used unchanged has no reader."""
    assert value_reader(schema) is None


@pytest.mark.parametrize(
    ("schema", "value", "wanted"),
    [
        ({"type": "string", "format": "date-time"}, "1970-01-01T00:00:01Z", Timestamp(SECOND)),
        ({"type": "string", "format": "date"}, "1970-01-02", Timestamp(86400 * SECOND)),
        ({"type": "string", "format": "duration"}, "-1m30s", Duration(-90 * SECOND)),
        ({"type": "string", "format": "duration"}, "soon", "soon"),
        ({"type": "string", "format": "byte"}, "eA==", b"x"),
        ({"type": "number"}, 2, 2.0),
        ({"type": "object", "properties": {"a": {**TEXT, "nullable": True}}}, {"a": None, "b": 1}, {"b": 1}),
    ],
)
def test_values_by_schema(schema: dict[str, Any], value: Any, wanted: Any) -> None:
    """Formats and numbers become CEL values, invalid texts remain strings, and nulls of properties are dropped."""
    read = value_reader(schema)
    assert read is not None
    assert (read(value), type(read(value))) == (wanted, type(wanted))


def test_lists_keep_their_type() -> None:
    """Sets and maps are lists with their own equality."""
    read_set = value_reader({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"})
    read_map = value_reader({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})
    assert read_set is not None
    assert read_map is not None
    assert isinstance(read_set(["a"]), SetList)
    items = read_map([{"k": 1, "v": 2}])
    assert isinstance(items, MapList)
    assert items.key_of(items[0]) == (1,)
