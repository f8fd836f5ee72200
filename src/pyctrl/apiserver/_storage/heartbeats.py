"""Heartbeats: periodic writes that are postponed while no client can observe them.

An idle node renews its lease every ten seconds, which is most of what an idle cluster does. A heartbeat is written,
with the time that it was due, before the next request of any client is answered, and at once while a watch of nodes or
leases is open. So clients see what they would see of a node that writes each heartbeat, except that the versions
between two requests are missing from the history.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextvars import Context, copy_context
from math import inf
from typing import Protocol

__all__ = ["OBSERVED", "HeartbeatWriter", "Heartbeats"]

#: The collections, by group and resource, that heartbeats are written to.
OBSERVED = frozenset({("coordination.k8s.io", "leases"), ("", "nodes")})


class HeartbeatWriter(Protocol):
    """The writer of the heartbeats of one node. All times are those of the event loop's clock."""

    def due(self) -> float:
        """Return when there is something to write."""
        ...

    def latest(self) -> float:
        """Return when the node was last alive, whether that is written or not."""
        ...

    def write(self) -> None:
        """Write the latest heartbeat."""
        ...


class Heartbeats:
    """The heartbeats of the nodes in this process, by the name of the node."""

    def __init__(self) -> None:
        self._running: dict[str, tuple[HeartbeatWriter, Context]] = {}
        self._ended: dict[str, float] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._due = inf
        self._watches = 0
        self._timer: asyncio.TimerHandle | None = None

    def start(self, name: str, heartbeat: HeartbeatWriter) -> None:
        """Start the heartbeat of a node, which replaces an earlier one."""
        self._loop = asyncio.get_running_loop()
        self._ended.pop(name, None)
        self._running[name] = heartbeat, copy_context()
        self._plan()

    def find(self, name: str) -> HeartbeatWriter | None:
        """Return the running heartbeat of a node, or None."""
        found = self._running.get(name)
        return None if found is None else found[0]

    def end(self, name: str) -> None:
        """Write the last heartbeat of a node and end it, as when the node is lost."""
        self.catch_up()
        found = self._running.pop(name, None)
        if found is not None:
            self._ended[name] = found[0].latest()
            self._plan()

    def forget(self, name: str) -> None:
        """End the heartbeat of a node that was deleted."""
        self._running.pop(name, None)
        self._ended.pop(name, None)
        self._plan()

    def end_all(self) -> None:
        """End every heartbeat."""
        for name in list(self._running):
            self.end(name)

    def latest(self, name: str) -> float | None:
        """Return when a node was last alive, by the loop's clock; None if it never had a heartbeat here."""
        found = self._running.get(name)
        return self._ended.get(name) if found is None else found[0].latest()

    def catch_up(self) -> None:
        """Write the heartbeats that are due; called before each request."""
        if self._loop is None or (now := self._loop.time()) < self._due:
            return
        self._due = inf  # the writes are requests too
        for heartbeat, context in list(self._running.values()):
            if heartbeat.due() <= now:
                context.run(heartbeat.write)
        self._plan()

    async def observed(self, lines: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a watch; while it is open, heartbeats are written when they are due."""
        self._watches += 1
        self._plan()
        try:
            async for line in lines:
                yield line
        finally:
            self._watches -= 1
            self._plan()
            await lines.aclose()

    def _plan(self) -> None:
        """Set the time of the next writes, and the timer for it while a watch is open."""
        self._due = min((heartbeat.due() for heartbeat, _ in self._running.values()), default=inf)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._loop is not None and self._watches and self._due != inf:
            self._timer = self._loop.call_at(self._due, self.catch_up)
