"""ResourceClaims, ResourceSlices and DeviceClasses (dynamic resource allocation)."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy, fields_at
from pyctrl.apiserver._registry.table_cells import Cells, spec_of, status_of

__all__ = ["RESOURCES"]


def _claim_cells(obj: Object) -> Cells:
    status = status_of(obj)
    states = [
        name
        for name, holds in (("allocated", status.get("allocation")), ("reserved", status.get("reservedFor")))
        if holds
    ]
    if obj["metadata"].get("deletionTimestamp"):
        states.insert(0, "deleted")
    return {"State": ",".join(states) or "pending"}


def _slice_cells(obj: Object) -> Cells:
    spec = spec_of(obj)
    return {
        "Node": spec.get("nodeName", ""),
        "Driver": spec.get("driver", ""),
        "Pool": (spec.get("pool") or {}).get("name", ""),
    }


_GROUP: Final = "resource.k8s.io"
RESOURCES: Final = (
    BuiltinResource(group=_GROUP, kind="DeviceClass", strategy=Strategy(has_generation=True)),
    BuiltinResource(group=_GROUP, kind="ResourceClaim", cells=_claim_cells),
    BuiltinResource(
        group=_GROUP,
        kind="ResourceSlice",
        strategy=Strategy(has_generation=True, fields=fields_at("spec.nodeName", "spec.driver")),
        cells=_slice_cells,
    ),
)
