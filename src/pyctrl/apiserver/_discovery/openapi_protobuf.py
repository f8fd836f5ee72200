"""Definitions of the OpenAPI v2 document as protobuf, the only form of it that kubectl requests.

The field numbers are those of gnostic's `openapiv2/OpenAPIv2.proto`. Paths are left out: clients read them from v3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import yaml

from pyctrl._protobuf_wire import WireType
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["document_as_protobuf"]

_SWAGGER, _INFO, _DEFINITIONS = 1, 2, 9  # of Document
_TITLE, _VERSION = 1, 2  # of Info
_NAME, _VALUE = 1, 2  # of NamedSchema and NamedAny
_YAML: Final = 2  # of Any
_EXTENSION: Final = 31  # of Schema, as are the numbers below


def document_as_protobuf(document: Mapping[str, JSON]) -> bytes:
    """Encode a v2 document."""
    info = _text(_TITLE, document["info"]["title"]) + _text(_VERSION, document["info"]["version"])
    definitions = _named(document["definitions"])
    return _text(_SWAGGER, document["swagger"]) + _field(_INFO, info) + _field(_DEFINITIONS, definitions)


def _named(schemas: Mapping[str, JSON]) -> bytes:
    entries = (_text(_NAME, name) + _field(_VALUE, _schema(schema)) for name, schema in schemas.items())
    return b"".join(_field(1, entry) for entry in entries)


def _schema(schema: JSON) -> bytes:
    return b"".join(_parts(schema))


def _parts(schema: Mapping[str, JSON]) -> Iterator[bytes]:
    for key, value in schema.items():
        write = _WRITERS.get(key)
        if write is not None:
            yield write(value)
        elif key.startswith("x-"):
            yield _field(_EXTENSION, _text(_NAME, key) + _field(_VALUE, _any(value)))


def _any(value: JSON) -> bytes:
    return _text(_YAML, yaml.safe_dump(value, sort_keys=True).removesuffix("...\n"))


def _additional(value: JSON) -> bytes:
    item = _flag(2, value) if isinstance(value, bool) else _field(1, _schema(value))
    return _field(21, item)


def _repeated(number: int, values: Iterable[bytes]) -> bytes:
    return b"".join(_field(number, value) for value in values)


_WRITERS: dict[str, Callable[[JSON], bytes]] = {
    "$ref": lambda value: _text(1, value),
    "format": lambda value: _text(2, value),
    "title": lambda value: _text(3, value),
    "description": lambda value: _text(4, value),
    "pattern": lambda value: _text(13, value),
    "required": lambda value: _repeated(19, (each.encode() for each in value)),
    "enum": lambda value: _repeated(20, map(_any, value)),
    "additionalProperties": _additional,
    "type": lambda value: _field(22, _text(1, value)),
    "items": lambda value: _field(23, _field(1, _schema(value))),
    "properties": lambda value: _field(25, _named(value)),
}


def _text(number: int, text: str) -> bytes:
    return _field(number, text.encode())


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | WireType.BYTES) + _varint(len(data)) + data


def _flag(number: int, value: bool) -> bytes:
    return _varint(number << 3 | WireType.VARINT) + _varint(int(value))


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)
