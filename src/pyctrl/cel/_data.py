"""Conversion of an object's JSON to CEL values: timestamps, durations, bytes, sets; nulls are dropped.

Most data needs no conversion. `value_reader` returns None for such a schema.
"""

from __future__ import annotations

import binascii
import math
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, TypeAlias

from pyctrl.cel._library.times import SECOND, read_timestamp
from pyctrl.cel._values import Duration, MapList, SetList, Timestamp

__all__ = ["ValueReader", "value_reader"]


ValueReader: TypeAlias = Callable[[Any], Any]

_SPAN = re.compile(r"(?<![\d.])([+-]?\d++(?:\.\d++)?)\s*+([a-zµμ]+)")
_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
    "d": 86400 * SECOND,
    "w": 7 * 86400 * SECOND,
}


def value_reader(schema: Mapping[str, Any]) -> ValueReader | None:
    """Return the function that converts JSON of a schema to CEL values; None if the JSON can be used unchanged."""
    if schema.get("x-kubernetes-int-or-string"):
        return None
    make = _KINDS.get(schema.get("type", ""))
    return None if make is None else make(schema)


def _array(schema: Mapping[str, Any]) -> ValueReader | None:
    items = schema.get("items")
    item = value_reader(items) if isinstance(items, Mapping) else None
    kind, keys = schema.get("x-kubernetes-list-type"), tuple(schema.get("x-kubernetes-list-map-keys") or ())
    if kind == "set":
        return lambda value: SetList(value if item is None else map(item, value))
    if kind == "map":
        return lambda value: MapList(value if item is None else list(map(item, value)), keys)
    return None if item is None else lambda value: list(map(item, value))


def _object(schema: Mapping[str, Any]) -> ValueReader | None:
    additional = schema.get("additionalProperties")
    if isinstance(additional, Mapping):
        each = value_reader(additional)
        return None if each is None else lambda value: {key: each(item) for key, item in value.items()}
    properties = schema.get("properties") or {}
    readers = {key: found for key, each in properties.items() if (found := value_reader(each)) is not None}
    if not readers and not any(each.get("nullable") for each in properties.values()):
        return None

    def read(value: dict[str, Any]) -> dict[str, Any]:
        return {key: readers[key](item) if key in readers else item for key, item in value.items() if item is not None}

    return read


def _string(schema: Mapping[str, Any]) -> ValueReader | None:
    return _FORMATS.get(schema.get("format") or "")


def _guarded(read: Callable[[Any], Any], *kinds: type) -> ValueReader:
    """Convert values of these types only; the schema has already rejected others."""
    return lambda value: read(value) if isinstance(value, kinds) else value


def _timestamp(text: str) -> Timestamp | str:
    found = read_timestamp(text.upper().replace(" ", "T", 1))
    return text if found is None else found


def _date(text: str) -> Timestamp | str:
    try:
        return Timestamp((date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()) * 86400 * SECOND)
    except ValueError:
        return text


def _duration(text: str) -> Duration | str:
    total, sign = 0.0, -1 if text.startswith("-") else 1
    found = _SPAN.findall(text.lstrip("+-"))
    for number, unit in found:
        name = unit if unit in _UNITS else unit[0]
        if name not in _UNITS:
            return text
        total += float(number) * _UNITS[name]
    if math.isinf(total):
        return text
    return Duration(sign * round(total)) if found or text == "0" else text


def _bytes(text: str) -> bytes | str:
    try:
        return binascii.a2b_base64(text)
    except ValueError:
        return text


_FORMATS: Mapping[str, ValueReader] = {
    "date-time": _guarded(_timestamp, str),
    "date": _guarded(_date, str),
    "duration": _guarded(_duration, str),
    "byte": _guarded(_bytes, str),
}
_KINDS: Mapping[str, Callable[[Mapping[str, Any]], ValueReader | None]] = {
    "array": _array,
    "object": _object,
    "string": _string,
    "number": lambda _schema: _guarded(float, int),
}
