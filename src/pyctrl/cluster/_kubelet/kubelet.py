"""Simulated kubelet: the pods of its nodes start, run, fail and finish as scripted; no process runs.

Controllers see what a real node reports: phases, conditions and container statuses in their order, Events, addresses
and graceful deletion.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, MutableMapping, Sequence
from datetime import timedelta
from typing import Any

from pyctrl import _clock
from pyctrl.api import Key, controller_of, is_deleting
from pyctrl.apiserver import KubeletServer
from pyctrl.client import Preconditions, StrategicMergePatch
from pyctrl.cluster._kubelet.container_output import ContainerOutputs
from pyctrl.cluster._kubelet.container_probes import ContainerProbes
from pyctrl.cluster._kubelet.kubelet_server import SimulatedKubeletServer
from pyctrl.cluster._kubelet.node_objects import STATE, complete_nodes
from pyctrl.cluster._kubelet.node_status import PostponedHeartbeats, add_node_status
from pyctrl.cluster._kubelet.options import Kubelet
from pyctrl.cluster._kubelet.pod_admission import PodRejection, find_rejection
from pyctrl.cluster._kubelet.pod_dependencies import PodDependencies
from pyctrl.cluster._kubelet.pod_lifecycle import PodLifecycle
from pyctrl.cluster._kubelet.pod_resize import NodeRoom
from pyctrl.cluster._kubelet.pod_status import PodIPAllocator, pod_status, status_patch
from pyctrl.cluster._kubelet.scripts import ContainerOutput, Script, script_of
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._namespace_termination import is_namespace_terminating
from pyctrl.cluster._pod_summary import may_be_bound
from pyctrl.cluster._scheduler.scheduler import add_scheduler
from pyctrl.controller import (
    Builder,
    ManagedCluster,
    ObjectChange,
    Predicate,
    Reconciler,
    Request,
    Result,
    annotations_changed,
)
from pyctrl.errors import Conflict, Forbidden, NotFound
from pyctrl.kinds.core.v1 import Container, Node, Pod

__all__ = ["KubeletReconciler", "add_kubelet"]

REJECTION_DELAY = timedelta(seconds=1)  # from the creation of a pod: its controller replaces it at once, without end
REJECTED = "Pod was rejected: "  # the beginning of the message of such a pod
DEPENDENCY_RETRY = timedelta(seconds=2)  # the next check for missing dependencies; as long as a kubelet's first retries


def add_kubelet(
    host: ManagedCluster,
    *,
    nodes: int | Sequence[Node] = 1,
    kubelet: Kubelet | None = None,
    servers: MutableMapping[str, KubeletServer] | None = None,
    postponed: PostponedHeartbeats | None = None,
) -> None:
    """Run simulated nodes and a scheduler in a manager, for a cluster without nodes.

    Args:
        host: the manager.
        nodes: the number of nodes, or `Node` objects with their names, labels, taints and capacity.
        kubelet: the behaviour of pods on the nodes.
        servers: the `kubelets` of the API server in this process, by which it reaches containers for exec and logs.
        postponed: the writer of the heartbeats of nodes. Without it, each is written when it is due.

    Raises:
        ValueError: the number is negative, or a node has no name or that of another one.
    """
    completed, options = complete_nodes(nodes), kubelet or Kubelet()
    add_node_status(host, completed, postponed)
    bound: set[str] = set()
    add_scheduler(host, start_seconds=options.start_seconds, bound=bound)
    reconciler = KubeletReconciler(completed, options, host, bound)
    if servers is not None:
        servers.update({node.metadata.name: SimulatedKubeletServer(reconciler.find_pod) for node in completed})
    (
        Builder(host)
        .reconciles(Pod, predicates=[ON_NODES])
        .watches(Node, reconciler.on_node, predicates=[annotations_changed])
        .watches_source(reconciler.outputs)
        .watches_source(reconciler.probes)
        .options(name="pretend-kubelet", workers=8)
        .build(reconciler)
    )


def _concerns_nodes(change: ObjectChange[Pod]) -> bool:
    return change.after is None or may_be_bound(change.after)


#: Pods that a node may have, or may have had.
ON_NODES: Predicate[Pod] = Predicate(_concerns_nodes, "on_nodes")


class KubeletReconciler(Reconciler[Pod]):
    """Simulates the pods that are bound to its nodes, each with a `PodLifecycle`.

    Args:
        nodes: the nodes.
        options: the behaviour of pods.
        host: the manager.
        bound: the uids of pods that the scheduler of this process has bound and that have not begun.
    """

    def __init__(self, nodes: Sequence[Node], options: Kubelet, host: ManagedCluster, bound: set[str]) -> None:
        self._options, self._bound = options, bound
        self._ips = PodIPAllocator(nodes)
        self._recorders = {
            node.metadata.name: LegacyEventRecorder(host.live_client, "kubelet", host=node.metadata.name)
            for node in nodes
        }
        self._dependencies = PodDependencies(host.live_client)
        self._lifecycles: dict[Request, PodLifecycle] = {}
        #: Runs the functions that write the logs of containers.
        self.outputs: ContainerOutputs = ContainerOutputs()
        #: Runs the probes of containers.
        self.probes: ContainerProbes = ContainerProbes()

    def find_pod(self, key: Key) -> PodLifecycle | None:
        """Return the lifecycle of a pod on these nodes, or None."""
        return self._lifecycles.get(Request(namespace=key.namespace, name=key.name))

    def on_node(self, observed: ObjectChange[Node]) -> list[Request]:
        """Enqueue the pods of a node whose annotations change its simulated state."""
        name = observed.current.key.name
        return [request for request, lifecycle in self._lifecycles.items() if lifecycle.node == name]

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
            return None  # changed or deleted meanwhile: its next event triggers a reconcile
        except Forbidden as error:
            if not is_namespace_terminating(error):
                raise
            return None

    async def _is_lost(self, name: str) -> bool:
        node = await self.client.find(Node, Key("", name))
        return node is not None and node.metadata.annotations.get(STATE) == "lost"

    def _forget(self, request: Request) -> None:
        lifecycle = self._lifecycles.pop(request, None)
        if lifecycle is not None:
            now = asyncio.get_running_loop().time()
            lifecycle.stop(now, 0)  # ends the commands that run in it
            lifecycle.advance(now)
            self._ips.release(lifecycle.uid)
            lifecycle.close_logs()

    async def _sync_pod(self, request: Request, pod: Pod, node: str) -> Result | None:
        known = self._lifecycles.get(request)
        if known is None or known.uid != pod.metadata.uid:
            self._forget(request)
            if _is_rejected(pod):
                return None
            if rejection := await self._find_rejection(pod, node):
                return await self._reject(pod, node, rejection)
        now = asyncio.get_running_loop().time()
        lifecycle = await self._lifecycle_of(request, pod, node, now)
        if is_deleting(pod):
            lifecycle.stop(now, pod.metadata.deletion_grace_period_seconds or 0)
        elif not lifecycle.has_begun and (problem := await self._dependencies.missing(pod)):
            lifecycle.wait(*problem.waiting)
            await self._report(pod, lifecycle, now)
            await self._recorders[node].warning(pod, problem.event, problem.message)
            return Result.after(DEPENDENCY_RETRY)
        elif lifecycle.resize.is_wanted(pod, now):
            lifecycle.resize.allocate(await self._room(lifecycle, node), now)
        lifecycle.advance(now)
        if lifecycle.is_over:
            lifecycle.resize.end()
        self._write_logs(lifecycle)
        self.probes.start(request, lifecycle, self._ips.of(pod).pod)
        await self._report(pod, lifecycle, now)
        if lifecycle.is_over:
            self._ips.release(lifecycle.uid)
            if is_deleting(pod):
                await self._remove(pod)
                return None
        return _at(lifecycle.next_change(now), now)

    async def _find_rejection(self, pod: Pod, node: str) -> PodRejection | None:
        """Return why the node does not admit a new pod, or None."""
        found = await self.client.find(Node, Key("", node))
        if found is None or is_deleting(pod) or pod.status.phase != "Pending" or pod.status.container_statuses:
            return None
        return find_rejection(pod, found, None if pod.metadata.uid in self._bound else self._pods_on(node))

    async def _reject(self, pod: Pod, node: str, rejection: PodRejection) -> Result | None:
        """Fail a pod that the node does not admit."""
        age = _clock.now() - (pod.metadata.creation_timestamp or _clock.now())
        if age < REJECTION_DELAY:
            return Result.after(REJECTION_DELAY - age)
        status: dict[str, Any] = {"phase": "Failed", "observedGeneration": pod.metadata.generation}
        status |= {"reason": rejection.reason, "message": f"{REJECTED}{rejection.message}"}
        await self.client.status.patch(pod, StrategicMergePatch({"status": status}))
        await self._recorders[node].warning(pod, rejection.reason, rejection.message)
        return None

    def _pods_on(self, node: str) -> Iterator[Pod]:
        """Iterate over the pods that run on a node."""
        return (each.pod for each in self._lifecycles.values() if each.node == node and not each.is_over)

    async def _room(self, lifecycle: PodLifecycle, node: str) -> NodeRoom:
        """Return what the node of a pod can allocate beside its other pods."""
        others = [each for each in self._pods_on(node) if each is not lifecycle.pod]
        return NodeRoom.of(await self.client.get(Node, Key("", node)), others)

    def _write_logs(self, lifecycle: PodLifecycle) -> None:
        """Run the log functions of the containers that have started."""
        for container, log in lifecycle.take_logs_to_write():
            if callable(function := container.script.logs):
                output = ContainerOutput(
                    pod=lifecycle.pod,
                    container=container.spec,
                    stdout=log.stdout,
                    stderr=log.stderr,
                    restart_count=container.restarts,
                )
                self.outputs.start(function, output, log)

    async def _lifecycle_of(self, request: Request, pod: Pod, node: str, now: float) -> PodLifecycle:
        script = script_of(pod, lambda container: self._default(pod, container), self._options.script)
        lifecycle = self._lifecycles.get(request)
        if lifecycle is None:
            self._bound.discard(pod.metadata.uid)
            lifecycle = self._lifecycles[request] = PodLifecycle(pod, script, now)
        else:
            lifecycle.update(pod, script, now)
        for problem in script.problems:
            await self._recorders[node].warning(pod, "InvalidScript", problem)
        return lifecycle

    def _default(self, pod: Pod, container: Container) -> Script:
        """Return the default script of a container."""
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

    async def _report(self, pod: Pod, lifecycle: PodLifecycle, now: float) -> None:
        """Write the changes of the pod's status, and record its Events."""
        patch = status_patch(pod, pod_status(pod, lifecycle, self._ips.of(pod), now))
        if patch:
            await self.client.status.patch(pod, StrategicMergePatch(patch))
        recorder = self._recorders[pod.spec.node_name or ""]
        for event in lifecycle.take_events():
            record = recorder.warning if event.type == "Warning" else recorder.normal
            await record(pod, event.reason, event.message, field_path=event.field_path)

    async def _remove(self, pod: Pod) -> None:
        """Delete a pod for good after its containers have stopped."""
        if pod.metadata.deletion_grace_period_seconds != 0:
            same_pod = Preconditions(uid=pod.metadata.uid)
            await self.client.delete(pod, grace_period_seconds=0, preconditions=same_pod)


def _at(change: float, now: float) -> Result | None:
    """Return the result of a reconcile for the next one at a time of the loop, or None without one."""
    return None if change == math.inf else Result.after(timedelta(seconds=max(0.0, change - now)))


def _is_rejected(pod: Pod) -> bool:
    return pod.status.phase == "Failed" and (pod.status.message or "").startswith(REJECTED)
