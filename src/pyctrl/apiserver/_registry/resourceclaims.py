"""ResourceClaims, ResourceSlices and DeviceClasses (dynamic resource allocation)."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy, fields_at
from pyctrl.apiserver._registry.table_cells import Cells, spec_of, status_of

__all__ = ["RESOURCES"]


def _claim_cells(obj: Object) -> Cells:
    status = status_of(obj)
    is_deleted, is_allocated = obj["metadata"].get("deletionTimestamp"), status.get("allocation") is not None
    states = {
        "deleted": is_deleted,
        "pending": not is_deleted and not is_allocated,
        "allocated": is_allocated,
        "reserved": is_allocated and status.get("reservedFor"),
    }
    return {"State": ",".join(state for state, holds in states.items() if holds)}


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
