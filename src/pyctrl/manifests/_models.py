"""From a class with fields to the schema of an object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as replace_place
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from pyctrl.api import KubernetesObject, Model, NoServerDefault, Required

from ._descriptions import describe_class, describe_field
from ._marking import apply_marks
from ._places import Place, Problems
from ._schema import JSON, Schema
from ._types import schema_of

__all__ = ["kind_schema", "model_schema"]


def kind_schema(kind: type[KubernetesObject], problems: Problems) -> Schema:
    """Return the schema of a kind's objects."""
    schema = model_schema(kind, Place(kind), problems)
    properties = schema.properties | {
        "apiVersion": Schema(type="string"),
        "kind": Schema(type="string"),
        "metadata": Schema(type="object"),
    }
    return replace(schema, properties=properties)


def model_schema(cls: type[BaseModel], place: Place, problems: Problems, beside: Sequence[Any] = ()) -> Schema:
    """Return the schema of a class's objects, with the marks of the class."""
    if cls in place.within:
        way = " → ".join(each.__name__ for each in (*place.within[place.within.index(cls) :], cls))
        problems.report(place, f"{way} is recursive, and a schema has an end", "mark the field PreserveUnknownFields")
        return Schema(type="object", preserve_unknown_fields=True)
    inside = Place(cls, within=(*place.within, cls))
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for name, info in cls.model_fields.items():
        if info.exclude or (issubclass(cls, KubernetesObject) and name in ("api_version", "kind", "metadata")):
            continue
        wire = _wire_name(name, info)
        properties[wire] = _field(cls, name, info, replace_place(inside, field=name), problems)
        if _is_required(info):
            required.append(wire)
    schema = Schema(
        type="object", properties=properties, required=tuple(sorted(required)), description=describe_class(cls)
    )
    marks = [mark for each in reversed(cls.__mro__) if issubclass(each, Model) for mark in each.schema_marks]
    return apply_marks(schema, marks, cls, inside, problems)


def _wire_name(name: str, info: FieldInfo) -> str:
    return info.serialization_alias or info.alias or name


def _is_required(info: FieldInfo) -> bool:
    said = [each.required for each in info.metadata if isinstance(each, Required)]
    return said[-1] if said else info.is_required()


def _field(cls: type[BaseModel], name: str, info: FieldInfo, place: Place, problems: Problems) -> Schema:
    marks = [each for each in info.metadata if not isinstance(each, (Required, NoServerDefault))]
    schema = schema_of(info.annotation, place, problems, marks)
    if not info.is_required():
        schema = replace(schema, nullable=False)
        if not any(isinstance(each, NoServerDefault) for each in info.metadata) and name != "status":
            schema = replace(schema, default=_default(info))
    if description := describe_field(cls, name, info):
        schema = replace(schema, description=description)
    if info.title:
        schema = replace(schema, title=info.title)
    if info.examples:
        schema = replace(schema, example=to_jsonable_python(info.examples[0]))
    return schema


def _default(info: FieldInfo) -> JSON:
    value = info.get_default(call_default_factory=True, validated_data={})
    if value is None or value is PydanticUndefined or value in ([], {}, ""):
        return UNSET
    if isinstance(value, Model):
        return UNSET if not value.to_wire() else value.to_wire()
    return to_jsonable_python(value, by_alias=True, exclude_none=True)
