"""Decoder of built-in kinds that behaves as kube-apiserver's Go types: the same errors and the same normal form.

A built-in object that is decoded to Go types and encoded again loses unknown fields, nulls and empty optional lists,
gets the zeros that are always written (`status: {}`), and has quantities and times in canonical form. `decode` does all
of that and reports unknown fields.
"""

from __future__ import annotations

import binascii
import contextlib
import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import TypeGuard

from pyctrl._go.base64_decoding import CorruptBase64, canonical_base64
from pyctrl._go.times import parse_rfc3339, parse_rfc3339_micro
from pyctrl.api import Quantity
from pyctrl.apiserver._schema.go_types import go_path
from pyctrl.apiserver._schema.schema import JSON, Reader, SchemaNode
from pyctrl.errors import QuantityError

__all__ = ["DecodeFailed", "decode", "empty"]


_JSON_KINDS = {str: "string", bool: "bool", int: "number", float: "number", dict: "object", list: "array"}
_CONVERTED = {str: "string", bool: "bool", int: "int64", float: "float64", list: "slice"}
_PLAIN_KINDS = ("int32", "int64", "float64", "bool")
_IS_CANONICAL = re.compile(r"(0|[1-9]\d{0,2})([kMGTPE]|[KMGTPE]i|m)?\Z")
_CANONICAL_TIME = re.compile(
    r"(?!0000)[0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{6})?Z"
)
#: Fields whose empty value is refused, with other errors or defaults than an absent one.
_REFUSED_IF_EMPTY = frozenset((("HPAScalingRules", "policies"), ("PersistentVolumeSpec", "capacity")))
#: Structs without fields. Other types without any in the documents hold raw JSON.
_EMPTY_STRUCTS = frozenset(("CustomResourceSubresourceStatus",))


class DecodeFailed(Exception):
    """Raised for a value that does not match the Go type. The message is that of Go's JSON decoder.

    The path is added while the exception propagates to the root, so that valid values cost nothing.
    """

    def __init__(self, *words: str) -> None:
        super().__init__(*words)
        self._keys: list[str | int] = []

    @property
    def place(self) -> tuple[str | int, ...]:
        """The keys and indexes from the root to the value, which most messages do not have."""
        return tuple(reversed(self._keys))

    def add_key(self, key: str | int) -> None:
        """Add the map key or list index above the value to the path."""
        self._keys.append(key)

    def add_field(self, key: str, struct: str) -> None:
        """Add the field above the value, of a struct, to the path."""
        self._keys.append(key)

    @property
    def converted(self) -> str:
        """The message of Kubernetes' unstructured converter, which patches and applies use instead of JSON."""
        return str(self)

    @property
    def wrapped(self) -> int | None:
        """The integer that the converter makes of a number of more than 32 bits, or of a whole float; or None."""
        return None

    def with_number(self, text: str) -> str:
        """Return the message with a number as the client wrote it; only floats have more than one text."""
        return str(self)


class _InvalidBase64(DecodeFailed):
    @property
    def converted(self) -> str:
        return f"error decoding from json: {self}"


class _UnmarshalTypeError(DecodeFailed):
    """Raised for a value of the wrong type."""

    def __init__(self, value: JSON, wanted: str, *, with_number: bool = False, of: SchemaNode | None = None) -> None:
        super().__init__()
        self._value = value
        self._is_struct = of is not None and bool(of.properties)
        self._is_read_from_json = of is None
        shown = _JSON_KINDS.get(type(value), "null")
        self._value_kind = f"number {value}" if with_number and shown == "number" else shown
        self._wanted = wanted
        self._path: list[str] = []
        self._struct = ""

    @property
    def converted(self) -> str:
        value, wanted = self._value, self._wanted
        kind = _CONVERTED.get(type(value), "map")
        if wanted.startswith("[]"):
            return f"cannot restore slice from {kind}"
        if wanted.startswith("map["):
            return f"cannot restore map from {kind}"
        if self._is_struct:
            return f"cannot restore struct from: {kind}"
        if self._is_read_from_json:
            return f"json: cannot unmarshal {self._value_kind} into Go value of type {wanted}"
        is_number = wanted in ("int32", "int64", "float64")
        if (kind == "float64" and is_number) or (kind == "int64" and wanted != "bool"):
            return f"cannot convert {kind} to {wanted}"
        return f"unrecognized type: {wanted if wanted in _PLAIN_KINDS else 'string'}"

    @property
    def wrapped(self) -> int | None:
        value = self._value
        if self._wanted in ("int32", "int64") and type(value) is float and value.is_integer() and abs(value) < 1 << 31:
            return int(value)
        if self._is_read_from_json or self._wanted != "int32" or type(value) is not int:
            return None
        if not -(1 << 63) <= value < 1 << 63:
            return None
        return (value + (1 << 31)) % (1 << 32) - (1 << 31)

    def with_number(self, text: str) -> str:
        if type(self._value) is float and self._value_kind != "number":
            self._value_kind = f"number {text}"
        return str(self)

    def add_field(self, key: str, struct: str) -> None:
        """Add the field to the message too, which has no map keys and indexes."""
        super().add_field(key, struct)
        self._path.append(go_path(struct, key))
        self._struct = self._struct or struct

    def __str__(self) -> str:
        path = ".".join(reversed(self._path))
        where = f"struct field {self._struct}.{path}" if path else "value"
        return f"json: cannot unmarshal {self._value_kind} into Go {where} of type {self._wanted}"


def decode(node: SchemaNode, value: JSON, unknown: list[str], kept: Collection[str] = ()) -> JSON:
    """Return the value as Go's type would encode it; paths of unknown fields are added to `unknown`.

    Args:
        kept: Fields of the value that were decoded before.
    """
    found: list[str] = []
    read = _object(node, {key: each for key, each in value.items() if key not in kept} if kept else value, found)
    if kept:  # in the order of the value
        read = {**{key: value[key] for key in value if key in kept or key in read}, **read}
        read.update({key: value[key] for key in kept})
    unknown.extend(each[1:] for each in found)  # without the first dot
    return read


def empty(node: SchemaNode) -> dict[str, JSON]:
    """Return Go's encoding of a struct's zero value, which created objects are compared with."""
    return _filled(node, {})


def _read(node: SchemaNode, value: JSON, unknown: list[str]) -> JSON:
    """Decode a value with the reader of its node, which is set at first use."""
    if node.read is None:
        node.read = _reader_of(node)
    return node.read(node, value, unknown)


def _reader_of(node: SchemaNode) -> Reader:
    if node.go is not None and node.go.scalar:
        return _SCALARS[node.go.scalar]
    if node.go is not None and node.go.struct in _EMPTY_STRUCTS:
        return _empty_struct
    if node.int_or_string:
        return _int_or_string
    if node.open or (node.type is None and not node.properties):
        return _unchanged
    if node.type == "array":
        return _array
    if node.type == "object" or node.properties:
        return _object
    return _PLAIN[node.type]


def _object(node: SchemaNode, value: JSON, unknown: list[str]) -> JSON:
    if type(value) is not dict:
        if node.go is not None and node.go.also is type(value):
            return value
        raise _type_error(node, value)
    properties = node.properties
    if node.additional is not None and not properties:
        return _map(node.additional, value, unknown)
    written: dict[str, JSON] = {}
    for key, item in value.items():
        field = properties.get(key)
        if field is None:
            unknown.append(f".{key}")
        elif item is not None:
            reader = field.read or _read
            if reader is _string and item and type(item) is str:
                written[key] = item  # fast path: as most fields
                continue
            known = len(unknown)
            try:
                read = reader(field, item, unknown)
            except DecodeFailed as failed:
                failed.add_field(key, node.go.struct if node.go else "")
                raise
            if len(unknown) > known:
                unknown[known:] = [f".{key}{each}" for each in unknown[known:]]
            if read or not _is_dropped(field, read) or _is_told_from_absent(node, key):
                written[key] = read
    return _filled(node, written)


def _empty_struct(node: SchemaNode, value: JSON, unknown: list[str]) -> JSON:
    if type(value) is not dict:
        raise _type_error(node, value)
    unknown.extend(f".{key}" for key in value)
    return {}


def _filled(node: SchemaNode, written: dict[str, JSON]) -> dict[str, JSON]:
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


def _is_dropped(field: SchemaNode, value: JSON) -> bool:
    if value is False or value == "" or value == 0:
        return field.go is not None and (field.go.drop_zero or field.go.scalar == "bytes")
    return (value == [] or value == {}) and not field.properties and not field.open


def _is_told_from_absent(node: SchemaNode, key: str) -> bool:
    """Return whether an empty list is another value than none until the object is stored."""
    if node.go is None:
        return key == "managedFields"
    return key == "managedFields" or (key, None) in node.go.zeros or (node.go.struct, key) in _REFUSED_IF_EMPTY


def _map(item: SchemaNode, value: dict[str, JSON], unknown: list[str]) -> JSON:
    if item.type == "string" and item.go and not item.go.scalar:
        for key, each in value.items():
            if type(each) is not str and each is not None:
                error = _type_error(item, each)
                error.add_key(key)
                raise error
        return {key: each or "" for key, each in value.items()}
    written: dict[str, JSON] = {}
    for key, each in value.items():
        known = len(unknown)
        try:
            written[key] = _read_or_zero(item, each, unknown)
        except DecodeFailed as failed:
            failed.add_key(key)
            raise
        unknown[known:] = [f".{key}{each}" for each in unknown[known:]]
    return written


def _array(node: SchemaNode, value: JSON, unknown: list[str]) -> JSON:
    if type(value) is not list:
        raise _type_error(node, value)
    item = node.items
    if item is None:
        return value
    written: list[JSON] = []
    for each in value:
        known = len(unknown)
        try:
            read = _read_or_zero(item, each, unknown)
        except DecodeFailed as failed:
            failed.add_key(len(written))
            raise
        if len(unknown) > known:
            unknown[known:] = [f"[{len(written)}]{field}" for field in unknown[known:]]
        written.append(read)
    return written


def _read_or_zero(node: SchemaNode, value: JSON, unknown: list[str]) -> JSON:
    """Decode an item of a list or map; a null is the zero of its type."""
    if value is not None:
        return (node.read or _read)(node, value, unknown)
    if node.properties:
        return _filled(node, {})
    if node.go is not None and node.go.scalar == "quantity":
        return "0"
    return {"string": "", "integer": 0, "number": 0, "boolean": False}.get(node.type or "")


def _type_error(node: SchemaNode, value: JSON) -> _UnmarshalTypeError:
    wanted = node.go.name if node.go and node.go.name else "map[string]interface {}"
    return _UnmarshalTypeError(value, wanted, with_number=node.type == "integer", of=node)


# -- plain scalars -----------------------------------------------------------------------------------------------


def _unchanged(node: SchemaNode, value: JSON, unknown: list[str]) -> JSON:
    return value


def _string(node: SchemaNode, value: JSON, unknown: list[str]) -> JSON:
    if type(value) is str:
        return value
    raise _type_error(node, value)


def _boolean(node: SchemaNode, value: JSON, unknown: list[str]) -> JSON:
    if type(value) is bool:
        return value
    raise _type_error(node, value)


def _number(node: SchemaNode, value: JSON, unknown: list[str]) -> JSON:
    if type(value) in (int, float):
        return value
    raise _type_error(node, value)


def _integer(node: SchemaNode, value: JSON, unknown: list[str]) -> JSON:
    bits = 31 if node.go and node.go.name == "int32" else 63
    if type(value) is int and -(1 << bits) <= value < 1 << bits:
        return value
    raise _type_error(node, value)


_PLAIN: dict[str | None, Reader] = {"string": _string, "boolean": _boolean, "number": _number, "integer": _integer}


# -- scalars with a canonical form -------------------------------------------------------------------------------


def _int_or_string(node: SchemaNode, value: JSON, unknown: list[str]) -> JSON:
    if type(value) is str or (type(value) is int and -(1 << 31) <= value < 1 << 31):
        return value
    raise _UnmarshalTypeError(value, "int32", with_number=True)


def _quantity(node: SchemaNode, value: JSON, unknown: list[str]) -> str:
    if type(value) in (str, int, float):
        text = value if isinstance(value, str) else str(value)
        if _IS_CANONICAL.match(text):
            return text
        with contextlib.suppress(QuantityError):
            return Quantity(text).canonical()
    raise DecodeFailed("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")


def _time(node: SchemaNode, value: JSON, unknown: list[str]) -> str:
    """Return a time in RFC 3339, in seconds and UTC."""
    if _is_canonical(value, length=20):
        return value  # nearly always
    return f"{_parsed_time(value, parse_rfc3339).isoformat(timespec='seconds')}Z"


def _microtime(node: SchemaNode, value: JSON, unknown: list[str]) -> str:
    if _is_canonical(value, length=27):
        return value
    return f"{_parsed_time(value, parse_rfc3339_micro).isoformat(timespec='microseconds')}Z"


def _is_canonical(value: JSON, *, length: int) -> TypeGuard[str]:
    """Return whether a value is a time as it is stored: parsing takes thirty times as long."""
    return type(value) is str and len(value) == length and _CANONICAL_TIME.fullmatch(value) is not None


def _parsed_time(value: JSON, parse: Callable[[str], datetime]) -> datetime:
    """Return a time in UTC."""
    if type(value) is not str:
        raise _UnmarshalTypeError(value, "string")
    try:
        return parse(value).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError) as error:
        raise DecodeFailed(str(error)) from None


def _bytes(node: SchemaNode, value: JSON, unknown: list[str]) -> str:
    if type(value) is str:
        try:
            return canonical_base64(value)
        except CorruptBase64 as corrupt:
            raise _InvalidBase64(f"illegal base64 data at input byte {corrupt.offset}") from None
    if type(value) is list and all(type(each) is int and 0 <= each < 256 for each in value):
        return binascii.b2a_base64(bytes(value), newline=False).decode()
    raise _UnmarshalTypeError(value, "[]uint8")


_SCALARS: dict[str, Reader] = {
    "quantity": _quantity,
    "time": _time,
    "microtime": _microtime,
    "bytes": _bytes,
}
