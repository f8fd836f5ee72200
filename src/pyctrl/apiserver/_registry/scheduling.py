"""PriorityClasses."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells
from pyctrl.apiserver._schema.defaulting import set_defaults

__all__ = ["RESOURCES"]


def _default_priority_class(obj: Object) -> None:
    """Default to preempting pods of lower priority."""
    set_defaults(obj, preemptionPolicy="PreemptLowerPriority")


def _priority_class_cells(obj: Object) -> Cells:
    return {
        "Value": obj.get("value", 0),
        "Global-Default": obj.get("globalDefault", False),
        "PreemptionPolicy": obj.get("preemptionPolicy", "PreemptLowerPriority"),
    }


RESOURCES: Final = (
    BuiltinResource(
        group="scheduling.k8s.io",
        kind="PriorityClass",
        strategy=Strategy(has_generation=True, defaults=(_default_priority_class,)),
        cells=_priority_class_cells,
    ),
)
