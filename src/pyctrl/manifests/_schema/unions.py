"""Unions that a structural schema can express."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, get_args

from msgspec.structs import asdict, replace
from pydantic import BaseModel

from pyctrl.manifests._schema.annotations import AnnotatedType, annotated_type, is_union, name_of
from pyctrl.manifests._schema.discriminated_unions import discriminated_schema, discriminator_of
from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.python_types import ANYTHING, schema_of_annotated
from pyctrl.manifests._schema.scalars import INT_OR_STRING
from pyctrl.manifests._schema.schema import Schema

__all__ = ["union_schema"]

_CURE = "use one type, a Model with optional fields and ExactlyOneOf, or models with a discriminator"


def union_schema(part: AnnotatedType, place: Location, problems: Problems) -> Schema:
    """Return the schema of a union, ignoring None."""
    members = [annotated_type(arg) for arg in get_args(part.type)]
    if all(_is_of_models(each) for each in members):
        return _of_models(part, members, place, problems)
    schemas = [schema_of_annotated(each, place, problems) for each in members]
    kinds = {each.type for each in schemas}
    if kinds == {"integer", "string"}:
        found = _either(schemas)
    elif kinds == {"integer", "number"}:
        found = _any_of("number", [replace(each, type="number") for each in schemas])
    elif len(kinds) == 1 and kinds <= {"string", "integer", "number", "boolean"}:
        found = _any_of(kinds.pop(), schemas)
    else:
        found = None
    if found is None or any(each.is_nullable for each in members):
        shown = " | ".join(name_of(each.type) for each in members)
        problems.report(place, f"the union {shown} has no schema", _CURE)
        return ANYTHING
    return found


def _any_of(kind: str, schemas: Sequence[Schema]) -> Schema | None:
    """Return the schema that accepts the values of several schemas of one type."""
    plain = Schema(type=kind)
    branches = _distinct(replace(each, type="", description="") for each in schemas)
    if plain in schemas:
        return plain
    if len(branches) == 1:
        return replace(branches[0], type=kind)
    if all(each == Schema(enum=each.enum) for each in branches):
        return Schema(type=kind, enum=tuple(dict.fromkeys(value for each in branches for value in each.enum)))
    return Schema(type=kind, any_of=tuple(branches))


def _distinct(schemas: Iterable[Schema]) -> list[Schema]:
    found: list[Schema] = []
    for each in schemas:
        if each not in found:
            found.append(each)
    return found


def _either(schemas: Sequence[Schema]) -> Schema | None:
    """Return the schema of integers and strings; keywords of numbers do not affect strings, nor the reverse."""
    keywords: dict[str, Any] = {}
    for each in schemas:
        words = {key: value for key, value in asdict(each).items() if value != getattr(_PLAIN, key)}
        words.pop("type")
        if "enum" in words and each.type == "string" and len(words) == 1:
            words = {"pattern": f"^({'|'.join(map(_quoted, words['enum']))})$"}
        if keywords.keys() & words.keys() or not words.keys() <= _TYPE_NAMES:
            return None
        keywords |= words
    return replace(INT_OR_STRING, **keywords)


_PLAIN = Schema()
_NUMBERS = {"minimum", "maximum", "exclusive_minimum", "exclusive_maximum", "multiple_of"}
_TYPE_NAMES = {*_NUMBERS, "min_length", "max_length", "pattern"}


def _quoted(text: str) -> str:
    return "".join(f"\\{each}" if each in r"\.+*?()|[]{}^$" else each for each in text)


def _is_of_models(part: AnnotatedType) -> bool:
    if is_union(part.type):
        return all(_is_of_models(annotated_type(arg)) for arg in get_args(part.type))
    return isinstance(part.type, type) and issubclass(part.type, BaseModel)


def _of_models(part: AnnotatedType, members: Sequence[AnnotatedType], place: Location, problems: Problems) -> Schema:
    tag = discriminator_of(part)
    if isinstance(tag, str):
        return discriminated_schema(tag, members, place, problems)
    shown = " | ".join(name_of(each.type) for each in members)
    what = "has a function as discriminator" if tag else "has no discriminator"
    problems.report(place, f"the union {shown} {what}", "give it Field(discriminator='…') and the members a Literal")
    return ANYTHING
