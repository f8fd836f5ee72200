"""Discriminated unions of models: one object with the fields of all members, and rules for each tag."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, get_args

from msgspec import UNSET
from msgspec.structs import replace
from pydantic import BaseModel, Discriminator
from pydantic.fields import FieldInfo

from pyctrl.manifests._schema.annotations import AnnotatedType, annotated_type, is_union
from pyctrl.manifests._schema.enums import enum_values
from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.schema import JSON, Schema, Validation
from pyctrl.manifests._schema.wire_names import cel_name, wire_names

__all__ = ["discriminated_schema", "discriminator_of", "models_of"]


@dataclass(frozen=True, slots=True)
class _Member:
    """A model of a union, and its values of the tag."""

    cls: type[BaseModel]
    schema: Schema
    tags: tuple[JSON, ...]


def discriminated_schema(tag: str, parts: Sequence[AnnotatedType], place: Location, problems: Problems) -> Schema:
    """Return the schema of models that the field ``tag`` discriminates; members may be unions by the same tag."""
    members = [_member(tag, part, place, problems) for part in _flat(tag, parts)]
    wire = wire_names(members[0].cls)[tag]
    required = reduce(frozenset.__and__, (frozenset(each.schema.required) for each in members))
    values = tuple(value for each in members for value in each.tags)
    return Schema(
        type="object",
        properties=_properties(members, wire, place, problems) | {wire: _tag(members, wire, values)},
        required=tuple(sorted({*required, wire})),
        validations=tuple(rule for each in members for rule in _rules(each, wire, required)),
        preserve_unknown_fields=any(each.schema.preserve_unknown_fields for each in members),
    )


def _flat(tag: str, parts: Sequence[AnnotatedType]) -> Iterator[AnnotatedType]:
    """Yield the members, replacing inner unions with the same tag by their members."""
    for part in parts:
        if is_union(part.type) and discriminator_of(part) in (None, tag):
            yield from _flat(tag, [annotated_type(arg) for arg in get_args(part.type)])
        else:
            yield part


def _member(tag: str, part: AnnotatedType, place: Location, problems: Problems) -> _Member:
    from pyctrl.manifests._schema.python_types import schema_of_annotated  # here: types may be unions

    classes = list(models_of(part))
    tags = dict.fromkeys(value for cls in classes for value in _tags(cls, tag))
    return _Member(classes[0], schema_of_annotated(part, place, problems), tuple(tags))


def models_of(part: AnnotatedType) -> Iterator[type[BaseModel]]:
    """Yield the classes that an object of a type may have; none if the type is not of models only."""
    for each in [annotated_type(arg) for arg in get_args(part.type)] if is_union(part.type) else [part]:
        if is_union(each.type):
            yield from models_of(each)
        elif isinstance(each.type, type) and issubclass(each.type, BaseModel):
            yield each.type


def discriminator_of(part: AnnotatedType) -> str | Callable[[Any], Any] | None:
    """Return the discriminator of a union: a field, a function, or None."""
    for each in reversed(part.beside):
        found = each.discriminator if isinstance(each, (FieldInfo, Discriminator)) else None
        if found is not None:
            return found.discriminator if isinstance(found, Discriminator) else found
    return None


def _tags(cls: type[BaseModel], tag: str) -> tuple[JSON, ...]:
    return enum_values(annotated_type(cls.model_fields[tag].annotation).type) or ()


def _tag(members: Sequence[_Member], wire: str, values: tuple[JSON, ...]) -> Schema:
    description = next((each.schema.properties[wire].description for each in members), "")
    kind = members[0].schema.properties[wire].type
    return Schema(type=kind, enum=values, description=description)


def _properties(members: Sequence[_Member], tag: str, place: Location, problems: Problems) -> dict[str, Schema]:
    """Combine the fields of all members; a field of several members must be the same in all of them."""
    found: dict[str, Schema] = {}
    owner: dict[str, _Member] = {}
    for member in members:
        for wire, schema in member.schema.properties.items():
            if wire == tag:
                continue
            if wire in found and _bare(found[wire]) != _bare(schema):
                what = f"{wire} differs between {owner[wire].cls.__name__} and {member.cls.__name__}"
                problems.report(place, what, "give the fields other names, or the same type and constraints")
            owner.setdefault(wire, member)
            found.setdefault(wire, schema)
    return {wire: _shared(wire, schema, members) for wire, schema in found.items()}


def _bare(schema: Schema) -> Schema:
    return replace(schema, description="", title="", default=UNSET, example=UNSET, external_docs=None)


def _shared(wire: str, schema: Schema, members: Sequence[_Member]) -> Schema:
    """Remove a default that not all members have: the server would set it on objects of the others."""
    defaults = [each.schema.properties[wire].default if wire in each.schema.properties else UNSET for each in members]
    return schema if all(each == schema.default for each in defaults) else replace(schema, default=UNSET)


def _rules(member: _Member, wire: str, required: frozenset[str]) -> Iterator[Validation]:
    tag = f"self.{cel_name(wire)}"
    values = [json.dumps(value) for value in member.tags]
    other = f"{tag} != {values[0]}" if len(values) == 1 else f"!({tag} in [{', '.join(values)}])"
    wanted = [name for name in member.schema.required if name not in required and name != wire]
    if wanted:
        has = " && ".join(f"has(self.{cel_name(name)})" for name in wanted)
        shown = " or ".join(map(str, member.tags))
        message = f"{' and '.join(wanted)} must be set when {wire} is {shown}"
        yield Validation(rule=f"{other} || ({has})", message=message, reason="FieldValueRequired")
    for rule in member.schema.validations:
        before = f" || {other.replace('self.', 'oldSelf.')}" if "oldSelf" in rule.rule else ""
        yield replace(rule, rule=f"{other}{before} || ({rule.rule})")
