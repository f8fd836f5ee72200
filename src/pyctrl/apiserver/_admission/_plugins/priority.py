"""Admission plugin Priority: sets priority and preemption policy of new pods from their priority class."""

from __future__ import annotations

from typing import Any, NamedTuple

from pyctrl.apiserver._admission.attributes import CREATE, Attributes
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["Priority"]


class _Class(NamedTuple):
    value: int
    preemption: str


_SYSTEM_CLASSES = {  # classes that every cluster has
    "system-cluster-critical": _Class(2_000_000_000, "PreemptLowerPriority"),
    "system-node-critical": _Class(2_000_001_000, "PreemptLowerPriority"),
}


class Priority:
    """Plugin that resolves `priorityClassName` of new pods."""

    def __init__(self, classes: Collection) -> None:
        self._classes = classes

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def mutate(self, attributes: Attributes) -> None:
        """Set priority and preemption policy; reject (403) an unknown class and a priority that differs from it."""
        if attributes.operation != CREATE or attributes.subresource or attributes.object is None:
            return
        spec = attributes.object["spec"]
        name = spec.get("priorityClassName")
        if name:
            found = self._named(name)
            if found is None:
                raise attributes.forbidden(f"no PriorityClass with name {name} was found")
        else:
            found = _Class(0, "PreemptLowerPriority")
        if spec.get("priority") not in (None, 0, found.value):
            why = (
                f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; priority "
                f"admission controller computed {found.value} from the given PriorityClass name"
            )
            raise attributes.forbidden(why)
        if name:
            spec.update(priority=found.value, preemptionPolicy=found.preemption)

    def validate(self, attributes: Attributes) -> None:
        """Do nothing."""

    def _named(self, name: str) -> _Class | None:
        stored = self._classes.find("", name)
        if stored is None:
            return _SYSTEM_CLASSES.get(name)
        obj: dict[str, Any] = stored.decode()
        return _Class(obj.get("value", 0), obj.get("preemptionPolicy") or "PreemptLowerPriority")
