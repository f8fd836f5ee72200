"""Node lifecycle controller: marks silent nodes as unknown and taints unhealthy ones.

The rules are those of kube-controller-manager's node lifecycle controller (pkg/controller/nodelifecycle). A node whose
lease is not renewed becomes Unknown. Conditions and cordons become taints. The pods of a node that was ready and is
silent are marked as not ready; those of a node that reports that it is not ready are left to its kubelet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pyctrl import _clock
from pyctrl.api import Key, ObjectMeta, format_time
from pyctrl.client import MergePatch, StrategicMergePatch
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._well_known import NODE_LEASE_NAMESPACE
from pyctrl.controller import Builder, ManagedCluster, Reconciler, Request, Result, reading
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import Node, Pod, Taint

__all__ = ["add_node_lifecycle"]

MONITOR_GRACE_PERIOD = 50.0  # seconds without a heartbeat until a node is Unknown (--node-monitor-grace-period)
STARTUP_GRACE_PERIOD = 60.0  # seconds for a node that never reported its status (--node-startup-grace-period)
MONITOR_PERIOD = timedelta(seconds=5)  # --node-monitor-period: the interval of checks of an unhealthy node
PREFIX = "node.kubernetes.io/"
NOT_READY, UNREACHABLE, UNSCHEDULABLE = PREFIX + "not-ready", PREFIX + "unreachable", PREFIX + "unschedulable"
UNHEALTHY_ZONE_THRESHOLD = 0.55  # --unhealthy-zone-threshold: the share of lost nodes that stops evictions

#: Conditions that become a taint while they are True.
_PRESSURES = {
    "MemoryPressure": PREFIX + "memory-pressure",
    "DiskPressure": PREFIX + "disk-pressure",
    "PIDPressure": PREFIX + "pid-pressure",
    "NetworkUnavailable": PREFIX + "network-unavailable",
}
_MANAGED_TAINTS = {NOT_READY, UNREACHABLE, UNSCHEDULABLE, *_PRESSURES.values()}
_REPORTED = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


def add_node_lifecycle(
    host: ManagedCluster, *, latest_heartbeat: Callable[[str], float | None] = lambda _: None
) -> None:
    """Run the node lifecycle controller in a manager.

    Args:
        latest_heartbeat: returns when a node was last alive, for nodes whose renewals are postponed;
            None for other nodes.
    """
    recorder = LegacyEventRecorder(host.live_client, "node-controller")
    lifecycle = NodeLifecycleReconciler(recorder, latest_heartbeat)
    Builder(host).reconciles(Node).reads(reading(Lease, triggers=False)).options(name="node-lifecycle").build(lifecycle)


class NodeLifecycleReconciler(Reconciler[Node]):
    """Detects silent nodes, and updates the conditions and taints of nodes."""

    def __init__(self, recorder: LegacyEventRecorder, latest_heartbeat: Callable[[str], float | None]) -> None:
        self._recorder, self._latest_heartbeat = recorder, latest_heartbeat
        self._registered: dict[str, str] = {}  # the uids of the nodes that exist
        self._heartbeats: dict[str, tuple[object, float]] = {}  # the last heartbeat of each node, and when it was seen
        self._just_lost: set[str] = set()  # nodes whose pods are still to be marked

    async def reconcile(self, request: Request) -> Result | None:
        node = await self.client.find(Node, request.key)
        if node is None:
            self._heartbeats.pop(request.name, None)
            self._just_lost.discard(request.name)
            if (uid := self._registered.pop(request.name, None)) is not None:
                message = f"Node {request.name} event: Removing Node {request.name} from Controller"
                gone = Node(metadata=ObjectMeta(name=request.name, uid=uid))
                await self._recorder.normal(gone, "RemovingNode", message)
            return None
        if request.name not in self._registered:
            self._registered[request.name] = node.metadata.uid
            message = f"Node {request.name} event: Registered Node {request.name} in Controller"
            await self._recorder.normal(node, "RegisteredNode", message)
        try:
            silence = await self._seconds_since_heartbeat(node)
            grace_period = STARTUP_GRACE_PERIOD if _status(node, "Ready") is None else MONITOR_GRACE_PERIOD
            if silence >= grace_period:
                await self._mark_unknown(node)
            await self._taint(node)
            if request.name in self._just_lost:
                await self._mark_pods_not_ready(node)
        except (NotFound, Conflict):
            return Result.after(MONITOR_PERIOD)
        left = timedelta(seconds=MONITOR_GRACE_PERIOD - silence)
        return Result.after(left if _status(node, "Ready") == "True" and left > MONITOR_PERIOD else MONITOR_PERIOD)

    async def _seconds_since_heartbeat(self, node: Node) -> float:
        """Return the seconds since the last heartbeat of a node."""
        lease = await self.client.find(Lease, Key(NODE_LEASE_NAMESPACE, node.metadata.name))
        beats = [each.last_heartbeat_time for each in node.status.conditions if each.type == "Ready"]
        heartbeat: object = self._latest_heartbeat(node.metadata.name)
        if heartbeat is None:
            heartbeat = lease.spec.renew_time if lease is not None and lease.spec is not None else None, beats
        now, known = asyncio.get_running_loop().time(), self._heartbeats.get(node.metadata.name)
        if known is None or known[0] != heartbeat:
            self._heartbeats[node.metadata.name] = heartbeat, now
            return 0.0
        return now - known[1]

    async def _mark_unknown(self, node: Node) -> None:
        """Set the conditions of a silent node to Unknown."""
        conditions = [each for kind in _REPORTED if (each := _unknown(node, kind)) is not None]
        if conditions:
            patch = StrategicMergePatch({"status": {"conditions": conditions}})
            changed = await self.client.status.patch(node, patch)
            if _status(node, "Ready") == "True":
                self._just_lost.add(node.metadata.name)
            node.status = changed.status

    # --- taints ---

    async def _taint(self, node: Node) -> None:
        """Update the taints from the conditions."""
        wanted = _wanted_taints(node, evicts=await self._evicts())
        had = {(taint.key, taint.effect): taint for taint in node.spec.taints}
        kept = [
            taint
            for taint in node.spec.taints
            if taint.key not in _MANAGED_TAINTS or (taint.key, taint.effect) in wanted
        ]
        added = [_taint(*each) for each in wanted if each not in had]
        if len(kept) == len(node.spec.taints) and not added:
            return
        lock = {"resourceVersion": node.metadata.resource_version}
        taints = [taint.to_wire() for taint in (*kept, *added)]
        await self.client.patch(Node, node.key, MergePatch({"metadata": lock, "spec": {"taints": taints or None}}))

    async def _evicts(self) -> bool:
        """Return whether pods are evicted: not if most nodes are lost, since then the network has failed."""
        statuses = [_status(node, "Ready") == "True" for node in await self.client.list(Node)]
        lost = statuses.count(False)
        return lost < len(statuses) and not (lost > 2 and lost / len(statuses) >= UNHEALTHY_ZONE_THRESHOLD)

    async def _mark_pods_not_ready(self, node: Node) -> None:
        """Set the condition Ready of a node's pods to False."""
        name = node.metadata.name
        message = f"Node {name} status is now: NodeNotReady"
        await self._recorder.normal(node, "NodeNotReady", message)
        for pod in await self.client.list(Pod, fields={"spec.nodeName": name}):
            if any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions):
                condition = {
                    "type": "Ready",
                    "status": "False",
                    "observedGeneration": pod.metadata.generation,
                    "lastTransitionTime": format_time(_clock.now()),
                }
                patch = StrategicMergePatch({"status": {"conditions": [condition]}})
                await self.client.status.patch(pod, patch)
                await self._recorder.warning(pod, "NodeNotReady", "Node is not ready")
        self._just_lost.discard(name)


def _status(node: Node, kind: str) -> str | None:
    return next((each.status for each in node.status.conditions if each.type == kind), None)


def _unknown(node: Node, kind: str) -> dict[str, Any] | None:
    """Return the condition with status Unknown; None if the node already has it."""
    present = next((each for each in node.status.conditions if each.type == kind), None)
    if present is not None and present.status == "Unknown":
        return None
    never = present is None
    created = format_time(node.metadata.creation_timestamp or _clock.now())
    return {
        "type": kind,
        "status": "Unknown",
        "reason": "NodeStatusNeverUpdated" if never else "NodeStatusUnknown",
        "message": "Kubelet never posted node status." if never else "Kubelet stopped posting node status.",
        "lastTransitionTime": format_time(_clock.now()),
        **({"lastHeartbeatTime": created} if never else {}),
    }


def _wanted_taints(node: Node, *, evicts: bool) -> list[tuple[str, str]]:
    """Return the taints, as key and effect, for the conditions and the cordon of a node."""
    wanted = []
    ready = _status(node, "Ready")
    if ready not in ("True", None):  # None: a new node, whose kubelet may not have reported yet
        key = NOT_READY if ready == "False" else UNREACHABLE
        wanted += [(key, "NoSchedule"), *([(key, "NoExecute")] if evicts else [])]
    if node.spec.unschedulable:
        wanted.append((UNSCHEDULABLE, "NoSchedule"))
    return wanted + [(key, "NoSchedule") for kind, key in _PRESSURES.items() if _status(node, kind) == "True"]


def _taint(key: str, effect: str) -> Taint:
    return Taint(key=key, effect=effect, time_added=_clock.now())
