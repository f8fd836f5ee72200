"""Admission plugin Priority: sets priority and preemption policy of new pods from their priority class."""

from __future__ import annotations

from typing import Any, NamedTuple

from pyctrl.apiserver._admission.attributes import CREATE, UPDATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._storage.storage import Collection, StoredObject, WatchCacheEvent

__all__ = ["Priority"]


_GROUP = "scheduling.k8s.io"
_PREEMPTING = "PreemptLowerPriority"


class _Class(NamedTuple):
    name: str
    value: int
    preemption: str


class Priority(Plugin):
    """Resolves `priorityClassName` of new pods, and keeps one priority class the global default."""

    def __init__(self, classes: Collection) -> None:
        self._classes = classes
        self._default: _Class | None = None
        self._is_known = False
        classes.listen(self._changed)

    def _changed(self, _event: WatchCacheEvent) -> None:
        self._is_known = False

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods or priorityclasses."""
        return (group, resource) in (("", "pods"), (_GROUP, "priorityclasses"))

    def mutate(self, attributes: Attributes) -> None:
        """Set priority and preemption policy; reject (403) an unknown class and values that differ from it."""
        target, obj = attributes.request.target, attributes.object
        if target.resource != "pods" or attributes.subresource or obj is None:
            return
        if attributes.operation == CREATE:
            self._set_priority(attributes, obj["spec"])
        elif attributes.operation == UPDATE and attributes.old is not None:
            _keep_priority(obj["spec"], attributes.old["spec"])

    def validate(self, attributes: Attributes) -> None:
        """Reject (403) a second global default."""
        obj = attributes.object or {}
        if attributes.request.target.resource != "priorityclasses" or not obj.get("globalDefault"):
            return
        default = self._global_default()
        if default is not None and (attributes.operation == CREATE or default.name != obj["metadata"]["name"]):
            why = f"PriorityClass {default.name} is already marked as default. Only one default can exist"
            raise attributes.forbidden(why)

    def _set_priority(self, attributes: Attributes, spec: dict[str, Any]) -> None:
        found = self._class_of(attributes, spec.get("priorityClassName") or "")
        suffix = "from the given PriorityClass name"
        if spec.get("priority") not in (None, found.value):
            why = f"the integer value of priority ({spec['priority']}) must not be provided in pod spec"
            raise attributes.forbidden(f"{why}; priority admission controller computed {found.value} {suffix}")
        if spec.get("preemptionPolicy") not in (None, found.preemption):
            why = f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in pod spec"
            raise attributes.forbidden(f"{why}; priority admission controller computed {found.preemption} {suffix}")
        if found.name:
            spec["priorityClassName"] = found.name
        spec.update(priority=found.value, preemptionPolicy=found.preemption)

    def _class_of(self, attributes: Attributes, name: str) -> _Class:
        if not name:
            return self._global_default() or _Class("", 0, _PREEMPTING)
        stored = self._classes.find("", name)
        if stored is None:
            raise attributes.forbidden(f"no PriorityClass with name {name} was found")
        return _class(stored)

    def _global_default(self) -> _Class | None:
        """Return the global default class; of several, the one with the lowest value."""
        if not self._is_known:
            defaults = [_class(stored) for stored in self._classes.current("") if stored.decode().get("globalDefault")]
            self._default = min(defaults, key=lambda each: each.value, default=None)
            self._is_known = True
        return self._default


def _class(stored: StoredObject) -> _Class:
    obj: dict[str, Any] = stored.decode()
    return _Class(stored.name, obj.get("value", 0), obj.get("preemptionPolicy") or _PREEMPTING)


def _keep_priority(new: dict[str, Any], old: dict[str, Any]) -> None:
    for key in ("priority", "preemptionPolicy"):
        if new.get(key) is None and old.get(key) is not None:
            new[key] = old[key]
