"""Markers: their effect on the schema of their place, or why they do not fit there."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar, get_args

import annotated_types as at
from msgspec.structs import replace
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python
from typing_extensions import Doc

from pyctrl.api import (
    EmbeddedResource,
    ExternalDocs,
    Format,
    ListType,
    MapType,
    Nullable,
    Pattern,
    PreserveUnknownFields,
    PropertyCount,
    Schemaless,
    SchemaMarker,
    SchemaType,
    ValidationRule,
)
from pyctrl.manifests._schema.annotations import AnnotatedType, annotated_type
from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.schema import Schema, Validation
from pyctrl.manifests._schema.wire_names import wire_names

__all__ = ["MarkerError", "apply_marker", "apply_markers"]

M = TypeVar("M", bound=SchemaMarker)


class MarkerError(Exception):
    """Raised when a marker does not fit its place."""


def apply_markers(schema: Schema, part: AnnotatedType, place: Location, problems: Problems) -> Schema:
    """Return the schema with the markers of a type applied; markers of whole fields must have been removed."""
    rules = tuple(validation(each) for each in part.beside if isinstance(each, ValidationRule))
    for each in part.beside:
        if isinstance(each, SchemaMarker):
            if not isinstance(each, ValidationRule):
                schema = apply_marker(schema, each, part, place, problems)
        elif isinstance(each, FieldInfo):
            schema = _described(schema, each)
        elif isinstance(each, Doc):
            schema = replace(schema, description=inspect.cleandoc(each.documentation))
        elif not _is_pydantics(each):
            problems.report(place, f"its metadata has {each!r}, which is not a marker", _call_it(each))
    return replace(schema, validations=(*rules, *schema.validations)) if rules else schema


def _call_it(each: object) -> str:
    if isinstance(each, type) and issubclass(each, SchemaMarker):
        return f"write {each.__name__}(…)"
    return "remove it"


def _is_pydantics(each: object) -> bool:
    """Return whether pydantic handles it: constraints are applied elsewhere, validators run in Python only."""
    if each is None or isinstance(each, (at.GroupedMetadata, at.BaseMetadata)):  # conint() adds None
        return True
    hooks = ("__get_pydantic_core_schema__", "__get_pydantic_json_schema__")
    return any(hasattr(each, hook) for hook in hooks) or type(each).__module__.startswith("pydantic")


def _described(schema: Schema, info: FieldInfo) -> Schema:
    """Return the schema with the title, description and examples of a ``Field(…)`` in the metadata."""
    if info.description:
        schema = replace(schema, description=inspect.cleandoc(info.description))
    if info.title:
        schema = replace(schema, title=info.title)
    return replace(schema, example=to_jsonable_python(info.examples[0])) if info.examples else schema


def apply_marker(
    schema: Schema, mark: SchemaMarker, part: AnnotatedType, place: Location, problems: Problems
) -> Schema:
    """Return the schema with one marker applied."""
    effect = _EFFECTS.get(type(mark))
    name = type(mark).__name__
    try:
        if effect is None:
            raise MarkerError("is for whole fields or for classes only")
        return effect(schema, mark, part)
    except MarkerError as why:
        problems.report(place, f"{name} {why}", "remove it")
        return schema


def validation(mark: ValidationRule) -> Validation:
    """Return a rule in the form of a schema."""
    return Validation(
        rule=mark.rule,
        message=mark.message,
        message_expression=mark.message_expression,
        reason=mark.reason,
        field_path=mark.field_path,
        optional_old_self=mark.optional_old_self,
    )


def _must_be(schema: Schema, *kinds: str) -> None:
    if schema.type not in kinds:
        found = schema.type or ("a whole number or text" if schema.int_or_string else "of no type")
        raise MarkerError(f"is for {' and '.join(kinds)}, and this is {found}")


def _format(schema: Schema, mark: Format, part: AnnotatedType) -> Schema:
    if schema.int_or_string and mark.name == "int-or-string":
        return schema  # identifies `IntOrString`; it is not a format of definitions
    if schema.type:
        _must_be(schema, "string", "integer", "number")
    return replace(schema, format=mark.name)


def _pattern(schema: Schema, mark: Pattern, part: AnnotatedType) -> Schema:
    if not schema.int_or_string:
        _must_be(schema, "string")
    return replace(schema, pattern=mark.regex)


def _list_type(schema: Schema, mark: ListType, part: AnnotatedType) -> Schema:
    _must_be(schema, "array")
    if mark.type not in ("atomic", "set", "map"):
        raise MarkerError(f"has the type {mark.type!r}; it is atomic, set or map")
    if bool(mark.keys) != (mark.type == "map"):
        raise MarkerError("has keys if and only if its type is map")
    keys = tuple(_key(key, part) for key in mark.keys)
    return replace(schema, list_type=mark.type, list_map_keys=keys)


def _key(key: str, part: AnnotatedType) -> str:
    args = get_args(part.type)
    item = annotated_type(args[0]).type if args else None
    if not (isinstance(item, type) and issubclass(item, BaseModel)):
        raise MarkerError("has keys, but the items are not models")
    names = wire_names(item)
    if key not in names:
        raise MarkerError(f"has the key {key!r}, and {item.__name__} has no such field: it has {', '.join(names)}")
    return names[key]


def _map_type(schema: Schema, mark: MapType, part: AnnotatedType) -> Schema:
    _must_be(schema, "object")
    if mark.type not in ("granular", "atomic"):
        raise MarkerError(f"has the type {mark.type!r}; it is granular or atomic")
    return replace(schema, map_type=mark.type)


def _nullable(schema: Schema, mark: Nullable, part: AnnotatedType) -> Schema:
    if schema.enum:
        raise MarkerError("has no effect on an enum, which cannot be null")
    return replace(schema, nullable=True)


def _external_docs(schema: Schema, mark: ExternalDocs, part: AnnotatedType) -> Schema:
    docs = {"url": mark.url} | ({"description": mark.description} if mark.description else {})
    return replace(schema, external_docs=docs)


def _embedded(schema: Schema, mark: EmbeddedResource, part: AnnotatedType) -> Schema:
    _must_be(schema, "object")
    if schema.additional_properties is not None:
        raise MarkerError("is for whole objects: a class, or a dict beside PreserveUnknownFields()")
    return replace(schema, embedded_resource=True)


def _preserve(schema: Schema, mark: PreserveUnknownFields, part: AnnotatedType) -> Schema:
    if schema.type == "array" and schema.items is not None and schema.items.preserve_unknown_fields:
        return schema  # it applied to the items
    if schema.type or schema.int_or_string:
        _must_be(schema, "object")
    if schema.additional_properties is not None:
        return _preserve_values(schema, schema.additional_properties)
    return replace(schema, preserve_unknown_fields=True)


def _preserve_values(schema: Schema, values: Schema) -> Schema:
    if values.type != "object":
        raise MarkerError("has no effect on a map with typed values")
    return replace(schema, additional_properties=replace(values, preserve_unknown_fields=True))


def _property_count(schema: Schema, mark: PropertyCount, part: AnnotatedType) -> Schema:
    _must_be(schema, "object")
    return replace(schema, min_properties=mark.minimum, max_properties=mark.maximum)


_EFFECTS: Mapping[type[SchemaMarker], Callable[[Schema, Any, AnnotatedType], Schema]] = MappingProxyType(
    {
        EmbeddedResource: _embedded,
        ExternalDocs: _external_docs,
        Format: _format,
        ListType: _list_type,
        MapType: _map_type,
        Nullable: _nullable,
        Pattern: _pattern,
        PreserveUnknownFields: _preserve,
        PropertyCount: _property_count,
        Schemaless: lambda schema, _mark, _part: schema,  # applied before all others
        SchemaType: lambda schema, _mark, _part: schema,
    }
)
