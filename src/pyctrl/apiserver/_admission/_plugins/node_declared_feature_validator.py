"""Admission plugin NodeDeclaredFeatureValidator: the node of an updated pod declares the features that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyctrl.apiserver._admission.attributes import UPDATE, Attributes
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["NodeDeclaredFeatureValidator"]


class NodeDeclaredFeatureValidator:
    """Plugin that rejects updates of pods whose nodes lack a feature, by `status.declaredFeatures`."""

    def __init__(self, nodes: Collection) -> None:
        self._nodes = nodes

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def mutate(self, attributes: Attributes) -> None:
        """Do nothing."""

    def validate(self, attributes: Attributes) -> None:
        """Reject (403) an update of a bound pod that needs a feature which its node does not declare."""
        pod, old = attributes.object, attributes.old
        if attributes.operation != UPDATE or attributes.subresource not in ("", "resize") or pod is None or old is None:
            return
        name = pod["spec"].get("nodeName")
        if not name or pod["metadata"].get("generation") == old["metadata"].get("generation"):
            return
        needed = sorted(_needed_features(pod["spec"], old["spec"]))
        if not needed:
            return
        node = self._nodes.find("", name)
        if node is None:
            raise attributes.forbidden(f'node "{name}" not found')
        declared = (node.decode().get("status") or {}).get("declaredFeatures") or ()
        if missing := [feature for feature in needed if feature not in declared]:
            why = f'pod update requires features {", ".join(missing)} which are not available on node "{name}"'
            raise attributes.forbidden(why)


def _needed_features(new: dict[str, Any], old: dict[str, Any]) -> Iterator[str]:
    """Yield the features that a change of a spec needs; all of them are about resources."""
    if (new.get("resources") or {}) != (old.get("resources") or {}):
        yield "InPlacePodLevelResourcesVerticalScaling"
    pairs = zip(new.get("initContainers") or (), old.get("initContainers") or (), strict=False)
    if any(
        before.get("restartPolicy") != "Always" and (after.get("resources") or {}) != (before.get("resources") or {})
        for after, before in pairs
    ):
        yield "InPlacePodVerticalScalingInitContainers"
