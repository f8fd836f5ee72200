"""Schemas of model classes."""

from __future__ import annotations

import re
from dataclasses import replace as replace_place
from typing import Annotated, Any, get_args

from msgspec.structs import replace
from pydantic import BaseModel, RootModel
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import SchemaError, to_jsonable_python

from pyctrl.api import (
    Condition,
    Immutable,
    KubernetesObject,
    MapType,
    MetadataName,
    Model,
    NoServerDefault,
    PropertyCount,
    Required,
    ServerDefault,
)
from pyctrl.manifests._schema.annotations import (
    AnnotatedType,
    annotated_type,
    field_metadata,
    first_metadata,
    has_metadata,
)
from pyctrl.manifests._schema.builtin import builtin_schema
from pyctrl.manifests._schema.class_markers import IMMUTABLE, apply_class_markers, markers_of, set_once
from pyctrl.manifests._schema.defaults import default_of
from pyctrl.manifests._schema.descriptions import describe_class, describe_field
from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.python_types import schema_of, schema_of_annotated
from pyctrl.manifests._schema.schema import Schema
from pyctrl.manifests._schema.serializers import check_class_serializers
from pyctrl.manifests._schema.wire_names import wire_name

__all__ = ["kind_schema", "model_schema"]

_SKIPPED: Any = SkipJsonSchema  # type checkers do not see a class
_TYPE_META = ("api_version", "kind", "metadata")
_OF_FIELDS = (Immutable, NoServerDefault, Required, ServerDefault)


def kind_schema(kind: type[KubernetesObject], problems: Problems) -> Schema:
    """Return the schema of a kind's objects."""
    schema = model_schema(kind, Location(kind), problems, is_root=True)
    metadata = Schema(type="object")
    for mark in markers_of(kind):
        if isinstance(mark, (MapType, PropertyCount)):
            what = f"{type(mark).__name__} does not apply to a whole object"
            problems.report(Location(kind), what, "put it on the class of spec")
        elif isinstance(mark, MetadataName):
            name = Schema(type="string", pattern=mark.pattern, min_length=mark.min_length, max_length=mark.max_length)
            metadata = replace(metadata, properties={"name": name})
    text = Schema(type="string")
    return replace(schema, properties=schema.properties | {"apiVersion": text, "kind": text, "metadata": metadata})


def model_schema(cls: type[BaseModel], place: Location, problems: Problems, *, is_root: bool = False) -> Schema:
    """Return the schema of a class's objects, with the markers of the class."""
    if (found := builtin_schema(cls)) is not None:
        return found
    if cls in place.within:
        way = " → ".join(each.__name__ for each in (*place.within[place.within.index(cls) :], cls))
        cure = "let the field be Annotated[dict[str, Any], PreserveUnknownFields()]"
        problems.report(place, f"{way} is recursive, which a schema cannot express", cure)
        return Schema(type="object", preserve_unknown_fields=True)
    inside = Location(cls, within=(*place.within, cls))
    if not cls.__pydantic_complete__:
        try:
            cls.model_rebuild()
        except (PydanticUserError, SchemaError, NameError) as error:  # for example of an undefined name
            _report_incomplete(error, inside, problems)
            return Schema(type="object", preserve_unknown_fields=True)
    if issubclass(cls, RootModel):
        root = cls.model_fields["root"]
        beside = field_metadata(root)
        schema = schema_of(Annotated[(root.annotation, *beside)] if beside else root.annotation, inside, problems)
    else:
        schema = _object(cls, inside, problems, is_root=is_root)
    if description := describe_class(cls):
        schema = replace(schema, description=description)
    if title := cls.model_config.get("title"):
        schema = replace(schema, title=title)
    return apply_class_markers(schema, cls, inside, problems)


def _report_incomplete(error: Exception, place: Location, problems: Problems) -> None:
    where, text = _unfinished(place, getattr(error, "name", "")), " ".join(str(error).split())
    if plain := re.search(r"pydantic-core schema for <class '(?:[\w.]+\.)?(\w+)'>", text):
        problems.report(where, f"{plain[1]} has no schema", f"write class {plain[1]}(Model), if the class is yours")
        return
    what = text.partition(" For further information")[0].rpartition("SchemaError: ")[2]
    problems.report(where, f"pydantic cannot build the model: {what}")


def _unfinished(place: Location, name: str) -> Location:
    """Return the class below the place, and its field, whose annotation uses a name."""
    for field, annotation in getattr(place.cls, "__annotations__", {}).items():
        if name and isinstance(annotation, str) and re.search(rf"\b{re.escape(name)}\b", annotation):
            return replace_place(place, field=field)
    for info in getattr(place.cls, "__pydantic_fields__", {}).values():
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel) and not inner.__pydantic_complete__:
            found = _unfinished(Location(inner), name)
            if found.field:
                return found
    return place


def _object(cls: type[BaseModel], place: Location, problems: Problems, *, is_root: bool) -> Schema:
    properties: dict[str, Schema] = {}
    required: list[str] = []
    rules = []
    _check_unused_markers(cls, place, problems)
    for name, info in cls.model_fields.items():
        part = annotated_type(info.annotation, field_metadata(info))
        if _is_left_out(cls, name, part, is_root=is_root):
            continue
        wire = _named(name, info, properties, replace_place(place, field=name), problems)
        properties[wire] = _field(cls, name, part, replace_place(place, field=name), problems, is_root=is_root)
        if _is_required(info, part):
            required.append(wire)
        elif has_metadata(Immutable, part.beside):
            rules.append(set_once(wire))
    check_class_serializers(cls, properties, place, problems)
    preserves = not issubclass(cls, Model) and cls.model_config.get("extra") == "allow"
    return Schema(
        type="object",
        properties=properties,
        required=tuple(sorted(required)),
        validations=tuple(rules),
        preserve_unknown_fields=preserves,
    )


def _is_left_out(cls: type[BaseModel], name: str, part: AnnotatedType, *, is_root: bool) -> bool:
    if cls.model_fields[name].exclude or has_metadata(_SKIPPED, part.beside):
        return True
    if not (is_root and issubclass(cls, KubernetesObject)):
        return False
    is_no_status = name == "status" and part.type is Model and "status" not in cls.resource.subresources
    return name in _TYPE_META or is_no_status


def _check_unused_markers(cls: type[BaseModel], place: Location, problems: Problems) -> None:
    for name in cls.model_computed_fields:
        what = "a computed field is written to the server, but is not in the schema"
        problems.report(replace_place(place, field=name), what, "make it a property, or a field that is assigned")
    if cls.model_config.get("json_schema_extra"):
        problems.report(place, "json_schema_extra is not supported", "use markers")


def _named(name: str, info: FieldInfo, taken: dict[str, Schema], place: Location, problems: Problems) -> str:
    wire = wire_name(name, info)
    read = info.validation_alias
    if read is not None and read != wire:
        cure = "give it one alias"
        problems.report(
            place, f"it is written as {wire} and read as {read}, but a field has one name on the server", cure
        )
    if wire in taken:
        problems.report(place, f"another field is {wire} on the wire as well", "give one of them another alias")
    return wire


def _is_required(info: FieldInfo, part: AnnotatedType) -> bool:
    if marker := first_metadata(Required, part.beside):
        return marker.required
    return info.is_required() and not has_metadata(ServerDefault, part.beside)


def _field(
    cls: type[BaseModel], name: str, part: AnnotatedType, place: Location, problems: Problems, *, is_root: bool
) -> Schema:
    info = cls.model_fields[name]
    _check_extra_fields(info, place, problems)
    own = tuple(each for each in part.beside if not isinstance(each, _OF_FIELDS))
    schema = _status(part) if is_root and name == "status" else None
    if schema is None:
        schema = schema_of_annotated(AnnotatedType(part.type, own), place, problems)
    if part.is_nullable and info.is_required():
        if schema.enum:
            problems.report(place, "a value of an enum is never null", "give the field the default None")
        schema = replace(schema, nullable=True)
    if has_metadata(Immutable, part.beside):
        schema = replace(schema, validations=(IMMUTABLE, *schema.validations))
    schema = _with_list_type(schema, part)
    beside = (*(mark for mark in markers_of(cls) if isinstance(mark, NoServerDefault)), *part.beside)
    if not (is_root and name == "status"):  # an absent status has no defaults
        schema = replace(schema, default=default_of(cls, name, beside, schema, place, problems))
    return _problem_text(schema, cls, name)


def _status(part: AnnotatedType) -> Schema | None:
    """Return the schema of a status without a class: all fields are kept."""
    return Schema(type="object", preserve_unknown_fields=True) if part.type is Model else None


def _with_list_type(schema: Schema, part: AnnotatedType) -> Schema:
    """Make lists of conditions maps by their type, as everywhere in Kubernetes."""
    if schema.type == "array" and not schema.list_type and _is_conditions(part):
        return replace(schema, list_type="map", list_map_keys=("type",))
    return schema


def _is_conditions(part: AnnotatedType) -> bool:
    items = [annotated_type(arg).type for arg in get_args(part.type)]
    return len(items) == 1 and isinstance(items[0], type) and issubclass(items[0], Condition)


def _check_extra_fields(info: FieldInfo, place: Location, problems: Problems) -> None:
    if info.json_schema_extra:
        problems.report(place, "json_schema_extra is not supported", "use markers")


def _problem_text(schema: Schema, cls: type[BaseModel], name: str) -> Schema:
    """Return the schema with the description of a field."""
    info = cls.model_fields[name]
    words: dict[str, Any] = {}
    if description := describe_field(cls, name, info):
        words["description"] = description
    if info.title:
        words["title"] = info.title
    if info.examples:
        words["example"] = to_jsonable_python(info.examples[0])
    return replace(schema, **words) if words else schema
