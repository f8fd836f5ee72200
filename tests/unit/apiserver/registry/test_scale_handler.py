"""Managed fields of a Scale."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._registry.scale_handler import to_scale_managed_fields, write_parent_managed_fields

PATH = ("spec", "replicas")


def _entry(manager: str, fields: dict[str, Any], api_version: str = "apps/v1") -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": "Apply",
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": fields},
    }


def _owners(metadata: dict[str, Any]) -> dict[str, Any]:
    return {each["manager"]: each["fieldsV1"]["f:spec"] for each in metadata["managedFields"]}


def test_a_scale_has_only_the_owners_of_the_replicas() -> None:
    """A Scale lists the managers of the replicas in its own version, without their other fields."""
    both: dict[str, Any] = {"f:replicas": {}, "f:paused": {}}
    other: dict[str, Any] = {"f:paused": {}}
    found = to_scale_managed_fields({"managedFields": [_entry("a", both), _entry("b", other)]}, PATH)
    assert found == [_entry("a", {"f:replicas": {}}, "autoscaling/v1")]


def test_a_new_owner_of_the_scale_takes_the_replicas_from_the_old() -> None:
    """After a write to the Scale, the object has the new owner of the replicas; the old one keeps its other fields."""
    metadata = {"managedFields": [_entry("a", {"f:replicas": {}, "f:paused": {}})]}
    scale = {"managedFields": [_entry("b", {"f:replicas": {}}, "autoscaling/v1")]}
    write_parent_managed_fields(metadata, scale, PATH, "apps/v1")
    assert _owners(metadata) == {"a": {"f:paused": {}}, "b": {"f:replicas": {}}}
    assert {each["apiVersion"] for each in metadata["managedFields"]} == {"apps/v1"}


def test_an_owner_that_stays_keeps_its_entry() -> None:
    """A manager that owns the replicas before and after the write keeps all of its fields."""
    metadata = {"managedFields": [_entry("a", {"f:replicas": {}, "f:paused": {}})]}
    scale = {"managedFields": [_entry("a", {"f:replicas": {}}, "autoscaling/v1")]}
    write_parent_managed_fields(metadata, scale, PATH, "apps/v1")
    assert _owners(metadata) == {"a": {"f:replicas": {}, "f:paused": {}}}
