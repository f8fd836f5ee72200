"""ComponentStatuses; `_bootstrap.component_statuses` is their storage."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._registry.table_cells import Cells

__all__ = ["RESOURCES"]


def _component_status_cells(obj: Object) -> Cells:
    condition: Object = next((each for each in obj.get("conditions") or () if each["type"] == "Healthy"), {})
    is_healthy = condition.get("status") == "True"
    return {
        "Status": "Unknown" if not condition else "Healthy" if is_healthy else "Unhealthy",
        "Message": condition.get("message", ""),
        "Error": condition.get("error", ""),
    }


RESOURCES: Final = (
    BuiltinResource(
        group="",
        kind="ComponentStatus",
        cells=_component_status_cells,
        deprecation="v1 ComponentStatus is deprecated in v1.19+",
    ),
)
