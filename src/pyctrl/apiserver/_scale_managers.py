"""Managed fields of a scale: those entries of its object that own the replicas, and back.

The rules are those of apimachinery's ScaleHandler (pkg/util/managedfields/scalehandler.go).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyctrl.apiserver._fieldset import Fields, below, difference, field, has
from pyctrl.apiserver._managed_fields import Entry, Managed, Manager
from pyctrl.apiserver._own_kinds import SCALE

API_VERSION = f"{SCALE.group}/{SCALE.version}"
_REPLICAS: Fields = {"f:spec": {"f:replicas": {}}}


def entries_of_scale(metadata: Mapping[str, Any], path: Sequence[str]) -> list[dict[str, Any]]:
    """Give the managed fields of a scale, from the metadata of its object.

    Args:
        path: of the replicas in the object.
    """
    managed, scale = Managed(metadata), dict[str, Any]()
    owners = [entry for entry in managed.entries if _owns(entry.fields, path)]
    managed.entries = [
        Entry(manager=entry.manager._replace(api_version=API_VERSION), fields=_REPLICAS, time=entry.time)
        for entry in owners
    ]
    managed.write(scale)
    return list(scale.get("managedFields", ()))


def write_entries_of_object(
    metadata: dict[str, Any], scale: Mapping[str, Any], path: Sequence[str], api_version: str
) -> None:
    """Bring the owners of the replicas from the metadata of a scale into that of its object, in place."""
    managed, mine = Managed(metadata), {_name(entry.manager) for entry in Managed(scale).entries if entry.fields}
    replicas = _nested(path)
    for entry in managed.entries:
        if _owns(entry.fields, path):
            if _name(entry.manager) in mine:
                mine.remove(_name(entry.manager))
            else:
                entry.fields = difference(entry.fields, replicas)
    for name, operation, subresource in sorted(mine):
        who = Manager(name=name, operation=operation, api_version=api_version, subresource=subresource)
        managed.put(who, replicas, None)
    managed.write(metadata)


def _name(manager: Manager) -> tuple[str, str, str]:
    return manager.name, manager.operation, manager.subresource


def _nested(path: Sequence[str]) -> Fields:
    fields: Fields = {}
    for part in reversed(path):
        fields = {field(part): fields}
    return fields


def _owns(fields: Fields, path: Sequence[str]) -> bool:
    *parents, last = path
    for part in parents:
        fields = below(fields, field(part))
    return has(fields, field(last))
