"""What pydantic checks as well: bounds, lengths, patterns, as the keywords of a schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import annotated_types as at
from msgspec.structs import replace
from pydantic.fields import FieldInfo

from ._places import Place, Problems
from ._schema import Schema

__all__ = ["constrain", "constraints_of"]

#: What pydantic may say beside a type that the schema has no words for: how a value is read or checked in Python.
_PYTHON_ONLY = {"strict", "allow_inf_nan", "union_mode", "fail_fast", "coerce_numbers_to_str", "ascii_only"}
_NUMBERS = ("integer", "number")


def constraints_of(metadata: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Give the constraints among what stands beside a type, as pairs of pydantic's keyword and value."""
    for each in metadata:
        if isinstance(each, FieldInfo):
            yield from constraints_of(each.metadata)
        elif isinstance(each, at.GroupedMetadata):
            yield from constraints_of(each)
        elif isinstance(each, at.BaseMetadata) and type(each).__module__.startswith("pydantic"):
            # what Field(pattern=…) becomes: an object with such an attribute
            yield from ((key, value) for key, value in vars(each).items() if value is not None)
        elif isinstance(each, at.BaseMetadata):
            yield from _annotated(each)


def _annotated(each: at.BaseMetadata) -> Iterator[tuple[str, Any]]:
    names = {at.Ge: "ge", at.Gt: "gt", at.Le: "le", at.Lt: "lt", at.MultipleOf: "multiple_of"}
    names |= {at.MinLen: "min_length", at.MaxLen: "max_length"}
    name = names.get(type(each))
    yield (name, getattr(each, name)) if name else (type(each).__name__, each)


def constrain(schema: Schema, metadata: Iterable[Any], place: Place, problems: Problems) -> Schema:
    """Return the schema with the constraints that stand beside the type."""
    for name, value in constraints_of(metadata):
        if name in _PYTHON_ONLY:
            continue
        if name in _LENGTHS and (kind := schema.type) in _LENGTHS[name]:
            schema = replace(schema, **{_LENGTHS[name][kind]: value})
        elif name in _BOUNDS and schema.type in _NUMBERS:
            schema = _BOUNDS[name](schema, value)
        elif name == "pattern" and (schema.type == "string" or schema.int_or_string):
            schema = replace(schema, pattern=value if isinstance(value, str) else value.pattern)
        else:
            kind = schema.type or "value of any type"
            problems.report(place, f"{name} does not fit a {kind} of the wire", "take it away")
    return schema


_LENGTHS = {
    "min_length": {"string": "min_length", "array": "min_items", "object": "min_properties"},
    "max_length": {"string": "max_length", "array": "max_items", "object": "max_properties"},
}
_BOUNDS: dict[str, Callable[[Schema, Any], Schema]] = {
    "ge": lambda schema, value: replace(schema, minimum=value, exclusive_minimum=False),
    "gt": lambda schema, value: replace(schema, minimum=value, exclusive_minimum=True),
    "le": lambda schema, value: replace(schema, maximum=value, exclusive_maximum=False),
    "lt": lambda schema, value: replace(schema, maximum=value, exclusive_maximum=True),
    "multiple_of": lambda schema, value: replace(schema, multiple_of=value),
}
