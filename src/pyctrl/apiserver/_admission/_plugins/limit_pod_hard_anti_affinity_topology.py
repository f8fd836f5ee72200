"""Admission plugin LimitPodHardAntiAffinityTopology: required anti-affinity is between nodes only."""

from __future__ import annotations

from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.chain import Plugin

__all__ = ["LimitPodHardAntiAffinityTopology"]


_HOSTNAME = "kubernetes.io/hostname"


class LimitPodHardAntiAffinityTopology(Plugin):
    """Rejects pods with a required anti-affinity to more than their node, such as to a zone."""

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def validate(self, attributes: Attributes) -> None:
        """Reject (403) a term with another topology key."""
        if attributes.subresource or attributes.object is None:
            return
        affinity = (attributes.object["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
        for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
            key = term.get("topologyKey") or ""
            if key != _HOSTNAME:
                why = f"affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key}"
                raise attributes.forbidden(f"{why} but only key {_HOSTNAME} is allowed")
