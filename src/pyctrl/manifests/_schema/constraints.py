"""pydantic's constraints (bounds, lengths, patterns) as keywords of a schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import annotated_types as at
from msgspec.structs import replace
from pydantic.fields import FieldInfo

from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.schema import Schema

__all__ = ["constrain", "constraints_of"]

#: pydantic's settings that only affect how Python reads a value; schemas have no keyword for them.
_PYTHON_ONLY = frozenset(
    (
        *("strict", "allow_inf_nan", "union_mode", "fail_fast", "coerce_numbers_to_str", "ascii_only", "Predicate"),
        *(
            "strip_whitespace",
            "to_upper",
            "to_lower",
            "Not",
            "Timezone",
            "Unit",
            "uuid_version",
            "encoder",
            "path_type",
        ),
    )
)
_NUMBERS = ("integer", "number")
_NAMES: Mapping[type[at.BaseMetadata], str] = MappingProxyType(
    {
        at.Ge: "ge",
        at.Gt: "gt",
        at.Le: "le",
        at.Lt: "lt",
        at.MultipleOf: "multiple_of",
        at.MinLen: "min_length",
        at.MaxLen: "max_length",
    }
)


def constraints_of(metadata: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the constraints in a type's metadata, as pairs of pydantic's keyword and value."""
    for each in metadata:
        if isinstance(each, FieldInfo):
            yield from constraints_of(each.metadata)
        elif isinstance(each, at.GroupedMetadata):
            yield from constraints_of(each)
        elif isinstance(each, at.BaseMetadata):
            name = _NAMES.get(type(each))
            if name:
                yield name, getattr(each, name)
            elif type(each).__module__.startswith("pydantic"):  # Field(pattern=…) has an attribute `pattern`
                yield from ((key, value) for key, value in vars(each).items() if value is not None)
            else:
                yield type(each).__name__, each


def constrain(schema: Schema, metadata: Iterable[Any], place: Location, problems: Problems) -> Schema:
    """Return the schema with the constraints of a type's metadata; of two constraints the narrower one applies."""
    for name, value in constraints_of(metadata):
        if name in _PYTHON_ONLY:
            continue
        if name in _LENGTHS and (key := _LENGTHS[name].get(schema.type)):
            schema = _narrowed(schema, key, value, max if name == "min_length" else min)
        elif name in _LENGTHS and schema.int_or_string:
            schema = _narrowed(schema, name, value, max if name == "min_length" else min)
        elif name in _BOUNDS and (schema.type in _NUMBERS or schema.int_or_string):
            schema = _BOUNDS[name](schema, value)
        elif name == "pattern" and (schema.type == "string" or schema.int_or_string):
            schema = _patterned(schema, value if isinstance(value, str) else value.pattern)
        else:
            kind = schema.type or ("whole number or text" if schema.int_or_string else "value of no known type")
            article = "an" if kind[0] in "aeiou" else "a"
            what = f"{name} does not apply to {article} {kind} on the wire"
            problems.report(place, what, "remove it, or use a validator")
    return schema


def _narrowed(schema: Schema, key: str, value: Any, choose: Callable[[Any, Any], Any]) -> Schema:
    before = getattr(schema, key)
    return replace(schema, **{key: value if before is None else choose(before, value)})


def _patterned(schema: Schema, pattern: str) -> Schema:
    if schema.pattern and schema.pattern != pattern:
        return replace(schema, all_of=(*schema.all_of, Schema(pattern=pattern)))
    return replace(schema, pattern=pattern)


def _multiple(schema: Schema, value: Any) -> Schema:
    if schema.multiple_of is not None and schema.multiple_of != value:
        return replace(schema, all_of=(*schema.all_of, Schema(multiple_of=value)))
    return replace(schema, multiple_of=value)


def _from(schema: Schema, value: Any, *, is_exclusive: bool) -> Schema:
    before = (schema.minimum, schema.exclusive_minimum)
    if before[0] is not None and before >= (value, is_exclusive):
        return schema
    return replace(schema, minimum=value, exclusive_minimum=is_exclusive)


def _to(schema: Schema, value: Any, *, is_exclusive: bool) -> Schema:
    if schema.maximum is not None and (-schema.maximum, schema.exclusive_maximum) >= (-value, is_exclusive):
        return schema
    return replace(schema, maximum=value, exclusive_maximum=is_exclusive)


_LENGTHS = {
    "min_length": {"string": "min_length", "array": "min_items", "object": "min_properties"},
    "max_length": {"string": "max_length", "array": "max_items", "object": "max_properties"},
}
_BOUNDS: Mapping[str, Callable[[Schema, Any], Schema]] = MappingProxyType(
    {
        "ge": lambda schema, value: _from(schema, value, is_exclusive=False),
        "gt": lambda schema, value: _from(schema, value, is_exclusive=True),
        "le": lambda schema, value: _to(schema, value, is_exclusive=False),
        "lt": lambda schema, value: _to(schema, value, is_exclusive=True),
        "multiple_of": _multiple,
    }
)
