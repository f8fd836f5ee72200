"""PriorityClasses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyctrl.apiserver._errors import FieldError, field_forbidden, forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells
from pyctrl.apiserver._resources.deletion_strategy import DeletionOutcome, DeletionStrategy, mark_deleted

__all__ = ["RESOURCES"]


_GROUP: Final = "scheduling.k8s.io"
_SYSTEM_CLASSES: Final = ("system-cluster-critical", "system-node-critical")


def _default_priority_class(obj: Object) -> None:
    """Default to preempting pods of lower priority."""
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


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


_HIGHEST: Final = 1_000_000_000
_SYSTEM: Final = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


def _validate_priority_class(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a PriorityClass; its value and policy do not change."""
    value, policy = new.get("value") or 0, new.get("preemptionPolicy")
    if old is not None:
        if value != (old.get("value") or 0):
            yield field_forbidden("value", "may not be changed in an update.")
        if policy != old.get("preemptionPolicy"):
            yield invalid_value("preemptionPolicy", policy, "field is immutable")
        return
    name = new["metadata"].get("name", "")
    if name.startswith("system-"):
        if why := _system_error(name, value, is_default=bool(new.get("globalDefault"))):
            reserved = "priority class names with 'system-' prefix are reserved for system use only. error: "
            yield field_forbidden("metadata.name", reserved + why)
    elif value > _HIGHEST:
        yield field_forbidden("value", f"maximum allowed value of a user defined priority is {_HIGHEST}")
    if policy == "":
        yield required("preemptionPolicy")
    elif policy not in (None, "PreemptLowerPriority", "Never"):
        yield not_supported("preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))


def _system_error(name: str, value: int, *, is_default: bool) -> str:
    if name not in _SYSTEM:
        return f"{name} is not a known system priority class"
    if value != _SYSTEM[name]:
        return f"value of {name} PriorityClass must be {_SYSTEM[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if is_default else ""


RESOURCES: Final = (
    BuiltinResource(
        group=_GROUP,
        kind="PriorityClass",
        strategy=Strategy(
            has_generation=True,
            increments_generation=False,
            defaults=(_default_priority_class,),
            validates=(_validate_priority_class,),
            deletion=DeletionStrategy(begin=_begin_deletion),
        ),
        cells=_priority_class_cells,
    ),
)
