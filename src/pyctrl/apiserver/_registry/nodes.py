"""Nodes."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy, fields_at
from pyctrl.apiserver._registry.table_cells import NONE, Cells, spec_of, status_of

__all__ = ["RESOURCES"]


def _node_cells(obj: Object) -> Cells:
    spec, status, labels = spec_of(obj), status_of(obj), obj["metadata"].get("labels") or {}
    info = status.get("nodeInfo") or {}
    addresses = {each["type"]: each["address"] for each in status.get("addresses") or ()}
    ready = next((each for each in status.get("conditions") or () if each["type"] == "Ready"), None)
    words = "Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"
    prefix = "node-role.kubernetes.io/"
    architecture = f" ({info['architecture']})" if info.get("architecture") else ""
    return {
        "Status": f"{words},SchedulingDisabled" if spec.get("unschedulable") else words,
        "Roles": ",".join(sorted(key.removeprefix(prefix) for key in labels if key.startswith(prefix))) or NONE,
        "Version": info.get("kubeletVersion", ""),
        "Internal-IP": addresses.get("InternalIP", NONE),
        "External-IP": addresses.get("ExternalIP", NONE),
        "OS-Image": info.get("osImage") or "<unknown>",
        "Kernel-Version": f"{info.get('kernelVersion') or '<unknown>'}{architecture}",
        "Container-Runtime": info.get("containerRuntimeVersion") or "<unknown>",
    }


RESOURCES: Final = (
    BuiltinResource(
        group="",
        kind="Node",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
            keeps_status_on_create=True,
            fields=fields_at("spec.unschedulable", zero="false"),
        ),
        cells=_node_cells,
        storage_prefix="minions",
    ),
)
