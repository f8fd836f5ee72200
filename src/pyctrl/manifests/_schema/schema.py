"""Structural schemas: the fields of `JSONSchemaProps` that a structural schema may have, and no others."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

__all__ = ["JSON", "Schema", "Validation", "sort_keys"]

JSON: TypeAlias = Any  # a decoded JSON value


class Validation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One of ``x-kubernetes-validations``."""

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool = False


_EXTENSIONS = {
    "preserve_unknown_fields": "x-kubernetes-preserve-unknown-fields",
    "embedded_resource": "x-kubernetes-embedded-resource",
    "int_or_string": "x-kubernetes-int-or-string",
    "list_type": "x-kubernetes-list-type",
    "list_map_keys": "x-kubernetes-list-map-keys",
    "map_type": "x-kubernetes-map-type",
    "validations": "x-kubernetes-validations",
    "not_": "not",
}


def _wire(name: str) -> str:
    first, *rest = name.split("_")
    return _EXTENSIONS.get(name) or first + "".join(map(str.capitalize, rest))


class Schema(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename=_wire):
    """The schema of one place in an object.

    Immutable; use `msgspec.structs.replace` to change it. ``UNSET`` means that there is no default.
    """

    type: str = ""
    format: str = ""
    title: str = ""
    description: str = ""
    default: JSON | UnsetType = UNSET
    example: JSON | UnsetType = UNSET
    external_docs: dict[str, str] | None = None
    nullable: bool = False
    enum: tuple[JSON, ...] = ()
    minimum: int | float | None = None
    maximum: int | float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: int | float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str = ""
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None
    properties: dict[str, Schema] = {}
    required: tuple[str, ...] = ()
    additional_properties: Schema | None = None
    items: Schema | None = None
    all_of: tuple[Schema, ...] = ()
    any_of: tuple[Schema, ...] = ()
    one_of: tuple[Schema, ...] = ()
    not_: Schema | None = None
    preserve_unknown_fields: bool = False
    embedded_resource: bool = False
    int_or_string: bool = False
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = ""
    validations: tuple[Validation, ...] = ()

    def to_wire(self) -> dict[str, JSON]:
        """Return the schema as JSON, its keys in order."""
        wire: dict[str, JSON] = sort_keys(msgspec.to_builtins(self))
        return wire


def sort_keys(value: JSON) -> JSON:
    """Return a copy of a JSON value with sorted keys, as controller-gen writes them."""
    if isinstance(value, dict):
        return {key: sort_keys(value[key]) for key in sorted(value)}
    return [sort_keys(item) for item in value] if isinstance(value, (list, tuple)) else value
