"""`Table` responses, which `kubectl get` prints: a row per object with the columns of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyctrl._go.durations import age
from pyctrl.apiserver._meta.external_annotations import internal_metadata
from pyctrl.apiserver._meta.table_columns import DESCRIPTIONS, NAME_COLUMN
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["convert_scale_to_table", "convert_to_table"]


#: Columns of a Scale with their descriptions.
_COUNTS = {
    "Desired": "replicas is the desired number of instances for the scaled object.",
    "Available": "replicas is the actual number of observed instances of the scaled object.",
}
_CUSTOM_COUNTS = {"Desired": "Number of desired replicas", "Available": "Number of actual replicas"}


def convert_to_table(
    resource_type: ResourceType,
    objects: Sequence[dict[str, JSON]],
    *,
    metadata: Mapping[str, JSON] | None = None,
    version: str = "v1",
    include: str = "Metadata",
    written: Sequence[dict[str, JSON]] | None = None,
) -> dict[str, JSON]:
    """Return the `Table` of objects.

    Args:
        written: The objects from which cells are made; by default the same.
        include: The part of the object in each row: `Metadata`, `Object`, or `None`.
    """
    pairs = list(zip(objects, objects if written is None else written, strict=True))
    if (order := resource_type.row_order) is not None:
        pairs.sort(key=lambda pair: order(pair[0]))
    rows: list[dict[str, JSON]] = [
        {"cells": resource_type.cells(shown), **_conditions(resource_type, obj), **_object(obj, version, include)}
        for obj, shown in pairs
    ]
    # Built-in kinds without columns of their own have another convertor in kube-apiserver: its empty list is null.
    is_null = not rows and not resource_type.is_custom and resource_type.columns[-1]["name"] == "Created At"
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": dict(metadata or {}),
        "columnDefinitions": list(resource_type.columns),
        "rows": None if is_null else rows,
    }


def _conditions(resource_type: ResourceType, obj: dict[str, JSON]) -> dict[str, JSON]:
    """Return the conditions of a row, if it has any."""
    found = None if resource_type.row_conditions is None else resource_type.row_conditions(obj)
    return {"conditions": found} if found else {}


def convert_scale_to_table(
    scale: Mapping[str, JSON], *, version: str = "v1", include: str = "Metadata", is_custom: bool = False
) -> dict[str, JSON]:
    """Return the `Table` of a `Scale`: all built-in kinds have the same one, all custom resources another one."""
    metadata = scale["metadata"]
    counts = (scale["spec"].get("replicas", None if is_custom else 0), scale["status"].get("replicas", 0))
    plain = {"format": "", "priority": 0}
    described = _CUSTOM_COUNTS if is_custom else _COUNTS
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": {"resourceVersion": metadata.get("resourceVersion", "")},
        "columnDefinitions": [
            NAME_COLUMN if is_custom else {**NAME_COLUMN, "format": ""},
            *({"name": name, "type": "integer", **plain, "description": why} for name, why in described.items()),
            {"name": "Age", "type": "date" if is_custom else "string", **plain, "description": DESCRIPTIONS["Age"]},
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
    metadata = internal_metadata(dict(obj["metadata"]), obj.get("apiVersion", ""), obj.get("kind", ""))
    return {"object": {"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": metadata}}
