"""PriorityClasses."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._errors import forbidden
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells
from pyctrl.apiserver._resources.deletion_strategy import DeletionOutcome, DeletionStrategy, mark_deleted
from pyctrl.apiserver._schema.defaulting import set_defaults

__all__ = ["RESOURCES"]


_GROUP: Final = "scheduling.k8s.io"
_SYSTEM_CLASSES: Final = ("system-cluster-critical", "system-node-critical")


def _default_priority_class(obj: Object) -> None:
    """Default to preempting pods of lower priority."""
    set_defaults(obj, preemptionPolicy="PreemptLowerPriority")


def _begin_deletion(obj: Object, grace: int | None) -> DeletionOutcome:
    name = obj["metadata"]["name"]
    if name in _SYSTEM_CLASSES:
        why = "this is a system priority class and cannot be deleted"
        raise forbidden("priorityclasses", name, why, _GROUP)
    if obj["metadata"].get("finalizers"):
        return mark_deleted(obj["metadata"], 0)
    return DeletionOutcome.GONE


def _priority_class_cells(obj: Object) -> Cells:
    return {
        "Value": obj.get("value", 0),
        "Global-Default": obj.get("globalDefault", False),
        "PreemptionPolicy": obj.get("preemptionPolicy", "PreemptLowerPriority"),
    }


RESOURCES: Final = (
    BuiltinResource(
        group=_GROUP,
        kind="PriorityClass",
        strategy=Strategy(
            has_generation=True,
            defaults=(_default_priority_class,),
            deletion=DeletionStrategy(begin=_begin_deletion),
        ),
        cells=_priority_class_cells,
    ),
)
