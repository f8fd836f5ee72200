"""Managed fields of a Scale, from and to the managed fields of its object.

The rules are those of apimachinery's ScaleHandler (pkg/util/managedfields/scalehandler.go).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyctrl._fields_v1 import field_element
from pyctrl.apiserver._endpoints.typed_bodies import SCALE
from pyctrl.apiserver._fieldmanager.fieldset import FieldSet, difference, has_member, with_prefix
from pyctrl.apiserver._fieldmanager.managed_fields import Managed, ManagedEntry

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
    """Write the owners of a Scale's replicas into the metadata of its object, in place.

    As upstream, an updater of the object is another manager than the same updater of its Scale, because their versions
    differ. Unless the replicas were applied, a write that changes nothing moves them into a second entry of that
    updater, and the next write, which reads one entry for each manager, forgets their owner.
    """
    managed = Managed(metadata)
    owners = {entry.manager.identity: entry.manager for entry in Managed(scale).entries if entry.fields}
    replicas = _nested(path)
    for entry in managed.entries:
        if _owns(entry.fields, path) and owners.pop(entry.manager.identity, None) is None:
            entry.fields = difference(entry.fields, replicas)
    managed.entries += [
        ManagedEntry(manager=owner._replace(api_version=api_version), fields=replicas, time=None)
        for _, owner in sorted(owners.items())
    ]
    managed.write(metadata)


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
