"""Checks that serializers write the types that the schema has; otherwise the server rejects the operator's writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, PlainSerializer, TypeAdapter, WrapSerializer
from pydantic.errors import PydanticUserError

from pyctrl.manifests._schema.annotations import AnnotatedType
from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.schema import Schema
from pyctrl.manifests._schema.wire_names import wire_names

__all__ = ["check_class_serializers", "check_serializer"]

_CURE = "set the type with SchemaType(…), or remove the serializer"


def check_serializer(schema: Schema, part: AnnotatedType, place: Location, problems: Problems) -> None:
    """Report a serializer in a type's metadata that writes another type than the schema has."""
    if any(isinstance(each, (PlainSerializer, WrapSerializer)) for each in part.beside):
        adapter: Any = TypeAdapter
        _compare(schema, _serialized_schema(adapter(Annotated[(part.type, *part.beside)])), place, problems)


def check_class_serializers(
    cls: type[BaseModel], properties: Mapping[str, Schema], place: Location, problems: Problems
) -> None:
    """Report serializers of a class that write other types than its schema has."""
    writers = cls.__pydantic_decorators__
    if writers.model_serializers:
        what = "a model_serializer writes the object, but the schema is generated from the fields"
        problems.report(place, what, "declare the fields as they are on the wire")
    names = wire_names(cls)
    written = _serialized_schema(TypeAdapter(cls)).get("properties", {}) if writers.field_serializers else {}
    for name in {each for writer in writers.field_serializers.values() for each in writer.info.fields}:
        if (wire := names.get(name, "")) in properties:
            _compare(properties[wire], written.get(wire, {}), replace(place, field=name), problems)


def _serialized_schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    try:
        schema: dict[str, Any] = adapter.json_schema(mode="serialization", by_alias=True)
    except (PydanticUserError, TypeError, ValueError):
        return {}  # unknown
    reference = str(schema.get("$ref", "")).rpartition("/")[2]
    return schema["$defs"][reference] if reference else schema


def _compare(schema: Schema, written: dict[str, Any], place: Location, problems: Problems) -> None:
    kind = written.get("type", schema.type)
    if schema.type and kind != schema.type and (schema.type, kind) != ("number", "integer"):
        problems.report(place, f"it is read as {schema.type} and written as {kind}", _CURE)
