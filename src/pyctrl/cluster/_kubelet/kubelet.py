"""A pretend kubelet: the pods of its nodes start, run, fail and end as their scripts say, and nothing is executed.

What a controller sees is what it would see of a node: phases, conditions and container statuses in their order,
Events, addresses, graceful deletion.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from datetime import timedelta

from pyctrl.api import Key, controller_of, is_deleting
from pyctrl.client import Preconditions, StrategicMergePatch
from pyctrl.cluster._controllers.namespace import is_namespace_terminating
from pyctrl.cluster._kubelet.node_objects import STATE, complete_nodes
from pyctrl.cluster._kubelet.node_status import add_node_status
from pyctrl.cluster._kubelet.options import Kubelet
from pyctrl.cluster._kubelet.pod_lifecycle import PodLifecycle
from pyctrl.cluster._kubelet.pod_mounts import PodDependencies
from pyctrl.cluster._kubelet.pod_status import PodIPAllocator, pod_status, status_patch
from pyctrl.cluster._kubelet.scripts import Script, script_of
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._scheduler.scheduler import add_scheduler
from pyctrl.controller import Builder, ManagedCluster, ObjectChange, Reconciler, Request, Result, annotations_changed
from pyctrl.errors import Conflict, Forbidden, NotFound
from pyctrl.kinds.core.v1 import Container, Node, Pod

__all__ = ["KubeletReconciler", "add_kubelet"]

LOOK_AGAIN = timedelta(seconds=2)  # at what keeps a pod from starting; a kubelet's first waits are of this length


def add_kubelet(host: ManagedCluster, *, nodes: int | Sequence[Node] = 1, kubelet: Kubelet | None = None) -> None:
    """Run pretend nodes in a manager, with the scheduler that fills them: what a cluster without nodes lacks.

    Args:
        host: the manager.
        nodes: how many, or `Node` objects with the names, labels, taints and capacity that they shall have.
        kubelet: how pods fare on them.

    Raises:
        ValueError: the nodes are not ones that can be.
    """
    completed, options = complete_nodes(nodes), kubelet or Kubelet()
    add_node_status(host, completed)
    add_scheduler(host, start_seconds=options.start_seconds)
    player = KubeletReconciler(completed, options, host)
    (
        Builder(host)
        .reconciles(Pod)
        .watches(Node, player.on_node, predicates=[annotations_changed])
        .options(name="pretend-kubelet", workers=8)
        .build(player)
    )


class KubeletReconciler(Reconciler[Pod]):
    """Plays the pods that are bound to its nodes, each by a `PodLifecycle`."""

    def __init__(self, nodes: Sequence[Node], options: Kubelet, host: ManagedCluster) -> None:
        self._options = options
        self._addresses = PodIPAllocator(nodes)
        self._recorders = {
            node.metadata.name: LegacyEventRecorder(host.live_client, "kubelet", host=node.metadata.name)
            for node in nodes
        }
        self._mounts = PodDependencies(host.live_client)
        self._lives: dict[Request, PodLifecycle] = {}

    def on_node(self, observed: ObjectChange[Node]) -> list[Request]:
        """Ask for the pods of a node that has been told to fail, or to go on."""
        name = observed.current.key.name
        return [request for request, life in self._lives.items() if life.node == name]

    async def reconcile(self, request: Request) -> Result | None:
        pod = await self.client.find(Pod, request.key)
        if pod is None:
            self._forget(request)
            return None
        if pod.spec.node_name not in self._recorders or await self._is_lost(pod.spec.node_name):
            return None
        try:
            return await self._sync_pod(request, pod, pod.spec.node_name)
        except (NotFound, Conflict):
            return None  # it has changed or gone: its next event tells
        except Forbidden as error:
            if not is_namespace_terminating(error):
                raise
            return None

    async def _is_lost(self, name: str) -> bool:
        node = await self.client.find(Node, Key("", name))
        return node is not None and node.metadata.annotations.get(STATE) == "lost"

    def _forget(self, request: Request) -> None:
        life = self._lives.pop(request, None)
        if life is not None:
            self._addresses.release(life.uid)

    async def _sync_pod(self, request: Request, pod: Pod, node: str) -> Result | None:
        now = asyncio.get_running_loop().time()
        life = await self._life(request, pod, node, now)
        if is_deleting(pod):
            life.stop(now, pod.metadata.deletion_grace_period_seconds or 0)
        elif not life.has_begun and (problem := await self._mounts.problem(pod)):
            life.wait(*problem.waiting)
            await self._report(pod, life, now)
            await self._recorders[node].warning(pod, problem.event, problem.message)
            return Result.after(LOOK_AGAIN)
        life.advance(now)
        await self._report(pod, life, now)
        if life.is_over:
            self._addresses.release(life.uid)
            if is_deleting(pod):
                await self._remove(pod)
                return None
        change = life.next_change(now)
        return None if change == math.inf else Result.after(timedelta(seconds=max(0.0, change - now)))

    async def _life(self, request: Request, pod: Pod, node: str, now: float) -> PodLifecycle:
        script = script_of(pod, lambda container: self._default(pod, container), self._options.script)
        life = self._lives.get(request)
        if life is None or life.uid != pod.metadata.uid:
            self._forget(request)
            life = self._lives[request] = PodLifecycle(pod, script, now)
        else:
            life.take(pod, script, now)
        for problem in script.problems:
            await self._recorders[node].warning(pod, "InvalidScript", problem)
        return life

    def _default(self, pod: Pod, container: Container) -> Script:
        """Return what a container does that nothing is said of."""
        options = self._options
        is_init = container.restart_policy is None and container in pod.spec.init_containers
        owner = controller_of(pod)
        is_job = pod.spec.restart_policy != "Always" and owner is not None and owner.kind == "Job"
        seconds = 0.0 if is_init else options.job_seconds if is_job and container in pod.spec.containers else None
        return Script(
            pull_seconds=options.pull_seconds,
            ready_seconds=options.ready_seconds,
            stop_seconds=options.stop_seconds,
            run_seconds=seconds,
        )

    async def _report(self, pod: Pod, life: PodLifecycle, now: float) -> None:
        """Write what is new of the pod's status, and tell what has happened."""
        patch = status_patch(pod, pod_status(pod, life, self._addresses.of(pod), now))
        if patch:
            await self.client.status.patch(pod, StrategicMergePatch(patch))
        recorder = self._recorders[pod.spec.node_name or ""]
        for event in life.take_events():
            tell = recorder.warning if event.type == "Warning" else recorder.normal
            await tell(pod, event.reason, event.message, field_path=event.field_path)

    async def _remove(self, pod: Pod) -> None:
        """Let a deleted pod go: its containers have ended."""
        if pod.metadata.deletion_grace_period_seconds != 0:
            mine = Preconditions(uid=pod.metadata.uid)
            await self.client.delete(pod, grace_period_seconds=0, preconditions=mine)
