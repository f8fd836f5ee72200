"""Pod garbage collector: deletes the pods of deleted nodes, which have no kubelet to terminate them."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pyctrl.api import Key
from pyctrl.client import MergePatch, Preconditions
from pyctrl.cluster._controllers.node_pods import PodsByNode
from pyctrl.cluster._disruption_target import disruption_target_patch
from pyctrl.controller import Builder, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.core.v1 import Node, Pod

__all__ = ["add_pod_gc"]

QUARANTINE_SECONDS = 40.0  # how long a node must be missing (quarantineTime)


def add_pod_gc(host: ManagedCluster) -> None:
    """Run the pod garbage collector in a manager."""
    pods = PodsByNode()
    collector = PodGCReconciler(pods)
    builder = Builder(host).watches(Pod, pods.on_pod).watches(Node, pods.on_node)
    builder.options(name="pod-garbage-collector").build(collector)


class PodGCReconciler(Reconciler[Pod]):
    """Deletes pods that are bound to a missing node, after the quarantine and without a grace period."""

    def __init__(self, pods: PodsByNode) -> None:
        self._pods = pods
        self._missing: dict[str, float] = {}  # the loop time since which each node is missing

    async def reconcile(self, request: Request) -> Result | None:
        pod = await self.client.find(Pod, request.key)
        node = pod.spec.node_name if pod is not None else None
        if pod is None or not node:
            return None
        if self._pods.is_known(node):
            self._missing.pop(node, None)
            return None
        now = asyncio.get_running_loop().time()
        remaining = self._missing.setdefault(node, now) + QUARANTINE_SECONDS - now
        if remaining > 0:
            return Result.after(timedelta(seconds=remaining))
        if await self.client.live.find(Node, Key("", node)) is None:
            await self._collect(pod)
        return None

    async def _collect(self, pod: Pod) -> None:
        try:
            if pod.status.phase not in ("Succeeded", "Failed"):
                await self.client.status.patch(
                    pod, disruption_target_patch(pod, "DeletionByPodGC", "PodGC: node no longer exists")
                )
                await self.client.status.patch(Pod, pod.key, MergePatch({"status": {"phase": "Failed"}}))
            same_pod = Preconditions(uid=pod.metadata.uid)
            await self.client.delete(pod, grace_period_seconds=0, preconditions=same_pod)
        except (NotFound, Conflict):
            return  # deleted or replaced meanwhile
