"""Admission plugin ExtendedResourceToleration: pods tolerate the taints of nodes with the devices that they request."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.chain import Plugin

__all__ = ["ExtendedResourceToleration"]


class ExtendedResourceToleration(Plugin):
    """Adds a toleration for each extended resource that the containers of a pod request."""

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def mutate(self, attributes: Attributes) -> None:
        """Add the tolerations, in the order of the resources' names."""
        if attributes.subresource or attributes.object is None:
            return
        spec = attributes.object["spec"]
        containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
        names = {name for each in containers for name in (each.get("resources") or {}).get("requests") or ()}
        for name in sorted(name for name in names if _is_extended(name)):
            _tolerate(spec, {"key": name, "operator": "Exists", "effect": "NoSchedule"})


def _is_extended(name: str) -> bool:
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def _tolerate(spec: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Add a toleration, in the place of one for the same taint."""
    kept = spec.get("tolerations") or []
    taint = ("key", "operator", "value", "effect")
    for index, each in enumerate(kept):
        if all((each.get(name) or "") == (wanted.get(name) or "") for name in taint):
            spec["tolerations"] = [*kept[:index], wanted, *kept[index + 1 :]]
            return
    spec["tolerations"] = [*kept, wanted]
