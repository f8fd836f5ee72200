"""The changes of a kind in every cluster of a fleet, for a controller that lives elsewhere."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextvars import Context, copy_context
from datetime import timedelta
from typing import Any

from pyctrl._log import log_context
from pyctrl._tasks import end
from pyctrl.api import GroupVersionKind, KindLike, kind_of
from pyctrl.controller._causes import ChangeCause
from pyctrl.controller._handlers import Handler
from pyctrl.controller._hosts import Host, Hosts
from pyctrl.controller._kind_source import KindSource
from pyctrl.controller._observed import Observed
from pyctrl.controller._options import Absence
from pyctrl.controller._queue import Intake
from pyctrl.controller._sources import Source
from pyctrl.rbac import Permission

__all__ = ["FleetSource"]

log = logging.getLogger("pyctrl.controller")


class FleetSource(Source):
    """Follows a kind in each cluster that is in a fleet, for as long as it is there.

    The controller does not wait for these clusters: one that is down would keep it from its work for the others.
    Requests for objects of a cluster that leaves are dropped.
    """

    def __init__(
        self,
        fleet: Hosts,
        kind: KindLike,
        handler: Handler[Any],
        predicates: Iterable[Callable[[Observed[Any]], bool]] = (),
        *,
        absence: Absence = Absence.FAULT,
    ) -> None:
        super().__init__()
        self.gvk: GroupVersionKind = kind_of(kind)
        self._fleet_name = fleet.name
        self._make: Callable[[Host], KindSource] = lambda host: KindSource(
            host.client, kind, handler, tuple(predicates), is_elsewhere=True, absence=absence
        )
        self._rbac = self._make(fleet.blueprint).rbac
        self._sources: dict[str, KindSource] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._queue: Intake | None = None
        self._context: Context = copy_context()
        fleet.attach(self)

    @property
    def rbac(self) -> Sequence[Permission]:
        """To list and to watch the kind in each cluster."""
        return self._rbac

    @property
    def is_elsewhere(self) -> bool:
        """Always: a fleet is not where the controller lives."""
        return True

    def is_own_write(self, cause: ChangeCause) -> bool:
        """Whether this process has written the version of the object that the cause tells of."""
        source = self._sources.get(cause.cluster)
        return source is not None and source.is_own_write(cause)

    def join(self, cluster: Host) -> None:
        """Follow the kind in a cluster that has come."""
        source = self._sources[cluster.client.cluster] = self._make(cluster)
        self._start(source)

    async def leave(self, cluster: Host, patience: timedelta | None) -> None:
        """Follow it no longer, and drop what is in line for objects of the cluster."""
        self._sources.pop(cluster.client.cluster, None)
        if (task := self._tasks.pop(cluster.client.cluster, None)) is not None:
            await end([task])
        dropped = self._queue.drop(cluster.client.cluster) if self._queue is not None else ()
        if dropped:
            some = [str(request) for request in dropped[:10]]
            facts = {"cluster": cluster.client.cluster, "dropped": len(dropped), "requests": some}
            log.info("Requests for objects of a cluster that has left are dropped", extra=facts)

    async def run(self, queue: Intake) -> None:
        """Follow the kind in all clusters that are there and that come, until cancelled."""
        self._queue = queue
        self._context = copy_context()
        async with asyncio.TaskGroup() as self._group:
            try:
                for source in self._sources.values():
                    self._start(source)
                self.synced.set()
                await asyncio.get_running_loop().create_future()  # until cancelled
            finally:
                self._group = self._queue = None
                self._tasks.clear()

    def _start(self, source: KindSource) -> None:
        if self._group is not None and self._queue is not None:
            self._tasks[source.cluster] = self._group.create_task(
                self._follow(source, self._queue), name=f"{source}", context=self._context.copy()
            )

    async def _follow(self, source: KindSource, queue: Intake) -> None:
        with log_context(cluster=source.cluster):
            await source.run(queue)

    def __str__(self) -> str:
        return f"kind source: {self.gvk} in the clusters of {self._fleet_name}"
