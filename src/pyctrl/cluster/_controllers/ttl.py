"""TTL controller: the annotation of nodes that says how long a kubelet may cache Secrets and ConfigMaps."""

from __future__ import annotations

from typing import Final, NamedTuple

from pyctrl.client import merge_from
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import NotFound
from pyctrl.kinds.core.v1 import Node

__all__ = ["TTL_ANNOTATION", "TTLReconciler", "add_ttl", "next_step"]

TTL_ANNOTATION = "node.alpha.kubernetes.io/ttl"


class _ClusterSize(NamedTuple):
    """A range of numbers of nodes. The ranges overlap, so that one node more or less does not change all nodes."""

    least: int
    most: int
    ttl_seconds: int


#: Those of kube-controller-manager (pkg/controller/ttl/ttl_controller.go).
_SIZES: Final = (
    _ClusterSize(0, 100, 0),
    _ClusterSize(90, 500, 15),
    _ClusterSize(450, 1000, 30),
    _ClusterSize(900, 2000, 60),
    _ClusterSize(1800, 2**31 - 1, 300),
)


def add_ttl(host: ManagedCluster) -> Controller:
    """Run the TTL controller in a manager."""
    return Builder(host).reconciles(Node).options(name="ttl").build(TTLReconciler())


def next_step(step: int, nodes: int) -> int:
    """Return the range that a cluster with so many nodes is in, which was in the range `step`."""
    while nodes > _SIZES[step].most:
        step += 1
    while nodes < _SIZES[step].least:
        step -= 1
    return step


class TTLReconciler(Reconciler[Node]):
    """Annotates each node. Other nodes follow a change of the cluster's size with their next update."""

    def __init__(self) -> None:
        self._step = 0

    async def reconcile(self, request: Request) -> Result | None:
        self._step = next_step(self._step, len(await self.client.list(Node)))
        node = await self.client.find(Node, request.key)
        wanted = str(_SIZES[self._step].ttl_seconds)
        if node is None or node.metadata.annotations.get(TTL_ANNOTATION) == wanted:
            return None
        before = node.deep_copy()
        node.metadata.annotations[TTL_ANNOTATION] = wanted
        try:
            await self.client.patch(node, merge_from(before))
        except NotFound:
            return None  # deleted meanwhile
        return None
