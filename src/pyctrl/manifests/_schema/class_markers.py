"""Markers of classes, and markers of fields that affect the schema of their class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace
from pydantic import BaseModel

from pyctrl.api import (
    AtLeastOneOf,
    AtMostOneOf,
    ExactlyOneOf,
    ExternalDocs,
    Immutable,
    MapType,
    MetadataName,
    Model,
    NoServerDefault,
    PreserveUnknownFields,
    PropertyCount,
    SchemaMarker,
    ValidationRule,
)
from pyctrl.manifests._schema.annotations import AnnotatedType
from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.markers import apply_marker, validation
from pyctrl.manifests._schema.schema import Schema, Validation
from pyctrl.manifests._schema.wire_names import cel_name, wire_names

__all__ = ["IMMUTABLE", "apply_class_markers", "markers_of", "set_once"]

_CHOICES = (AtMostOneOf, ExactlyOneOf, AtLeastOneOf)
_OTHERS = (ExternalDocs, MapType, PreserveUnknownFields, PropertyCount)
_ELSEWHERE = (MetadataName, NoServerDefault)  # applied where fields and kinds are generated

#: The rule of a value that cannot be changed.
IMMUTABLE = Validation(rule="self == oldSelf", message="field is immutable")


def set_once(wire: str) -> Validation:
    """Return the rule, for the object around a field, that the optional field is not unset."""
    name = cel_name(wire)
    rule = f"!has(oldSelf.{name}) || has(self.{name})"
    return Validation(rule=rule, message=f"field {wire} is immutable once set")


def markers_of(cls: type[BaseModel]) -> list[SchemaMarker]:
    """Return the markers of a class: those of its bases first."""
    return [mark for each in reversed(cls.__mro__) if issubclass(each, Model) for mark in each.schema_marks]


def apply_class_markers(schema: Schema, cls: type[BaseModel], place: Location, problems: Problems) -> Schema:
    """Return the schema of a class with its markers applied."""
    rules: list[Validation] = []
    for mark in markers_of(cls):
        if isinstance(mark, ValidationRule):
            rules.append(validation(mark))
        elif isinstance(mark, Immutable):
            rules.append(IMMUTABLE)
        elif isinstance(mark, _CHOICES):
            rules += _choice(mark, cls, schema, place, problems)
        elif isinstance(mark, _OTHERS):
            schema = apply_marker(schema, mark, AnnotatedType(cls), place, problems)
        elif not isinstance(mark, _ELSEWHERE):
            problems.report(place, f"{_shown(mark)} is not a marker of classes", "put it beside the type of a field")
    return replace(schema, validations=(*schema.validations, *rules)) if rules else schema


def _shown(mark: object) -> str:
    return mark.__name__ if isinstance(mark, type) else type(mark).__name__


def _choice(
    mark: AtMostOneOf | ExactlyOneOf | AtLeastOneOf,
    cls: type[BaseModel],
    schema: Schema,
    place: Location,
    problems: Problems,
) -> Iterator[Validation]:
    names, shown = wire_names(cls), type(mark).__name__
    unknown = [name for name in mark.fields if name not in names]
    if unknown or not mark.fields:
        what = f"names {', '.join(unknown)}, which are not fields of the class" if unknown else "names no fields"
        problems.report(place, f"{shown} {what}", f"it has {', '.join(names)}")
        return
    wires = [names[name] for name in mark.fields]
    for wire in wires:
        if wire in schema.required or "default" in schema.properties[wire].to_wire():
            problems.report(place, f"{shown} names {wire}, which is always set", "make it optional: … | None = None")
    yield _CHOOSE[type(mark)](wires)


def _count(wires: Sequence[str]) -> str:
    return " + ".join(f"(has(self.{cel_name(wire)}) ? 1 : 0)" for wire in wires)


def _exactly(wires: Sequence[str]) -> Validation:
    message = f"exactly one of the fields in [{' '.join(wires)}] must be set"
    return Validation(rule=f"{_count(wires)} == 1", message=message)


def _at_most(wires: Sequence[str]) -> Validation:
    message = f"at most one of the fields in [{' '.join(wires)}] may be set"
    return Validation(rule=f"{_count(wires)} <= 1", message=message)


def _at_least(wires: Sequence[str]) -> Validation:
    rule = " || ".join(f"has(self.{cel_name(wire)})" for wire in wires)
    return Validation(rule=rule, message=f"at least one of the fields in [{' '.join(wires)}] must be set")


_CHOOSE = {AtMostOneOf: _at_most, ExactlyOneOf: _exactly, AtLeastOneOf: _at_least}
