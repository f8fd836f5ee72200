"""Which pods are on which node, and which nodes drive pods away: what eviction and collection look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyctrl.cluster._pod_summary import summarize_pod
from pyctrl.controller import ObjectChange, Request
from pyctrl.kinds.core.v1 import Node, Pod, Taint

__all__ = ["PodsByNode"]


class PodsByNode:
    """Pods by their nodes and the NoExecute taints of nodes, kept as changes come in.

    The last two methods are handlers, of one controller: of what has changed, they name the pods to look at.
    """

    def __init__(self) -> None:
        self._pods: dict[str, dict[Request, None]] = {}
        self._node_of: dict[Request, str] = {}
        self._taints: dict[str, list[Taint]] = {}

    def taints(self, node: str) -> Sequence[Taint]:
        """Return the taints of a node that drive pods away."""
        return self._taints.get(node, ())

    def is_known(self, node: str) -> bool:
        """Whether there is such a node."""
        return node in self._taints

    def on_pod(self, observed: ObjectChange[Pod]) -> Iterable[Request]:
        """Note where a pod is; ask for it when its node is gone or drives pods away."""
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
        """Note the taints of a node; ask for its pods when they have changed, or when the node is gone."""
        name, node = observed.current.key.name, observed.new
        before = self._taints.pop(name, None)
        if node is not None:
            self._taints[name] = [taint for taint in node.spec.taints if taint.effect == "NoExecute"]
        return [] if before == self._taints.get(name) else list(self._pods.get(name, ()))
