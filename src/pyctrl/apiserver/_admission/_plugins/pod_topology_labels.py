"""Admission plugin PodTopologyLabels: pods get the zone and region of their node as labels."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["PodTopologyLabels"]


_LABELS: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


class PodTopologyLabels(Plugin):
    """Copies the topology labels of a node to the pods that are bound to it."""

    def __init__(self, nodes: Collection) -> None:
        self._nodes = nodes

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def mutate(self, attributes: Attributes) -> None:
        """Set the labels of a Binding or of a pod with a node; labels of the same names are replaced."""
        obj = attributes.object
        if obj is None:
            return
        if attributes.subresource == "binding":
            goal = obj.get("target") or {}
            name = goal.get("name") if goal.get("kind") == "Node" else ""
        else:
            name = "" if attributes.subresource else (obj.get("spec") or {}).get("nodeName")
        node = self._nodes.find("", name) if name else None
        if node is None:
            return
        if labels := {key: node.labels[key] for key in _LABELS if key in node.labels}:
            metadata = obj["metadata"]
            metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
