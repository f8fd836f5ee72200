"""Types that a schema declares, for msgspec, which checks all values of an object in one step."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypedDict

import msgspec

from pyctrl.apiserver._schema.schema import JSON, SchemaNode

__all__ = ["declared_type", "json_reader", "type_check"]

_BEGINNING = 256  # bytes, in which a text with spaces after its keys has one


def type_check(type: Any) -> Callable[[JSON], bool]:
    """Compile a function that returns whether a value is of a type of msgspec, without conversions."""

    def is_of_type(value: JSON) -> bool:
        try:
            msgspec.convert(value, type)
        except (msgspec.ValidationError, RecursionError):
            return False
        return True

    return is_of_type


def json_reader(type: Any) -> Callable[[bytes], JSON]:
    """Compile a function that decodes JSON as a value of a type of msgspec.

    It returns None for other values, and for JSON in which a member is unknown or a duplicate or which msgspec would
    write otherwise: encoded again, a value that it returns is the same text.
    """
    decode, encode = msgspec.json.Decoder(type).decode, msgspec.json.encode

    def read(data: bytes) -> JSON:
        if data.find(b'": ', 0, _BEGINNING) >= 0:
            return None  # most texts in another form have spaces
        try:
            value = decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return value if encode(value) == data else None

    return read


def declared_type(node: SchemaNode | None, ignored: Collection[str] = ()) -> Any:
    """Return the type of a node's values. Unknown keys are allowed, and any value where a schema declares no type.

    Args:
        ignored: Keys of the node whose values may be of any type.
    """
    found = Any if node is None else _type_of(node, ignored)
    return found | None if node is not None and node.nullable and found is not Any else found


def _type_of(node: SchemaNode, ignored: Collection[str]) -> Any:
    if node.int_or_string:
        return int | str
    if node.type == "array":
        return list[declared_type(node.items)]  # type: ignore[misc]
    if node.type != "object":
        return _SCALARS.get(node.type or "", Any)
    if not node.properties:
        return dict[str, declared_type(node.additional)]  # type: ignore[misc]
    types = {key: declared_type(each) for key, each in node.properties.items() if key not in ignored}
    return TypedDict("Object", {**dict.fromkeys(ignored, Any), **types}, total=False)  # type: ignore[operator]


_SCALARS: dict[str, Any] = {"string": str, "integer": int, "number": int | float, "boolean": bool}
