"""Admission plugin TaintNodesByCondition: a new node is tainted as not ready."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._admission.attributes import CREATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin

__all__ = ["TaintNodesByCondition"]


_TAINT: Final = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class TaintNodesByCondition(Plugin):
    """Adds the taint `not-ready` to new nodes. The node lifecycle controller removes it from nodes that are ready."""

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is nodes."""
        return (group, resource) == ("", "nodes")

    def mutate(self, attributes: Attributes) -> None:
        """Add the taint if it is missing."""
        if attributes.operation != CREATE or attributes.subresource or attributes.object is None:
            return
        spec = attributes.object.setdefault("spec", {})
        taints = spec.get("taints") or []
        if not any((each.get("key"), each.get("effect")) == (_TAINT["key"], _TAINT["effect"]) for each in taints):
            spec["taints"] = [*taints, dict(_TAINT)]
