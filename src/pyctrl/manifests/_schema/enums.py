"""Enums and literals."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin

from msgspec.structs import replace

from pyctrl.manifests._schema.annotations import AnnotatedType
from pyctrl.manifests._schema.descriptions import describe_class
from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.scalars import INT_OR_STRING
from pyctrl.manifests._schema.schema import JSON, Schema

__all__ = ["enum_schema", "enum_values"]

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}  # bool first, as it is an int


def enum_values(annotation: Any) -> tuple[JSON, ...] | None:
    """Return the values of an Enum or a Literal; None for another type."""
    values: Iterable[Any]
    if get_origin(annotation) is Literal:
        values = get_args(annotation)
    elif isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        values = annotation
    else:
        return None
    plain = [each.value if isinstance(each, enum.Enum) else each for each in values]
    return tuple({(type(each), repr(each)): each for each in plain}.values())  # 1 and True are the same key of a dict


def enum_schema(part: AnnotatedType, place: Location, problems: Problems) -> Schema:
    """Return the schema of an Enum or a Literal: strings, numbers, or integers and strings."""
    if isinstance(part.type, type) and issubclass(part.type, enum.Flag):
        problems.report(place, "combined flags are not values of the enum", "use set[…] of an Enum")
        return Schema(type="integer")
    values = enum_values(part.type) or ()
    description = describe_class(part.type) if isinstance(part.type, type) else ""
    kinds = {next((name for base, name in _TYPES.items() if isinstance(value, base)), "") for value in values}
    if kinds == {"integer", "string"}:
        return replace(INT_OR_STRING, enum=values, description=description)
    if kinds == {"integer", "number"}:
        kinds = {"number"}
    if len(kinds) != 1 or "" in kinds:
        shown = ", ".join(map(repr, values))
        problems.report(
            place, f"the values {shown} do not have one type on the wire", "use texts only, or numbers only"
        )
    return Schema(type=kinds.pop() if kinds else "", enum=values, description=description)
