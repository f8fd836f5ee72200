"""Node registration, status and lease of the simulated kubelet."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from pyctrl import _clock
from pyctrl.api import Key, ObjectMeta, format_micro_time, owner_reference
from pyctrl.client import MergePatch, StrategicMergePatch
from pyctrl.cluster._kubelet.node_objects import STATE, node_conditions
from pyctrl.cluster._well_known import NODE_LEASE_NAMESPACE
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result, TickSource
from pyctrl.errors import AlreadyExists, NotFound
from pyctrl.kinds.coordination.v1 import Lease, LeaseSpec
from pyctrl.kinds.core.v1 import Node

__all__ = ["LEASE_SECONDS", "NodeStatusReconciler", "add_node_status"]

LEASE_SECONDS = 40  # nodeLeaseDurationSeconds of the kubelet
RENEW = timedelta(seconds=10)  # renewed after a quarter of the lease duration, as the kubelet does
REPORT = timedelta(minutes=5)  # nodeStatusReportFrequency: the interval of writes of an unchanged status


def add_node_status(host: ManagedCluster, nodes: Sequence[Node]) -> Controller:
    """Register nodes and maintain their status and leases in a manager."""
    requests = [Request.of(node) for node in nodes]
    ticks = TickSource(RENEW, requests, name="node-lease", jitter=0.04, random=host.random)
    reconciler = NodeStatusReconciler(nodes)
    return Builder(host).reconciles(Node).watches_source(ticks).options(name="pretend-node").build(reconciler)


class NodeStatusReconciler(Reconciler[Node]):
    """Registers nodes, renews their leases, and reports their conditions.

    A deleted node is not registered again, as with a kubelet that is not restarted.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = {node.metadata.name: node for node in nodes}
        self._registered: set[str] = set()
        self._renewed: dict[str, float] = {}

    async def reconcile(self, request: Request) -> Result | None:
        template = self._nodes.get(request.name)
        if template is None:
            return None
        node = await self.client.find(Node, request.key)
        if node is None:
            if request.name not in self._registered:
                await self._register(template)
            return None
        self._registered.add(request.name)
        state = node.metadata.annotations.get(STATE)
        if state != "lost":
            await self._report(node, is_ready=state != "not-ready")
            await self._renew(node)
        return None

    async def _register(self, template: Node) -> None:
        try:
            await self.client.create(template)
        except AlreadyExists:
            return  # registered by an earlier kubelet: the node's event triggers a reconcile
        self._registered.add(template.metadata.name)

    async def _renew(self, node: Node) -> None:
        now, name = asyncio.get_running_loop().time(), node.metadata.name
        if now - self._renewed.get(name, float("-inf")) < RENEW.total_seconds() / 2:
            return  # this reconcile is due to a change of the node
        key = Key(NODE_LEASE_NAMESPACE, name)
        try:
            await self.client.patch(Lease, key, MergePatch({"spec": {"renewTime": format_micro_time(_clock.now())}}))
        except NotFound:
            await self.client.create(_lease(node))
        self._renewed[name] = now

    async def _report(self, node: Node, *, is_ready: bool) -> None:
        """Write the conditions if one has changed, and periodically if none has."""
        present = {condition.type: condition for condition in node.status.conditions}
        wanted = node_conditions(is_ready=is_ready)
        is_due = False
        for each in wanted:
            before = present.get(each["type"])
            if before is not None and before.status == each["status"] and before.last_transition_time is not None:
                each["lastTransitionTime"] = before.to_wire()["lastTransitionTime"]
            beat = before.last_heartbeat_time if before is not None else None
            is_same = before is not None and (before.status, before.reason) == (each["status"], each["reason"])
            is_due = is_due or not is_same or beat is None or _clock.now() - beat >= REPORT
        if is_due:
            await self.client.status.patch(node, StrategicMergePatch({"status": {"conditions": wanted}}))


def _lease(node: Node) -> Lease:
    name = node.metadata.name
    return Lease(
        metadata=ObjectMeta(name=name, namespace=NODE_LEASE_NAMESPACE, owner_references=[owner_reference(node)]),
        spec=LeaseSpec(holder_identity=name, lease_duration_seconds=LEASE_SECONDS, renew_time=_clock.now()),
    )
