"""Sources that work in each cluster of a fleet: the changes of a kind, and clusters that join and leave."""

from __future__ import annotations

import asyncio
import inspect
import logging
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from datetime import timedelta

from pyctrl._log import log_context
from pyctrl._tasks import end
from pyctrl.api import GroupVersionKind
from pyctrl.controller._causes import ChangeCause, TriggerCause
from pyctrl.controller._handlers import Requests
from pyctrl.controller._managed_cluster import ManagedCluster, ManagedFleet
from pyctrl.controller._sources.kind import KindSource
from pyctrl.controller._sources.source import Source, add_all
from pyctrl.controller._sources.subscription import SubscriptionSource
from pyctrl.controller._workqueue.request_sinks import RequestSink
from pyctrl.rbac import Permission

__all__ = ["FleetKindSource", "FleetMembershipSource", "PerClusterSource"]


log = logging.getLogger("pyctrl.controller")


class PerClusterSource(Source):
    """A source that runs in each cluster of a fleet, while the cluster belongs to it.

    The controller does not wait for these clusters, so that one that is down does not stop the work for the others.
    Requests for objects of a cluster that leaves are dropped.
    """

    def __init__(self, fleet: ManagedFleet) -> None:
        super().__init__()
        self.fleet_name: str = fleet.name
        self._clusters: dict[str, ManagedCluster] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._queue: RequestSink | None = None
        self._context: Context = copy_context()
        fleet.attach(self)

    @property
    def is_elsewhere(self) -> bool:
        """Always true: the clusters of a fleet are others than the controller's."""
        return True

    @abstractmethod
    async def follow(self, cluster: ManagedCluster, queue: RequestSink) -> None:
        """Add requests about one cluster, until cancelled."""

    def disengaged(self, cluster: str, queue: RequestSink | None) -> None:
        """Forget a cluster that has left, once nothing runs for it any more."""

    def engage(self, cluster: ManagedCluster) -> None:
        """Start in a cluster that has joined."""
        self._clusters[cluster.client.cluster] = cluster
        self._start(cluster)

    async def disengage(self, cluster: ManagedCluster, patience: timedelta | None) -> None:
        """Stop in a cluster that leaves, and drop the requests for its objects."""
        name = cluster.client.cluster
        self._clusters.pop(name, None)
        if (task := self._tasks.pop(name, None)) is not None:
            await end([task])
        if dropped := (self._queue.drop(name) if self._queue is not None else ()):
            some = [str(request) for request in dropped[:10]]
            facts = {"cluster": name, "dropped": len(dropped), "requests": some}
            log.info("Dropping requests for objects of a cluster that has left", extra=facts)
        self.disengaged(name, self._queue)

    async def run(self, queue: RequestSink) -> None:
        """Run in all clusters, also in those that join later, until cancelled."""
        self._queue = queue
        self._context = copy_context()  # `engage` is called in another context
        async with asyncio.TaskGroup() as self._group:
            try:
                for cluster in self._clusters.values():
                    self._start(cluster)
                self.synced.set()
                await asyncio.get_running_loop().create_future()  # until cancelled
            finally:
                self._group = self._queue = None
                self._tasks.clear()

    def _start(self, cluster: ManagedCluster) -> None:
        if self._group is not None and self._queue is not None:
            name = cluster.client.cluster
            life = self._run_in(cluster, self._queue)
            self._tasks[name] = self._group.create_task(life, name=f"{self}: {name}", context=self._context.copy())

    async def _run_in(self, cluster: ManagedCluster, queue: RequestSink) -> None:
        with log_context(cluster=cluster.client.cluster):
            await self.follow(cluster, queue)


class FleetKindSource(PerClusterSource):
    """The changes of a kind in each cluster of a fleet; made by ``Builder.watches(..., cluster=fleet)``.

    Args:
        fleet: the clusters.
        make: makes the source of one cluster.
    """

    def __init__(self, fleet: ManagedFleet, make: Callable[[ManagedCluster], KindSource]) -> None:
        self._make = make
        prototype = make(fleet.blueprint)
        self.gvk: GroupVersionKind = prototype.gvk
        self._rbac = prototype.rbac
        self._sources: dict[str, KindSource] = {}
        super().__init__(fleet)

    @property
    def rbac(self) -> Sequence[Permission]:
        """The permissions to list and watch the kind in each cluster."""
        return self._rbac

    @property
    def follows(self) -> tuple[GroupVersionKind]:
        """The kind."""
        return (self.gvk,)

    def is_own_write(self, cause: ChangeCause) -> bool:
        """Return whether this process has written the version of the object that the cause names."""
        source = self._sources.get(cause.cluster)
        return source is not None and source.is_own_write(cause)

    def state_of(self, cause: ChangeCause) -> bytes | None:
        """Return the JSON of the object of a change from the cache of its cluster."""
        source = self._sources.get(cause.cluster)
        return None if source is None else source.state_of(cause)

    def engage(self, cluster: ManagedCluster) -> None:
        """Follow the kind in a cluster that has joined; its informer starts now, whether this replica leads or not."""
        self._sources[cluster.client.cluster] = self._make(cluster)
        super().engage(cluster)

    async def follow(self, cluster: ManagedCluster, queue: RequestSink) -> None:
        """Add the requests for changes in one cluster."""
        await self._sources[cluster.client.cluster].run(queue)

    def disengaged(self, cluster: str, queue: RequestSink | None) -> None:
        """Forget a cluster, and enqueue the requests that have read the kind there."""
        source = self._sources.pop(cluster, None)
        if isinstance(source, SubscriptionSource):
            readers = source.forget()
            if queue is not None:
                source.enqueue_all(queue, readers, f"cluster {cluster}, which this reconcile read, has left")

    def __str__(self) -> str:
        return f"kind source: {self.gvk} in the clusters of {self.fleet_name}"


class FleetMembershipSource(PerClusterSource):
    """The clusters that join and leave a fleet, mapped to requests by a function; see `Builder.watches_clusters`.

    The function is called when the caches of a cluster are synced, and when the cluster has left. It may read from a
    cache. When it fails, the error is logged and the requests are lost.
    """

    def __init__(self, fleet: ManagedFleet, handler: Callable[[str], Requests]) -> None:
        self._handler = handler
        super().__init__(fleet)

    async def follow(self, cluster: ManagedCluster, queue: RequestSink) -> None:
        """Add the requests for a cluster once its caches are synced."""
        await cluster.cache.wait_for_sync(even_forbidden=False)
        name = cluster.client.cluster
        await self._enqueue_for(name, queue, f"cluster {name} has come")

    async def disengage(self, cluster: ManagedCluster, patience: timedelta | None) -> None:
        """Add the requests for a cluster that leaves."""
        await super().disengage(cluster, patience)
        if self._queue is not None:
            name = cluster.client.cluster
            await self._enqueue_for(name, self._queue, f"cluster {name} has left")

    async def _enqueue_for(self, cluster: str, queue: RequestSink, why: str) -> None:
        try:
            requests = self._handler(cluster)
            found = await requests if inspect.isawaitable(requests) else requests
            await add_all(queue, found, cause=TriggerCause(why))
        except Exception:
            log.exception("A handler failed, the change of a cluster is lost", extra={"source": str(self)})

    def __str__(self) -> str:
        return f"cluster source: {self.fleet_name}"
