"""Managed fields of a Scale, from and to the managed fields of its object.

The rules are those of apimachinery's ScaleHandler (pkg/util/managedfields/scalehandler.go).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyctrl._fields_v1 import field_element
from pyctrl.apiserver._endpoints.typed_bodies import SCALE
from pyctrl.apiserver._fieldmanager.fieldset import FieldSet, difference, has_member, with_prefix
from pyctrl.apiserver._fieldmanager.managed_fields import Managed, ManagedEntry, ManagerIdentifier

__all__ = ["API_VERSION", "to_scale_managed_fields", "write_parent_managed_fields"]

API_VERSION = f"{SCALE.group}/{SCALE.version}"
_REPLICAS: FieldSet = {"f:spec": {"f:replicas": {}}}


def to_scale_managed_fields(metadata: Mapping[str, Any], path: Sequence[str]) -> list[dict[str, Any]]:
    """Return the managed fields of a Scale.

    Args:
        metadata: The metadata of the object.
        path: The path of the replicas in the object.
    """
    managed, scale = Managed(metadata), dict[str, Any]()
    owners = [entry for entry in managed.entries if _owns(entry.fields, path)]
    managed.entries = [
        ManagedEntry(manager=entry.manager._replace(api_version=API_VERSION), fields=_REPLICAS, time=entry.time)
        for entry in owners
    ]
    managed.write(scale)
    return list(scale.get("managedFields", ()))


def write_parent_managed_fields(
    metadata: dict[str, Any], scale: Mapping[str, Any], path: Sequence[str], api_version: str
) -> None:
    """Write the owners of a Scale's replicas into the metadata of its object, in place."""
    managed, owners = Managed(metadata), {_name(entry.manager) for entry in Managed(scale).entries if entry.fields}
    replicas = _nested(path)
    for entry in managed.entries:
        if _owns(entry.fields, path):
            if _name(entry.manager) in owners:
                owners.remove(_name(entry.manager))
            else:
                entry.fields = difference(entry.fields, replicas)
    for name, operation, subresource in sorted(owners):
        manager = ManagerIdentifier(name=name, operation=operation, api_version=api_version, subresource=subresource)
        managed.put(manager, replicas, None)
    managed.write(metadata)


def _name(manager: ManagerIdentifier) -> tuple[str, str, str]:
    return manager.name, manager.operation, manager.subresource


def _nested(path: Sequence[str]) -> FieldSet:
    fields: FieldSet = {}
    for part in reversed(path):
        fields = {field_element(part): fields}
    return fields


def _owns(fields: FieldSet, path: Sequence[str]) -> bool:
    *parents, last = path
    for part in parents:
        fields = with_prefix(fields, field_element(part))
    return has_member(fields, field_element(last))
