"""Admission plugin PodResizeValidator: the node of a resized pod is a Linux node and large enough."""

from __future__ import annotations

from typing import Any

from pyctrl._quota import pod_resources
from pyctrl.api import Quantity
from pyctrl.apiserver._admission.attributes import UPDATE, Attributes
from pyctrl.apiserver._errors import FieldError
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["PodResizeValidator"]


class PodResizeValidator:
    """Plugin that rejects resizes of pods which their nodes cannot provide."""

    def __init__(self, nodes: Collection) -> None:
        self._nodes = nodes

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def mutate(self, attributes: Attributes) -> None:
        """Do nothing."""

    def validate(self, attributes: Attributes) -> None:
        """Reject (403) a resize on a node that does not exist, runs another system, or is too small."""
        pod, old = attributes.object, attributes.old
        if attributes.operation != UPDATE or attributes.subresource != "resize" or pod is None or old is None:
            return
        name = pod["spec"].get("nodeName")
        if not name or pod["metadata"].get("generation") == old["metadata"].get("generation"):
            return
        stored = self._nodes.find("", name)
        if stored is None:
            raise attributes.forbidden(f'node "{name}" not found')
        node: dict[str, Any] = stored.decode()
        system = (node["metadata"].get("labels") or {}).get("kubernetes.io/os", "linux")
        if system != "linux":
            why = f'pod resize is only supported on linux nodes, node "{name}" is "{system}"'
            raise attributes.forbidden(why, FieldError("UnsupportedPlatform", "", ""))
        if missing := _missing(pod, (node.get("status") or {}).get("allocatable") or {}):
            why = f"node didn't have enough allocatable resources: {'; '.join(missing)}"
            raise attributes.forbidden(why, FieldError("NodeCapacity", "", ""))


def _missing(pod: dict[str, Any], allocatable: dict[str, Any]) -> list[str]:
    """Return what the requests of a pod exceed, CPU in thousandths and memory in bytes."""
    requests = pod_resources(pod["spec"], "requests", with_overhead=True)
    missing = []
    for name, scale in (("cpu", 1000), ("memory", 1)):
        wanted, available = requests.get(name, Quantity("0")), Quantity(str(allocatable.get(name, "0")))
        if wanted > available:
            shown = [-int(-each.value * scale // 1) for each in (wanted, available)]
            missing.append(f"{name}, requested: {shown[0]}, allocatable: {shown[1]}")
    return missing
