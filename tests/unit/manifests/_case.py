"""A field and its expected schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import (
    create_model,
)

from pyctrl.api import (
    CustomResource,
    Model,
)

__all__ = ["Case", "sample_kind"]

ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}
INT_OR_STRING = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
MAP = {"type": "object", "additionalProperties": TEXT}
INTEGER = {"type": "integer"}
DURATION = r"^[+-]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)$"
QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
CONDITION = {
    "type": "object",
    "description": "One aspect of an object's state.",
    "properties": {
        "lastTransitionTime": {"type": "string", "format": "date-time"},
        "message": TEXT,
        "observedGeneration": {"type": "integer", "format": "int64"},
        "reason": TEXT,
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
        "type": TEXT,
    },
    "required": ["status", "type"],
}
SETTLED = {"type": "object", "properties": {"name": TEXT, "speed": {"type": "integer", "default": 3}}}
METADATA = {
    "type": "object",
    "properties": {"annotations": MAP, "finalizers": TEXTS, "labels": MAP, "name": TEXT, "namespace": TEXT},
}
SELECTOR = {
    "type": "object",
    "properties": {
        "matchExpressions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "key": TEXT,
                    "operator": TEXT,
                    "values": {**TEXTS, "x-kubernetes-list-type": "atomic"},
                },
                "required": ["key", "operator"],
            },
            "x-kubernetes-list-type": "atomic",
        },
        "matchLabels": MAP,
    },
    "x-kubernetes-map-type": "atomic",
}


OPEN = {"type": "object", "properties": {"a": INTEGER}, **ANYTHING}
PORT = {
    "type": "object",
    "properties": {"name": TEXT, "number": {"type": "integer", "format": "int32", "default": 80}},
    "required": ["name"],
}


@dataclass(frozen=True)
class Case:
    """A field: its type, its default if it has one, and its expected schema."""

    name: str
    type: Any
    schema: Mapping[str, Any]
    default: Any = ...
    is_required: bool | None = None  # the default if the field has none


def sample_kind(cases: Iterable[Case], group: str = "schemas.pyctrl.test") -> type[CustomResource[Any, Any]]:
    """Return a kind whose spec has these fields."""
    fields: dict[str, Any] = {case.name: (case.type, case.default) for case in cases}
    spec = create_model("SampleSpec", __base__=Model, **fields)

    class Sample(CustomResource[spec], group=group, version="v1"):  # type: ignore[valid-type]
        pass

    return Sample
