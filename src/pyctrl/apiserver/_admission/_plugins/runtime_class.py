"""Admission plugin RuntimeClass: overhead, node selector and tolerations of a pod from its runtime class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyctrl._go.text import quoted
from pyctrl.api import Quantity
from pyctrl.apiserver._admission._plugins.tolerations import merge_tolerations
from pyctrl.apiserver._admission.attributes import CREATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["RuntimeClass"]


class RuntimeClass(Plugin):
    """Applies the runtime class of new pods."""

    def __init__(self, classes: Collection) -> None:
        self._classes = classes

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def mutate(self, attributes: Attributes) -> None:
        """Set overhead and scheduling; reject (403) an unknown class, and values that differ from the class."""
        if attributes.operation != CREATE or attributes.subresource or attributes.object is None:
            return
        spec = attributes.object["spec"]
        found = self._class_of(attributes, spec)
        if found is None:
            return
        if overhead := found.get("overhead"):
            fixed = overhead.get("podFixed") or {}
            if spec.get("overhead") and not _are_equal(spec["overhead"], fixed):
                raise _overhead_differs(attributes)
            spec["overhead"] = dict(fixed)
        if scheduling := found.get("scheduling"):
            _set_scheduling(attributes, spec, scheduling)

    def validate(self, attributes: Attributes) -> None:
        """Reject (403) a pod whose overhead is not that of its class."""
        if attributes.operation != CREATE or attributes.subresource or attributes.object is None:
            return
        spec = attributes.object["spec"]
        found = self._class_of(attributes, spec)
        if found is not None and found.get("overhead"):
            if not _are_equal(spec.get("overhead") or {}, found["overhead"].get("podFixed") or {}):
                raise _overhead_differs(attributes)
        elif spec.get("overhead") is not None:
            why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
            raise attributes.forbidden(why)

    def _class_of(self, attributes: Attributes, spec: Mapping[str, Any]) -> dict[str, Any] | None:
        name = spec.get("runtimeClassName")
        if name is None:
            return None
        stored = self._classes.find("", name)
        if stored is None:
            raise attributes.forbidden(f"pod rejected: RuntimeClass {quoted(name)} not found")
        return stored.decode()


def _set_scheduling(attributes: Attributes, spec: dict[str, Any], scheduling: Mapping[str, Any]) -> None:
    wanted, own = scheduling.get("nodeSelector") or {}, spec.get("nodeSelector") or {}
    for key, value in wanted.items():
        if own.get(key, value) != value:
            where = f"runtimeClass.scheduling.nodeSelector[{key}] = {value}"
            raise attributes.forbidden(f"conflict: {where}; pod.spec.nodeSelector[{key}] = {own[key]}")
    if wanted:
        spec["nodeSelector"] = {**own, **wanted}
    merged = merge_tolerations(spec.get("tolerations") or (), scheduling.get("tolerations") or ())
    if merged:
        spec["tolerations"] = merged


def _are_equal(left: Mapping[str, str], right: Mapping[str, str]) -> bool:
    return left.keys() == right.keys() and all(Quantity(left[name]) == Quantity(right[name]) for name in left)


def _overhead_differs(attributes: Attributes) -> Exception:
    return attributes.forbidden("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
