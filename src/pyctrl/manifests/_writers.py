"""Serializers: what Python writes has to be what the schema says, or the server refuses what the operator writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, PlainSerializer, TypeAdapter, WrapSerializer
from pydantic.errors import PydanticUserError

from pyctrl.manifests._parts import Part
from pyctrl.manifests._places import Place, Problems
from pyctrl.manifests._schema import Schema
from pyctrl.manifests._wire_names import wire_names

__all__ = ["check_written", "refuse_writers"]

_CURE = "say what is on the wire with SchemaType(…) beside it, or take the serializer away"


def check_written(schema: Schema, part: Part, place: Place, problems: Problems) -> None:
    """Report a type that a serializer beside it writes as another one than the schema has."""
    if any(isinstance(each, (PlainSerializer, WrapSerializer)) for each in part.beside):
        adapter: Any = TypeAdapter
        _compare(schema, _written(adapter(Annotated[(part.type, *part.beside)])), place, problems)


def refuse_writers(cls: type[BaseModel], properties: Mapping[str, Schema], place: Place, problems: Problems) -> None:
    """Report the serializers of a class that write something else than its schema has."""
    writers = cls.__pydantic_decorators__
    if writers.model_serializers:
        what = "a model_serializer writes the object, and the schema is made of the fields"
        problems.report(place, what, "let the fields be what is on the wire")
    names = wire_names(cls)
    told = _written(TypeAdapter(cls)).get("properties", {}) if writers.field_serializers else {}
    for name in {each for writer in writers.field_serializers.values() for each in writer.info.fields}:
        if (wire := names.get(name, "")) in properties:
            _compare(properties[wire], told.get(wire, {}), replace(place, field=name), problems)


def _written(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    try:
        schema: dict[str, Any] = adapter.json_schema(mode="serialization", by_alias=True)
    except (PydanticUserError, TypeError, ValueError):
        return {}  # nobody can tell
    reference = str(schema.get("$ref", "")).rpartition("/")[2]
    return schema["$defs"][reference] if reference else schema


def _compare(schema: Schema, written: dict[str, Any], place: Place, problems: Problems) -> None:
    kind = written.get("type", schema.type)
    if schema.type and kind != schema.type and (schema.type, kind) != ("number", "integer"):
        problems.report(place, f"it is read as {schema.type} and written as {kind}", _CURE)
