"""Reads built-in kinds as kube-apiserver's Go types do: the same errors for wrong types, the same form written back.

A built-in object that goes through Go's types loses unknown fields, nulls and empty optional lists, gets the zeros
that are always written (`status: {}`), and has its quantities and times in canonical form. `decode` does all of that
and reports what it did not know.
"""

from __future__ import annotations

import binascii
import contextlib
import re
from collections.abc import Callable
from datetime import UTC, datetime

from pyctrl.api import Quantity
from pyctrl.errors import QuantityError

from . import _answers as answers
from ._schema import JSON, Node

_SHOWN = {str: "string", bool: "bool", int: "number", float: "number", dict: "object", list: "array"}
_IS_CANONICAL = re.compile(r"(0|[1-9]\d{0,2})([kMGTPE]|[KMGTPE]i|m)?\Z")
_INDEX = re.compile(r"\[\d+\]")
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?(Z|z|[+-]\d\d:\d\d)\Z")


class DecodeFailed(Exception):
    """The body does not fit the Go type; the message is Go's."""


def decode(node: Node, value: JSON, unknown: list[str]) -> JSON:
    """Give the value as Go's type would write it back; paths of unknown fields are added to `unknown`."""
    return _object(node, value, "", "", unknown)


def empty(node: Node) -> dict[str, JSON]:
    """Give what Go writes for the zero of a struct, which a created object is compared with."""
    return _filled(node, {})


def _value(node: Node, value: JSON, path: str, struct: str, unknown: list[str]) -> JSON:
    facts = node.go
    if facts is not None and facts.scalar:
        return _SCALARS[facts.scalar](value, path, struct)
    if node.int_or_string:
        return _int_or_string(value, path, struct)
    kind = node.type
    if node.open:
        return value
    if kind == "array":
        return _array(node, value, path, struct, unknown)
    if kind == "object" or node.properties:
        return _object(node, value, path, struct, unknown)
    return _plain(node, value, path, struct)


def _object(node: Node, value: JSON, path: str, struct: str, unknown: list[str]) -> JSON:
    if type(value) is not dict:
        if node.go is not None and node.go.also is type(value):
            return value
        raise _mismatch(node, value, path, struct)
    if node.additional is not None and not node.properties:
        return _map(node, node.additional, value, path, struct, unknown)
    struct = node.go.struct if node.go and node.go.struct else struct
    properties = node.properties
    written: dict[str, JSON] = {}
    for key, item in value.items():
        field = properties.get(key)
        here = f"{path}.{key}" if path else key
        if field is None:
            unknown.append(here)
        elif item is not None:
            read = _value(field, item, here, struct, unknown)
            if not _is_dropped(field, read):
                written[key] = read
    return _filled(node, written)


def _filled(node: Node, written: dict[str, JSON]) -> dict[str, JSON]:
    facts = node.go
    if facts is None:
        return written
    for key, zero in facts.zeros:
        if key not in written:
            written[key] = zero
    for key in facts.structs:
        if key not in written:
            written[key] = _filled(node.properties[key], {})
    return written


def _is_dropped(field: Node, value: JSON) -> bool:
    if value is False or value == "" or value == 0:
        return field.go is not None and (field.go.drop_zero or field.go.scalar == "bytes")
    return (value == [] or value == {}) and not field.properties and not field.open


def _map(node: Node, item: Node, value: dict[str, JSON], path: str, struct: str, unknown: list[str]) -> JSON:
    if item.type == "string" and item.go and not item.go.scalar:
        for each in value.values():
            if type(each) is not str and each is not None:
                raise _mismatch(item, each, path, struct)
        return {key: each or "" for key, each in value.items()}
    return {
        key: _filled_null(item, each, f"{path}.{key}" if path else key, struct, unknown) for key, each in value.items()
    }


def _array(node: Node, value: JSON, path: str, struct: str, unknown: list[str]) -> JSON:
    if type(value) is not list:
        raise _mismatch(node, value, path, struct)
    item = node.items
    if item is None:
        return value
    return [_filled_null(item, each, f"{path}[{index}]", struct, unknown) for index, each in enumerate(value)]


def _filled_null(node: Node, value: JSON, path: str, struct: str, unknown: list[str]) -> JSON:
    """A null in a list or map is the zero of its type."""
    if value is not None:
        return _value(node, value, path, struct, unknown)
    if node.properties:
        return _filled(node, {})
    return {"string": "", "integer": 0, "number": 0, "boolean": False}.get(node.type or "")


def _plain(node: Node, value: JSON, path: str, struct: str) -> JSON:
    kind = type(value)
    wanted = node.type
    if wanted == "string" and kind is str:
        return value
    if wanted == "integer" and kind is int:
        return _ranged(node, value, path, struct)
    if wanted == "boolean" and kind is bool:
        return value
    if wanted == "number" and kind in (int, float):
        return value
    if wanted is None:
        return value
    raise _mismatch(node, value, path, struct)


def _ranged(node: Node, value: int, path: str, struct: str) -> int:
    bits = 31 if node.go and node.go.name == "int32" else 63
    if -(1 << bits) <= value < 1 << bits:
        return value
    raise _unfit(value, path, struct, _name(node), with_number=True)


def _mismatch(node: Node, value: JSON, path: str, struct: str) -> DecodeFailed:
    return _unfit(value, path, struct, _name(node), with_number=node.type == "integer")


def _unfit(value: JSON, path: str, struct: str, wanted: str, *, with_number: bool = False) -> DecodeFailed:
    shown = _SHOWN.get(type(value), "null")
    if with_number and shown == "number":
        shown = f"number {value}"
    where = f"struct field {_place(path, struct)}" if path else "value"
    return DecodeFailed(f"json: cannot unmarshal {shown} into Go {where} of type {wanted}")


def _place(path: str, struct: str) -> str:
    return f"{struct}.{_INDEX.sub('', path)}"


def _name(node: Node) -> str:
    return node.go.name if node.go and node.go.name else "map[string]interface {}"


# -- scalars with a form of their own ----------------------------------------------------------------------------


def _int_or_string(value: JSON, path: str, struct: str) -> JSON:
    if type(value) in (int, str):
        return value
    raise DecodeFailed(f"json: cannot unmarshal {_SHOWN.get(type(value), 'null')} into Go value of type int32")


def _quantity(value: JSON, path: str, struct: str) -> str:
    if type(value) in (str, int, float):
        text = value if isinstance(value, str) else str(value)
        if _IS_CANONICAL.match(text):
            return text
        with contextlib.suppress(QuantityError):
            return Quantity(text).canonical()
    raise DecodeFailed("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")


def _time(value: JSON, path: str, struct: str) -> str | None:
    """RFC 3339, seconds, in UTC; an empty text is the zero time."""
    if value == "":
        return None
    return _parsed_time(value, "2006-01-02T15:04:05Z07:00", places=0)


def _microtime(value: JSON, path: str, struct: str) -> str | None:
    if value == "":
        return None
    return _parsed_time(value, "2006-01-02T15:04:05.000000Z07:00", places=6)


def _parsed_time(value: JSON, layout: str, *, places: int) -> str:
    if type(value) is not str:
        raise DecodeFailed(f"json: cannot unmarshal {_SHOWN.get(type(value), 'null')} into Go value of type string")
    found = _TIME.match(value)
    if found is None:
        raise DecodeFailed(
            f'parsing time {answers.quoted(value)} as "{layout}": cannot parse {answers.quoted(value)} as "2006"'
        )
    fraction = (found[7] or "")[1:].ljust(places, "0")[:places]
    stem = value[:19].replace("t", "T")
    if found[8] not in "Zz":
        stem = datetime.fromisoformat(stem + found[8]).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{stem}.{fraction}Z" if places else f"{stem}Z"


def _bytes(value: JSON, path: str, struct: str) -> str:
    if type(value) is str:
        try:
            binascii.a2b_base64(value, strict_mode=True)
        except binascii.Error:
            raise DecodeFailed(f"illegal base64 data at input byte {_bad_byte(value)}") from None
        return value
    raise _unfit(value, path, struct, "[]uint8")


def _bad_byte(value: str) -> int:
    found = re.search(r"[^A-Za-z0-9+/=]", value)
    return found.start() if found else len(value) - len(value) % 4


_SCALARS: dict[str, Callable[[JSON, str, str], JSON]] = {
    "quantity": _quantity,
    "time": _time,
    "microtime": _microtime,
    "bytes": _bytes,
}
