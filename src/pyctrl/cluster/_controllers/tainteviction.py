"""Taint eviction controller: deletes pods from nodes with NoExecute taints that they do not tolerate.

The rules are those of kube-controller-manager's taint eviction controller (pkg/controller/tainteviction).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from datetime import timedelta

from pyctrl.api import is_deleting
from pyctrl.client import Preconditions
from pyctrl.cluster._controllers.node_pods import PodsByNode
from pyctrl.cluster._disruption_target import disruption_target_patch
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._taints_and_affinity import tolerates
from pyctrl.controller import Builder, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.core.v1 import Node, Pod, Taint

__all__ = ["add_taint_eviction", "min_toleration_seconds"]


def add_taint_eviction(host: ManagedCluster) -> None:
    """Run the taint eviction controller in a manager."""
    pods = PodsByNode()
    evictor = TaintEvictionReconciler(pods, LegacyEventRecorder(host.live_client, "taint-eviction-controller"))
    builder = Builder(host).watches(Pod, pods.on_pod).watches(Node, pods.on_node)
    builder.options(name="taint-eviction").build(evictor)


def min_toleration_seconds(pod: Pod, taints: Sequence[Taint]) -> float:
    """Return how long a pod tolerates taints: 0 for not at all, infinity for forever."""
    shortest = math.inf
    for taint in taints:
        tolerating = [each for each in pod.spec.tolerations if tolerates(each, taint)]
        if not tolerating:
            return 0.0
        seconds = [each.toleration_seconds for each in tolerating if each.toleration_seconds is not None]
        shortest = min([shortest, *(max(0.0, each) for each in seconds)])
    return shortest


class TaintEvictionReconciler(Reconciler[Pod]):
    """Deletes pods whose toleration of their node's taints has expired."""

    def __init__(self, pods: PodsByNode, recorder: LegacyEventRecorder) -> None:
        self._pods, self._recorder = pods, recorder
        self._since: dict[Request, tuple[str, float]] = {}  # uid, and the loop time of the first untolerated taint

    async def reconcile(self, request: Request) -> Result | None:
        pod = await self.client.find(Pod, request.key)
        taints = self._pods.taints(pod.spec.node_name or "") if pod is not None else ()
        if pod is None or not taints or is_deleting(pod):
            await self._forget(request, pod)
            return None
        seconds = min_toleration_seconds(pod, taints)
        if seconds == math.inf:
            await self._forget(request, pod)
            return None
        now = asyncio.get_running_loop().time()
        uid, since = self._since.setdefault(request, (pod.metadata.uid, now))
        if uid != pod.metadata.uid:
            self._since[request] = pod.metadata.uid, now
            since = now
        if now < since + seconds:
            return Result.after(timedelta(seconds=since + seconds - now))
        await self._evict(pod)
        return None

    async def _forget(self, request: Request, pod: Pod | None) -> None:
        if self._since.pop(request, None) is not None and pod is not None and not is_deleting(pod):
            await self._recorder.normal(pod, "TaintManagerEviction", f"Cancelling deletion of Pod {pod.key}")

    async def _evict(self, pod: Pod) -> None:
        await self._recorder.normal(pod, "TaintManagerEviction", f"Marking for deletion Pod {pod.key}")
        message = "Taint manager: deleting due to NoExecute taint"
        try:
            await self.client.status.patch(pod, disruption_target_patch(pod, "DeletionByTaintManager", message))
            await self.client.delete(pod, preconditions=Preconditions(uid=pod.metadata.uid))
        except (NotFound, Conflict):
            return  # deleted or replaced meanwhile
