"""Heartbeat of a simulated node in the process of the API server: its lease and the times of its conditions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from math import inf
from random import Random
from typing import Any, TypeAlias

import msgspec

from pyctrl import _clock
from pyctrl.api import format_micro_time, format_time
from pyctrl.client import MergePatch, StrategicMergePatch
from pyctrl.cluster._kubelet.node_objects import CONDITION_TYPES, node_lease
from pyctrl.cluster._well_known import NODE_LEASE_NAMESPACE
from pyctrl.kinds.core.v1 import Node

__all__ = ["JITTER", "RENEW", "REPORT", "NodeHeartbeat", "SendNow"]

RENEW = timedelta(seconds=10)  # renewed after a quarter of the lease duration, as the kubelet does
REPORT = timedelta(minutes=5)  # nodeStatusReportFrequency: the interval of writes of an unchanged status
JITTER = 0.04  # of the interval of renewals, as the kubelet's

_LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NODE_LEASE_NAMESPACE}/leases"

#: Sends a request without waiting, by method, path, media type and body, and returns the status of the response. It
#: raises RuntimeError if the request has to wait for a webhook.
SendNow: TypeAlias = Callable[[str, str, str, bytes], int]


class NodeHeartbeat:
    """Renews the lease of a node every ten seconds and the times of its conditions every five minutes.

    It keeps the schedule, and writes only what was due last: see `pyctrl.apiserver.Heartbeats`.

    Args:
        node: the node.
        reported: when its conditions were written last.
        send: sends the writes.
        on_blocked: called when a webhook has to be asked about a write, which has to be made otherwise then.
        random: draws the jitter.
    """

    def __init__(
        self, node: Node, reported: datetime, send: SendNow, on_blocked: Callable[[], None], random: Random
    ) -> None:
        self.uid: str = node.metadata.uid
        self._node, self._reported, self._send = node, reported, send
        self._on_blocked, self._random = on_blocked, random
        self._time = asyncio.get_running_loop().time
        self._latest = self._time()
        self._next = self._latest + self._interval()
        self._unwritten = inf  # when the first renewal that is not written was due
        self._unreported: datetime | None = None  # the time of the last report, if it is not written

    def due(self) -> float:
        """Return when there is something to write."""
        return min(self._unwritten, self._next)

    def latest(self) -> float:
        """Return when the lease was renewed last, whether that is written or not."""
        self._advance()
        return self._latest

    def note_report(self, reported: datetime) -> None:
        """Take note that the conditions were written, because one has changed."""
        self._reported, self._unreported = reported, None

    def write(self) -> None:
        """Write the last renewal, and the last report if there is a new one."""
        self._advance()
        renewed = self._wall_time(self._latest)
        try:
            if self._unreported is not None:
                self._write_report(self._unreported)
            self._write_lease(renewed)
        except RuntimeError:
            self._on_blocked()
        self._unwritten, self._unreported = inf, None

    def _interval(self) -> float:
        return RENEW.total_seconds() * self._random.uniform(1 - JITTER, 1 + JITTER)

    def _advance(self) -> None:
        """Go through the renewals that were due since the last call."""
        now = self._time()
        while self._next <= now:
            self._latest = self._next
            self._unwritten = min(self._unwritten, self._latest)
            at = self._wall_time(self._latest)
            if at - self._reported >= REPORT:
                self._reported = self._unreported = at
            self._next += self._interval()

    def _wall_time(self, moment: float) -> datetime:
        return _clock.now() - timedelta(seconds=self._time() - moment)

    def _write_report(self, at: datetime) -> None:
        conditions = [{"type": each, "lastHeartbeatTime": format_time(at)} for each in CONDITION_TYPES]
        path = f"/api/v1/nodes/{self._node.metadata.name}/status"
        self._patch(path, StrategicMergePatch({"status": {"conditions": conditions}}))

    def _write_lease(self, at: datetime) -> None:
        patch = MergePatch({"spec": {"renewTime": format_micro_time(at)}})
        if self._patch(f"{_LEASES}/{self._node.metadata.name}", patch) == 404:
            lease: dict[str, Any] = node_lease(self._node, at).to_wire()
            self._send("POST", _LEASES, "application/json", msgspec.json.encode(lease))

    def _patch(self, path: str, patch: MergePatch | StrategicMergePatch) -> int:
        return self._send("PATCH", path, patch.content_type, patch.body(None))
