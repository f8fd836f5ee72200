"""Marks: each one's effect on the schema of the place where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from pyctrl.api import Format, PreserveUnknownFields, Schemaless, SchemaMark

from ._places import Place, Problems
from ._schema import Schema

__all__ = ["apply_marks", "has_consent", "schemaless"]


def has_consent(beside: Iterable[Any]) -> bool:
    """Say whether what is not named may stay."""
    return any(isinstance(each, PreserveUnknownFields) for each in beside)


def schemaless(beside: Iterable[Any]) -> bool:
    """Say whether the type is to be forgotten."""
    return any(isinstance(each, Schemaless) for each in beside)


def apply_marks(schema: Schema, beside: Sequence[Any], tp: Any, place: Place, problems: Problems) -> Schema:
    """Return the schema with the marks that stand beside the type."""
    for each in beside:
        if isinstance(each, Format):
            schema = replace(schema, format=each.name)
        elif isinstance(each, PreserveUnknownFields):
            schema = replace(schema, preserve_unknown_fields=True)
        elif isinstance(each, SchemaMark):
            problems.report(place, f"{type(each).__name__} is not heeded yet")
    return schema
