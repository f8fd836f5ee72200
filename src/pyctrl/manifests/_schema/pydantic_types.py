"""Schemas of other types that pydantic supports, converted from its JSON schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import UNSET
from msgspec.structs import replace
from pydantic import TypeAdapter, WithJsonSchema
from pydantic.errors import PydanticUserError

from pyctrl.manifests._schema.annotations import AnnotatedType, first_metadata, name_of
from pyctrl.manifests._schema.locations import Location, Problems
from pyctrl.manifests._schema.schema import JSON, Schema

__all__ = ["pydantic_schema"]

_CURE = "use a Model or a type that docs/definitions.md lists, or set its type: Annotated[…, SchemaType('string')]"
_SCALARS = ("string", "integer", "number", "boolean")
_SAME = {
    "type": "type",
    "format": "format",
    "pattern": "pattern",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minimum": "minimum",
    "maximum": "maximum",
    "multipleOf": "multiple_of",
    "description": "description",
}
#: Formats of pydantic that the server knows. It warns about others, and does not check them.
_FORMATS = ("date", "date-time", "email", "hostname", "ipv4", "ipv6", "password", "uri", "uuid")
_IGNORED_KEYWORDS = {"title", "examples", "contentMediaType", "contentSchema", "writeOnly", "readOnly", "deprecated"}


def pydantic_schema(part: AnnotatedType, place: Location, problems: Problems) -> Schema:
    """Return the schema of a type from pydantic's JSON schema, which must be a scalar or a list of scalars."""
    declared = first_metadata(WithJsonSchema, part.beside)
    try:
        raw = declared.json_schema if declared else _adapter(part).json_schema()
        found = _converted(raw or {})
        return found if declared or found.format in _FORMATS else replace(found, format="")
    except (PydanticUserError, TypeError, ValueError) as error:
        why = f" ({error})" if isinstance(error, ValueError) else ""
        problems.report(place, f"{name_of(part.type)} has no schema{why}", _CURE)
        return Schema(preserve_unknown_fields=True)


def _adapter(part: AnnotatedType) -> TypeAdapter[Any]:
    adapter: Any = TypeAdapter
    found: TypeAdapter[Any] = adapter(Annotated[(part.type, *part.beside)] if part.beside else part.type)
    return found


def _converted(raw: Mapping[str, JSON]) -> Schema:
    words: dict[str, JSON] = {}
    for key, value in raw.items():
        if key in _SAME:
            words[_SAME[key]] = value
        elif key in ("exclusiveMinimum", "exclusiveMaximum"):
            bound = "minimum" if key == "exclusiveMinimum" else "maximum"
            words |= {bound: value, f"exclusive_{bound}": True}
        elif key in ("enum", "const"):
            words["enum"] = tuple(value) if key == "enum" else (value,)
        elif key == "items":
            words["items"] = _converted(value)
        elif key not in _IGNORED_KEYWORDS:
            raise ValueError(f"its {key} is not supported")
    if words.get("type") not in (*_SCALARS, "array"):
        raise ValueError(f"its type is {words.get('type', 'unknown')}")
    return Schema(example=raw["examples"][0] if raw.get("examples") else UNSET, **words)
