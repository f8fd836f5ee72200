"""Schemas of Python types."""

from __future__ import annotations

import collections.abc as abc
import enum
from collections import OrderedDict, defaultdict, deque
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, get_args, get_origin

from msgspec.structs import replace
from pydantic import BaseModel, Json, JsonValue, NaiveDatetime, WithJsonSchema

from pyctrl.api import KubernetesObject, PreserveUnknownFields, Schemaless, SchemaType
from pyctrl.manifests._schema.annotations import (
    AnnotatedType,
    annotated_type,
    first_metadata,
    has_metadata,
    is_union,
    name_of,
)
from pyctrl.manifests._schema.constraints import constrain
from pyctrl.manifests._schema.enums import enum_schema
from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.map_keys import key_rule
from pyctrl.manifests._schema.markers import apply_markers
from pyctrl.manifests._schema.pydantic_types import pydantic_schema
from pyctrl.manifests._schema.scalars import scalar_schema
from pyctrl.manifests._schema.schema import Schema
from pyctrl.manifests._schema.serializers import check_serializer

__all__ = ["ANYTHING", "schema_of", "schema_of_annotated"]

ANYTHING = Schema(preserve_unknown_fields=True)
_MAPS = (dict, OrderedDict, defaultdict, abc.Mapping, abc.MutableMapping)
_LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection, deque)
_SETS = (set, frozenset, abc.Set, abc.MutableSet)
_OPEN = (Any, object, JsonValue)


def schema_of(annotation: Any, place: Location, problems: Problems) -> Schema:
    """Return the schema of a type; problems are reported."""
    part = annotated_type(annotation)
    schema = schema_of_annotated(part, place, problems)
    if part.is_nullable and schema.enum:
        problems.report(place, "a value of an enum is never null in a schema", "remove None from the type")
    return replace(schema, nullable=True) if part.is_nullable else schema


def schema_of_annotated(part: AnnotatedType, place: Location, problems: Problems) -> Schema:
    """Return the schema of a decomposed type, ignoring None."""
    declared = first_metadata(SchemaType, part.beside)
    if has_metadata(Schemaless, part.beside):
        schema = Schema(type=declared.type if declared else "")
    elif declared:
        schema = replace(scalar_schema(part) or Schema(), type=declared.type)
    elif is_union(part.type):
        from pyctrl.manifests._schema.unions import union_schema  # here: members of unions have types

        schema = union_schema(part, place, problems)
    else:
        schema = _plain(part, place, problems)
    schema = apply_markers(constrain(schema, part.beside, place, problems), part, place, problems)
    check_serializer(schema, part, place, problems)
    return schema


def _plain(part: AnnotatedType, place: Location, problems: Problems) -> Schema:
    tp = part.type
    if tp is Json or has_metadata(Json, part.beside):
        what = "Json is read as a string, but written as the decoded value"
        problems.report(place, what, "use the type of the decoded value, or str")
        return Schema(type="string")
    if has_metadata(WithJsonSchema, part.beside):
        return pydantic_schema(part, place, problems)
    origin, args = get_origin(tp) or tp, get_args(tp)
    if origin in _LISTS or (origin is tuple and args[1:] == (...,)):
        return Schema(type="array", items=_inner(args[:1], part, place.part("[]"), problems))
    if origin in _SETS:
        items = _inner(args, part, place.part("[]"), problems)
        return Schema(type="array", items=items, list_type="" if items.type in ("object", "array", "") else "set")
    if origin in _MAPS:
        return _map(part, place, problems)
    if origin is Literal or (isinstance(tp, type) and issubclass(tp, enum.Enum)):
        return enum_schema(part, place, problems)
    if isinstance(origin, type) and issubclass(origin, BaseModel):
        from pyctrl.manifests._schema.models import model_schema  # here: models have fields, fields have types

        return model_schema(tp, place, problems)
    return scalar_schema(part) or _other(part, place, problems)


def _is_open(annotation: Any) -> bool:
    return annotated_type(annotation).type in _OPEN


def _inner(args: Sequence[Any], part: AnnotatedType, place: Location, problems: Problems) -> Schema:
    """Return the schema of a list's items or a map's values; PreserveUnknownFields applies to them too."""
    inner = args[-1] if args else Any
    if _is_open(inner) and has_metadata(PreserveUnknownFields, part.beside):
        return ANYTHING
    return schema_of(inner, place, problems)


def _map(part: AnnotatedType, place: Location, problems: Problems) -> Schema:
    args = get_args(part.type)
    rules = key_rule(args[0], place, problems) if args else ()
    is_kept = has_metadata(PreserveUnknownFields, part.beside) and _is_open(args[-1] if args else Any)
    values = None if is_kept else _inner(args, part, place.part("{}"), problems)
    return Schema(type="object", additional_properties=values, validations=rules)


def _other(part: AnnotatedType, place: Location, problems: Problems) -> Schema:
    """Return the schema of a type that is not a data type, or that only pydantic can describe."""
    tp = part.type
    if tp in _OPEN:
        if not has_metadata(PreserveUnknownFields, part.beside):
            cure = "use a specific type, or keep any value with Annotated[Any, PreserveUnknownFields()]"
            problems.report(place, f"{name_of(tp)} has no schema", cure)
        return ANYTHING
    if isinstance(tp, TypeVar):
        problems.report(place, f"the type variable {tp.__name__} is not bound", _binding(place))
    elif tp is complex:
        problems.report(place, "complex has no schema: JSON has no such numbers", "use two numbers, in a Model")
    elif (get_origin(tp) or tp) is tuple:
        problems.report(place, f"a {name_of(tp)} has no schema: its items differ", "use a Model, or list[…]")
    elif tp is NaiveDatetime:
        problems.report(place, "the server rejects a time without a zone", "use pyctrl.api.Time, or AwareDatetime")
    elif tp is bytes:
        cure = "use pydantic.Base64Bytes, which is base64 on the wire as in Kubernetes"
        problems.report(place, "bytes are UTF-8 text on pydantic's wire", cure)
    else:
        return pydantic_schema(part, place, problems)
    return ANYTHING


def _binding(place: Location) -> str:
    """Return how to bind a type variable: a kind takes the classes of its spec and status."""
    if issubclass(place.cls, KubernetesObject):
        name = place.cls.__name__
        return f"write class {name}(CustomResource[{name}Spec, {name}Status], group=…, version=…)"
    return "bind it: Name[int]"
