"""What the sources have in common that are about every cluster of a fleet."""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from contextvars import Context, copy_context
from datetime import timedelta

from pyctrl._log import log_context
from pyctrl._tasks import end
from pyctrl.controller._hosts import Host, Hosts
from pyctrl.controller._queue import Intake
from pyctrl.controller._sources import Source

__all__ = ["EachCluster"]

log = logging.getLogger("pyctrl.controller")


class EachCluster(Source):
    """A source that does something in each cluster that is in a fleet, for as long as it is there.

    The controller does not wait for these clusters: one that is down would keep it from its work for the others.
    Requests for objects of a cluster that leaves are dropped.
    """

    def __init__(self, fleet: Hosts) -> None:
        super().__init__()
        self.fleet_name: str = fleet.name
        self._hosts: dict[str, Host] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._queue: Intake | None = None
        self._context: Context = copy_context()
        fleet.attach(self)

    @property
    def is_elsewhere(self) -> bool:
        """Always: a fleet is not where the controller lives."""
        return True

    @abstractmethod
    async def follow(self, cluster: Host, queue: Intake) -> None:
        """Add requests about one cluster, until cancelled."""

    def has_left(self, cluster: str, queue: Intake | None) -> None:
        """Take note that a cluster has left; nothing runs there any more."""

    def join(self, cluster: Host) -> None:
        """Begin with a cluster that has come."""
        self._hosts[cluster.client.cluster] = cluster
        self._start(cluster)

    async def leave(self, cluster: Host, patience: timedelta | None) -> None:
        """End with a cluster, and drop what is in line for its objects."""
        name = cluster.client.cluster
        self._hosts.pop(name, None)
        if (task := self._tasks.pop(name, None)) is not None:
            await end([task])
        if dropped := (self._queue.drop(name) if self._queue is not None else ()):
            some = [str(request) for request in dropped[:10]]
            facts = {"cluster": name, "dropped": len(dropped), "requests": some}
            log.info("Requests for objects of a cluster that has left are dropped", extra=facts)
        self.has_left(name, self._queue)

    async def run(self, queue: Intake) -> None:
        """Do it in all clusters that are there and that come, until cancelled."""
        self._queue = queue
        self._context = copy_context()  # clusters are told of by who has another one
        async with asyncio.TaskGroup() as self._group:
            try:
                for cluster in self._hosts.values():
                    self._start(cluster)
                self.synced.set()
                await asyncio.get_running_loop().create_future()  # until cancelled
            finally:
                self._group = self._queue = None
                self._tasks.clear()

    def _start(self, cluster: Host) -> None:
        if self._group is not None and self._queue is not None:
            name = cluster.client.cluster
            life = self._live(cluster, self._queue)
            self._tasks[name] = self._group.create_task(life, name=f"{self}: {name}", context=self._context.copy())

    async def _live(self, cluster: Host, queue: Intake) -> None:
        with log_context(cluster=cluster.client.cluster):
            await self.follow(cluster, queue)
