"""Fields of a class from the properties of a schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyctrl.manifests._crd_import.classes import Classes, SourceField, rule_marker
from pyctrl.manifests._crd_import.python_names import field_names, is_alias_of
from pyctrl.manifests._crd_import.python_types import TypedField, note_unsupported_of_object, type_of, with_markers
from pyctrl.manifests._crd_import.source_layout import (
    Expression,
    call,
    keyword,
    literal,
    sequence,
    union,
    without_arguments,
)

__all__ = ["class_of", "fields_of", "markers_of"]

Schema = Mapping[str, Any]


def class_of(schema: Schema, path: tuple[str, ...], classes: Classes, *, is_status: bool = False) -> str:
    """Return the name of the class of an object, which is created unless there is one for an equal schema."""
    if (found := classes.known(schema)) is not None:
        return found.name
    made = classes.new(schema, path)
    made.fields += fields_of(schema, path, classes, is_status=is_status)
    if marks := markers_of(schema, classes):
        made.bases += (keyword("marks", sequence(*marks)),)
    note_unsupported_of_object(schema, path, classes)
    classes.found.append(made)
    return made.name


def markers_of(schema: Schema, classes: Classes) -> list[Expression]:
    """Return the markers of a class, from the keywords of the whole object."""
    marks = [rule_marker(rule, classes) for rule in schema.get("x-kubernetes-validations") or ()]
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        marks.append(call(classes.use("PreserveUnknownFields")))
    if kind := schema.get("x-kubernetes-map-type"):
        marks.append(call(classes.use("MapType"), literal(kind)))
    counts = {"minimum": schema.get("minProperties"), "maximum": schema.get("maxProperties")}
    if limits := {key: literal(value) for key, value in counts.items() if value is not None}:
        marks.append(call(classes.use("PropertyCount"), **limits))
    return marks


def fields_of(
    schema: Schema, path: tuple[str, ...], classes: Classes, *, is_kind: bool = False, is_status: bool = False
) -> list[SourceField]:
    """Return the fields of a class, required ones first.

    Args:
        is_kind: the object is a complete one, whose fields have names of their own.
        is_status: the object is a status; it reads as its defaults if absent, so that no field is required in Python.
    """
    properties: Mapping[str, Schema] = schema.get("properties") or {}
    required = set(schema.get("required") or ())
    names = field_names(properties, is_kind=is_kind)
    made = [
        _field(names[wire], wire, each, (*path, wire), classes, is_required=wire in required, is_status=is_status)
        for wire, each in sorted(properties.items(), key=lambda item: item[0] not in required)
    ]
    for name in sorted(required - set(properties)):
        classes.note("that it is required, and described nowhere", (*path, name))
    return made


def _field(
    name: str,
    wire: str,
    schema: Schema,
    path: tuple[str, ...],
    classes: Classes,
    *,
    is_required: bool,
    is_status: bool,
) -> SourceField:
    typed = type_of(schema, path, classes, class_of)
    words = dict(_words(name, wire, schema))
    marks = [*typed.marks, *_docs(schema, classes)]
    default = schema.get("default")
    is_nullable = bool(schema.get("nullable"))
    if is_nullable and schema.get("enum"):
        classes.note("nullable, which does nothing beside an enum,", path)
        is_nullable = False
    may_be_none = is_nullable
    if is_required and default is None and not is_status:
        value: dict[str, Expression] = {}
    else:
        if is_required:
            marks.append(call(classes.use("Required")))
        value = _default(typed, default, schema, marks, classes)
        may_be_none = may_be_none or value.get("default") == "None"
        if is_nullable:
            marks.append(call(classes.use("Nullable")))
    annotation = union(typed.annotation, "None") if may_be_none else typed.annotation
    return SourceField(
        name=name,
        annotation=with_markers(annotation, marks, classes),
        value=_value({**value, **words, **typed.checks}, classes),
        description=_description(schema, typed, classes),
    )


def _words(name: str, wire: str, schema: Schema) -> Iterator[tuple[str, Expression]]:
    if not is_alias_of(name, wire):
        yield "validation_alias", literal(wire)
        yield "serialization_alias", literal(wire)
    if schema.get("title"):
        yield "title", literal(schema["title"])
    if schema.get("example") is not None:
        yield "examples", literal([schema["example"]])


def _docs(schema: Schema, classes: Classes) -> Iterator[Expression]:
    if docs := schema.get("externalDocs"):
        more = {"description": literal(docs["description"])} if docs.get("description") else {}
        yield call(classes.use("ExternalDocs"), literal(docs["url"]), **more)


def _value(words: Mapping[str, Expression], classes: Classes) -> Expression | None:
    if not words:
        return None
    if list(words) == ["default"]:
        return words["default"]
    return call(classes.use("Field"), **words)


def _default(
    typed: TypedField, default: Any, schema: Schema, marks: list[Expression], classes: Classes
) -> dict[str, Expression]:
    """Return the default in Python; a default that Python cannot have is left to the server."""
    if default is None:
        return {"default_factory": typed.empty} if typed.empty else {"default": "None"}
    if typed.is_plain and not typed.empty and default != "":
        return {"default": literal(default)}
    if typed.is_plain and typed.empty and default:
        return {"default_factory": without_arguments(literal(default))}
    if default == {} and typed.is_class and _can_be_empty(schema):
        return {"default_factory": typed.annotation}
    marks.append(call(classes.use("ServerDefault"), literal(default)))
    return {"default_factory": typed.empty} if typed.empty else {"default": "None"}


def _can_be_empty(schema: Schema) -> bool:
    """Return whether an object without fields is valid, and gets defaults."""
    properties = schema.get("properties") or {}
    needed = [key for key in schema.get("required") or () if properties.get(key, {}).get("default") is None]
    return not needed and any(each.get("default") is not None for each in properties.values())


def _description(schema: Schema, typed: TypedField, classes: Classes) -> str:
    """Return the description of the field, unless its class has the same one."""
    text = schema.get("description") or ""
    if typed.is_class and isinstance(typed.annotation, str):
        own = next((each for each in classes.found if each.name == typed.annotation), None)
        return "" if own is not None and own.description == text else text
    return text
