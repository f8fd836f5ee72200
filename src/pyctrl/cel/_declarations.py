"""CEL types of structural schemas: the fields that an expression can select and the maximum size of values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyctrl.cel._types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    FieldType,
    Type,
    list_of,
    map_of,
)

__all__ = ["DeclType", "schema_decl_type"]


REQUEST_BYTES: Final = 3 * 1024 * 1024  # kube-apiserver's limit on the size of a request
_RESERVED = frozenset(
    [
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"),
        *("let", "loop", "package", "namespace", "return", "var", "void", "while"),
    ]
)
_ESCAPABLE = re.compile(r"[a-zA-Z_./-][a-zA-Z0-9_./-]*")
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
#: Format of a string -> its type and the minimum and maximum size of its JSON.
_FORMATS: Mapping[str, tuple[Type, int, int]] = {
    "duration": (DURATION, 3, 32),
    "date": (TIMESTAMP, 12, 12),
    "date-time": (TIMESTAMP, 21, 32),
}
_SCALARS = {"boolean": (BOOL, 4), "number": (DOUBLE, 1), "integer": (INT, 1)}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DeclType:
    """The CEL type of a schema.

    Args:
        max_elements: Maximum number of items, properties or bytes of a value; None for a type without a size.
        min_bytes: Size of the smallest value as JSON.
        item: The type of the items of a list or the values of a map.
        fields: The types of an object's fields by their escaped names.
    """

    type: Type
    min_bytes: int
    max_elements: int | None = None
    item: DeclType | None = None
    fields: Mapping[str, DeclType] = field(default_factory=dict)

    @property
    def max_cardinality(self) -> int:
        """The number of values of this type that fit into one request."""
        return REQUEST_BYTES // (self.min_bytes + 1)


def schema_decl_type(schema: Mapping[str, Any], name: str, *, is_resource: bool = False) -> DeclType | None:
    """Return the CEL type of a schema; None for a schema without a type, whose values expressions cannot access.

    Args:
        schema: A structural schema.
        name: The name of its type in messages.
        is_resource: The schema is the root or an embedded resource, which always has kind, apiVersion and metadata.
    """
    if schema.get("x-kubernetes-int-or-string"):
        return DeclType(type=DYN, min_bytes=1, max_elements=_max_bytes(schema, REQUEST_BYTES - 2))
    kind = schema.get("type")
    if kind == "array":
        return _list(schema, name)
    if kind == "object":
        additional = schema.get("additionalProperties")
        if isinstance(additional, Mapping):
            return _map(schema, additional, name)
        return _object(schema, name, is_resource=is_resource)
    if kind == "string":
        return _string(schema)
    if kind in _SCALARS:
        scalar, min_bytes = _SCALARS[kind]
        return DeclType(type=scalar, min_bytes=min_bytes)
    return None


def _child_type(schema: Mapping[str, Any], name: str) -> DeclType | None:
    return schema_decl_type(schema, name, is_resource=bool(schema.get("x-kubernetes-embedded-resource")))


def _limit(schema: Mapping[str, Any], key: str, otherwise: int) -> int:
    given = schema.get(key)
    return otherwise if given is None else max(int(given), 0)


def _list(schema: Mapping[str, Any], name: str) -> DeclType | None:
    items = schema.get("items")
    item = _child_type(items, f"{name}.@idx") if isinstance(items, Mapping) else None
    if item is None:
        return None
    max_elements = _limit(schema, "maxItems", (REQUEST_BYTES - 2) // (item.min_bytes + 1))
    return DeclType(type=list_of(item.type), min_bytes=2, max_elements=max_elements, item=item)


def _map(schema: Mapping[str, Any], values: Mapping[str, Any], name: str) -> DeclType | None:
    item = _child_type(values, f"{name}.@elem")
    if item is None:
        return None
    max_elements = _limit(schema, "maxProperties", (REQUEST_BYTES - 2) // (item.min_bytes + 6))
    return DeclType(type=map_of(STRING, item.type), min_bytes=2, max_elements=max_elements, item=item)


_NAMES: Mapping[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
}
_RESOURCE: Mapping[str, Any] = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": _NAMES}


def _has_resource_fields(properties: Mapping[str, Any]) -> bool:
    """Return whether a schema declares all the fields that expressions can access in each resource."""
    metadata = properties.get("metadata") or {}
    names = metadata.get("properties") or {}
    texts = [properties.get("apiVersion"), properties.get("kind"), names.get("name"), names.get("generateName")]
    return metadata.get("type") == "object" and all(each and each.get("type") == "string" for each in texts)


def _object(schema: Mapping[str, Any], name: str, *, is_resource: bool) -> DeclType:
    properties: dict[str, Any] = dict(schema.get("properties") or {})
    if is_resource and not _has_resource_fields(properties):
        properties |= _RESOURCE
    needed = frozenset(schema.get("required") or ())
    fields: dict[str, DeclType] = {}
    types: dict[str, FieldType] = {}
    min_bytes = 2
    for key, each in properties.items():
        found = _child_type(each, f"{name}.{key}")
        if found is None:
            continue
        names = _escaped(key)
        types |= dict.fromkeys(names, FieldType(key, found.type))
        fields |= dict.fromkeys(names[-1:], found)
        if key in needed and each.get("default") is None:
            min_bytes += len(key.encode()) + found.min_bytes + 4
    return DeclType(type=Type("object", name, (), types), min_bytes=min_bytes, fields=fields)


def _escaped(key: str) -> tuple[str, ...]:
    """Return the names of a property in expressions: none if it cannot be escaped, two for a reserved word."""
    if key in _RESERVED:
        return key, f"__{key}__"
    if not _ESCAPABLE.fullmatch(key):
        return ()
    return (re.sub(r"__|[./-]", lambda found: _ESCAPES[found[0]], key),)


def _string(schema: Mapping[str, Any]) -> DeclType:
    form = schema.get("format") or ""
    if form in _FORMATS:
        kind, min_bytes, max_elements = _FORMATS[form]
        return DeclType(type=kind, min_bytes=min_bytes, max_elements=max_elements)
    max_elements = REQUEST_BYTES - 2
    if form == "byte":
        return DeclType(type=BYTES, min_bytes=2, max_elements=_limit(schema, "maxLength", max_elements))
    if schema.get("enum"):
        max_elements = max(len(each.encode()) if isinstance(each, str) else 0 for each in schema["enum"])
    return DeclType(type=STRING, min_bytes=2, max_elements=_max_bytes(schema, max_elements))


def _max_bytes(schema: Mapping[str, Any], otherwise: int) -> int:
    """Return the maximum size of a string: `maxLength` counts characters of up to four bytes."""
    return 4 * _limit(schema, "maxLength", 0) if schema.get("maxLength") is not None else otherwise
