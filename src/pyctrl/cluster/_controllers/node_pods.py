"""Index of pods by node with the NoExecute taints of nodes, shared by taint eviction and pod garbage collection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyctrl.cluster._pod_summary import summarize_pod
from pyctrl.controller import ObjectChange, Request
from pyctrl.kinds.core.v1 import Node, Pod, Taint

__all__ = ["PodsByNode"]


class PodsByNode:
    """Pods by node, and the NoExecute taints of nodes, updated by the watch events of one controller.

    `on_pod` and `on_node` are the handlers of that controller: they return the pods to reconcile.
    """

    def __init__(self) -> None:
        self._pods: dict[str, dict[Request, None]] = {}
        self._node_of: dict[Request, str] = {}
        self._taints: dict[str, list[Taint]] = {}

    def taints(self, node: str) -> Sequence[Taint]:
        """Return the NoExecute taints of a node."""
        return self._taints.get(node, ())

    def is_known(self, node: str) -> bool:
        """Return whether the node exists."""
        return node in self._taints

    def on_pod(self, observed: ObjectChange[Pod]) -> Iterable[Request]:
        """Update the node of a pod; enqueue the pod if it is deleted or its node is gone or has NoExecute taints."""
        request = Request(*observed.current.key)
        node = summarize_pod(observed.after).node if observed.after is not None else ""
        before = self._node_of.pop(request, "")
        self._pods.get(before, {}).pop(request, None)
        if node:
            self._node_of[request] = node
            self._pods.setdefault(node, {})[request] = None
        if observed.after is None or (node and (not self.is_known(node) or self._taints[node])):
            return [request]
        return []

    def on_node(self, observed: ObjectChange[Node]) -> Iterable[Request]:
        """Update the taints of a node; enqueue its pods if the taints have changed or the node is gone."""
        name, node = observed.current.key.name, observed.new
        before = self._taints.pop(name, None)
        if node is not None:
            self._taints[name] = [taint for taint in node.spec.taints if taint.effect == "NoExecute"]
        return [] if before == self._taints.get(name) else list(self._pods.get(name, ()))
