"""Node registration, status and lease of the simulated kubelet."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from random import Random

from pyctrl import _clock
from pyctrl.api import Key, format_micro_time
from pyctrl.apiserver import Heartbeats
from pyctrl.client import MergePatch, StrategicMergePatch
from pyctrl.cluster._kubelet.node_heartbeat import JITTER, RENEW, REPORT, NodeHeartbeat, SendNow
from pyctrl.cluster._kubelet.node_objects import STATE, node_conditions, node_lease
from pyctrl.cluster._well_known import NODE_LEASE_NAMESPACE
from pyctrl.controller import (
    Builder,
    ChannelSource,
    Controller,
    ManagedCluster,
    Reconciler,
    Request,
    Result,
    TickSource,
)
from pyctrl.errors import AlreadyExists, NotFound
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import Node

__all__ = ["NodeStatusReconciler", "PostponedHeartbeats", "add_node_status"]


class PostponedHeartbeats:
    """The heartbeats of nodes in the process of the API server, which are written when a client can observe them.

    Args:
        heartbeats: the server's.
        send: sends the writes.
        random: draws the jitter.
    """

    def __init__(self, heartbeats: Heartbeats, send: SendNow, random: Random) -> None:
        self._heartbeats, self._send, self._random = heartbeats, send, random
        self._running: dict[str, NodeHeartbeat] = {}
        #: Requests to reconcile nodes: at first all of them, then those whose writes have to wait for a webhook.
        self.source: ChannelSource[Request] = ChannelSource(name="node-lease", size=1_000_000)

    def is_running(self, node: Node) -> bool:
        """Return whether the heartbeat of a node runs."""
        found = self._running.get(node.metadata.name)
        return found is not None and found.uid == node.metadata.uid

    def start(self, node: Node, reported: datetime) -> None:
        """Start the heartbeat of a node whose lease has just been renewed, and whose status was written then."""
        name = node.metadata.name
        heartbeat = NodeHeartbeat(
            node, reported, self._send, partial(self._blocked, name), Random(self._random.random())
        )
        self._running[name] = heartbeat
        self._heartbeats.start(name, heartbeat)

    def note_report(self, name: str, reported: datetime) -> None:
        """Take note that the conditions of a node were written."""
        if name in self._running:
            self._running[name].note_report(reported)

    def end(self, name: str) -> None:
        """End the heartbeat of a node that is lost."""
        if self._running.pop(name, None) is not None:
            self._heartbeats.end(name)

    def forget(self, name: str) -> None:
        """End the heartbeat of a node that was deleted."""
        self._running.pop(name, None)
        self._heartbeats.forget(name)

    def _blocked(self, name: str) -> None:
        """Have a node reconciled, which writes with requests that can wait and starts the heartbeat again."""
        self.forget(name)
        self.source.send_nowait(Request("", name))


def add_node_status(
    host: ManagedCluster, nodes: Sequence[Node], postponed: PostponedHeartbeats | None = None
) -> Controller:
    """Register nodes and maintain their status and leases in a manager.

    Args:
        host: the manager.
        nodes: the nodes.
        postponed: writes the heartbeats. Without it, each is written when it is due.
    """
    requests = [Request.of(node) for node in nodes]
    source: TickSource | ChannelSource[Request]
    if postponed is None:
        source = TickSource(RENEW, requests, name="node-lease", jitter=JITTER, random=host.random)
    else:
        source = postponed.source
        for request in requests:
            source.send_nowait(request)
    reconciler = NodeStatusReconciler(nodes, postponed)
    return Builder(host).reconciles(Node).watches_source(source).options(name="pretend-node").build(reconciler)


class NodeStatusReconciler(Reconciler[Node]):
    """Registers nodes, renews their leases, and reports their conditions.

    A deleted node is not registered again, as with a kubelet that is not restarted.
    """

    def __init__(self, nodes: Sequence[Node], postponed: PostponedHeartbeats | None = None) -> None:
        self._nodes = {node.metadata.name: node for node in nodes}
        self._postponed = postponed
        self._registered: set[str] = set()
        self._renewed: dict[str, float] = {}

    async def reconcile(self, request: Request) -> Result | None:
        template = self._nodes.get(request.name)
        if template is None:
            return None
        node = await self.client.find(Node, request.key)
        if node is None:
            if self._postponed is not None:
                self._postponed.forget(request.name)
            if request.name not in self._registered:
                await self._register(template)
            return None
        self._registered.add(request.name)
        state = node.metadata.annotations.get(STATE)
        if state != "lost":
            await self._allocate(node, template)
            reported = await self._report(node, is_ready=state != "not-ready")
            if self._postponed is None:
                await self._renew(node)
            elif not self._postponed.is_running(node):
                await self._renew(node)
                self._postponed.start(node, reported)
        elif self._postponed is not None:
            self._postponed.end(request.name)
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
            await self.client.create(node_lease(node, _clock.now()))
        self._renewed[name] = now

    async def _allocate(self, node: Node, template: Node) -> None:
        """Make resources allocatable that a user has added to the capacity, as a kubelet does."""
        before, known = node.status.allocatable, template.status.allocatable
        changed = {
            name: node.status.capacity.get(name)
            for name in (node.status.capacity.keys() | before.keys()) - known.keys()
            if node.status.capacity.get(name) != before.get(name)
        }
        if changed:
            wire = {name: None if quantity is None else str(quantity) for name, quantity in changed.items()}
            await self.client.status.patch(node, MergePatch({"status": {"allocatable": wire}}))

    async def _report(self, node: Node, *, is_ready: bool) -> datetime:
        """Write the conditions if one has changed, and periodically if none has; return when they were written."""
        now = _clock.now()
        present = {condition.type: condition for condition in node.status.conditions}
        wanted = node_conditions(is_ready=is_ready)
        is_due, written = False, now
        for each in wanted:
            before = present.get(each["type"])
            if before is not None and before.status == each["status"] and before.last_transition_time is not None:
                each["lastTransitionTime"] = before.to_wire()["lastTransitionTime"]
            beat = before.last_heartbeat_time if before is not None else None
            is_same = before is not None and (before.status, before.reason) == (each["status"], each["reason"])
            is_due = is_due or not is_same or beat is None or now - beat >= REPORT
            written = min(written, beat or now)
        if not is_due:
            return written
        await self.client.status.patch(node, StrategicMergePatch({"status": {"conditions": wanted}}))
        if self._postponed is not None:
            self._postponed.note_report(node.metadata.name, now)
        return now
