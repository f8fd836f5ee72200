"""Tables: what `kubectl get` shows, one row an object, with the columns of the kind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyctrl._go.durations import age
from pyctrl.apiserver._apiextensions.custom_type import CustomResourceType
from pyctrl.apiserver._apiextensions.jsonpath import column_values
from pyctrl.apiserver._registry.builtin_type import BuiltinResourceType
from pyctrl.apiserver._registry.printers import row_of
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

_CREATED = ".metadata.creationTimestamp"
_DESCRIPTIONS = {
    "Name": (
        "Name must be unique within a namespace. Is required when creating resources, although some resources may "
        "allow a client to request the generation of an appropriate name automatically. Name is primarily intended for "
        "creation idempotence and configuration definition. Cannot be updated. More info: "
        "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
    ),
    "Age": (
        "CreationTimestamp is a timestamp representing the server time when this object was created. It is not "
        "guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It "
        "is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. "
        "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
    ),
    "Data": (
        "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. "
        "Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap "
        "with the keys in the BinaryData field, this is enforced during validation process."
    ),
}
_NAME_COLUMN = {"name": "Name", "type": "string", "format": "name", "description": _DESCRIPTIONS["Name"], "priority": 0}
_AGE_COLUMN = {"name": "Age", "type": "date", "description": _DESCRIPTIONS["Age"], "jsonPath": _CREATED}


def convert_to_table(
    resource_type: ResourceType,
    objects: Sequence[Mapping[str, JSON]],
    *,
    metadata: Mapping[str, JSON] | None = None,
    version: str = "v1",
    include: str = "Metadata",
) -> dict[str, JSON]:
    """Give the `Table` of objects.

    Args:
        include: What of the object each row carries: `Metadata`, `Object`, or `None`.
    """
    rows = [{"cells": _cells(resource_type, obj), **_object(obj, version, include)} for obj in objects]
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": dict(metadata or {}),
        "columnDefinitions": column_definitions(resource_type),
        "rows": rows,
    }


def convert_scale_to_table(
    scale: Mapping[str, JSON], *, version: str = "v1", include: str = "Metadata"
) -> dict[str, JSON]:
    """Give the `Table` of a `Scale`, which is the same whatever it scales."""
    metadata = scale["metadata"]
    counts = (scale["spec"].get("replicas", 0), scale["status"].get("replicas", 0))
    plain = {"format": "", "priority": 0}
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": {"resourceVersion": metadata.get("resourceVersion", "")},
        "columnDefinitions": [
            {**_NAME_COLUMN, "format": ""},
            *({"name": name, "type": "integer", **plain, "description": ""} for name in ("Desired", "Available")),
            {"name": "Age", "type": "string", **plain, "description": _DESCRIPTIONS["Age"]},
        ],
        "rows": [
            {
                "cells": [metadata.get("name", ""), *counts, age(metadata.get("creationTimestamp", ""))],
                **_object(scale, version, include),
            }
        ],
    }


def _object(obj: Mapping[str, JSON], version: str, include: str) -> dict[str, JSON]:
    if include == "None":
        return {"object": None}
    if include == "Object":
        return {"object": dict(obj)}
    api_version = f"meta.k8s.io/{version}"
    return {"object": {"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": obj["metadata"]}}


def column_definitions(resource_type: ResourceType) -> list[dict[str, JSON]]:
    """Give the column definitions of a kind."""
    if isinstance(resource_type, CustomResourceType):
        return [_NAME_COLUMN, *(_custom_column(each) for each in _printed(resource_type))]
    return [_described(each, resource_type) for each in _built_in(resource_type)]


def _printed(resource_type: CustomResourceType) -> Sequence[Mapping[str, JSON]]:
    return resource_type.described.get("additionalPrinterColumns") or (_AGE_COLUMN,)


def _custom_column(column: Mapping[str, JSON]) -> dict[str, JSON]:
    path = column["jsonPath"]
    return {
        "name": column["name"],
        "type": column["type"],
        "format": column.get("format", ""),
        "description": column.get("description") or f"Custom resource definition column (in JSONPath format): {path}",
        "priority": column.get("priority", 0),
    }


def _built_in(resource_type: ResourceType) -> Sequence[Mapping[str, JSON]]:
    assert isinstance(resource_type, BuiltinResourceType)
    return resource_type.columns or (_NAME_COLUMN, {**_AGE_COLUMN, "type": "string", "format": "", "priority": 0})


def _described(column: Mapping[str, JSON], resource_type: ResourceType) -> dict[str, JSON]:
    name = "Age" if column["name"] == "Created At" else column["name"]
    described = name in ("Name", "Age") or (name == "Data" and resource_type.kind == "ConfigMap")
    return {
        "name": column["name"],
        "type": column["type"],
        "format": column["format"],
        "description": _DESCRIPTIONS[name] if described else "",
        "priority": column["priority"],
    }


def _cells(resource_type: ResourceType, obj: Mapping[str, JSON]) -> list[JSON]:
    if isinstance(resource_type, CustomResourceType):
        return [obj["metadata"].get("name", ""), *(_custom_cell(each, obj) for each in _printed(resource_type))]
    names = [each["name"] for each in _built_in(resource_type)]
    return row_of(resource_type.group, resource_type.plural, obj, names)


def _custom_cell(column: Mapping[str, JSON], obj: Mapping[str, JSON]) -> JSON:
    """Print what a column's path finds, as its type; null when it finds nothing, or nothing of the type."""
    found = column_values(obj, column["jsonPath"])
    if not found:
        return None
    value, kind = found[0], column["type"]
    if kind == "date":
        return age(value) if isinstance(value, str) else "<unknown>"
    if kind == "string":
        return _text(found)
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if kind == "integer" else float(value)


def _text(found: list[JSON]) -> str | None:
    if len(found) == 1 and found[0] is None:
        return None
    return " ".join(
        each if isinstance(each, str) else json.dumps(each, separators=(",", ":"), ensure_ascii=False) for each in found
    )
