"""The coming and going of clusters as a source: a new cluster has no objects yet whose changes would tell of it."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from datetime import timedelta

from pyctrl.controller._causes import TriggerCause
from pyctrl.controller._each_cluster import EachCluster
from pyctrl.controller._handlers import Requests
from pyctrl.controller._hosts import Host, Hosts
from pyctrl.controller._queue import Intake
from pyctrl.controller._sources import add_all

__all__ = ["ClusterSource"]

log = logging.getLogger("pyctrl.controller")


class ClusterSource(EachCluster):
    """Asks a function, for each cluster of a fleet, what to reconcile now that it is there; `Builder.watches_clusters`.

    It is asked once the caches of the cluster are filled, and once more when the cluster has left. It may look at a
    cache for the requests; one that fails is logged, and asked no further.
    """

    def __init__(self, fleet: Hosts, handler: Callable[[str], Requests]) -> None:
        self._handler = handler
        super().__init__(fleet)

    async def follow(self, cluster: Host, queue: Intake) -> None:
        """Tell of a cluster when it can be worked in."""
        await cluster.cache.wait_for_sync(even_forbidden=False)
        name = cluster.client.cluster
        await self._tell(name, queue, f"cluster {name} has come")

    async def leave(self, cluster: Host, patience: timedelta | None) -> None:
        """Tell of a cluster that goes."""
        await super().leave(cluster, patience)
        if self._queue is not None:
            name = cluster.client.cluster
            await self._tell(name, self._queue, f"cluster {name} has left")

    async def _tell(self, cluster: str, queue: Intake, why: str) -> None:
        try:
            requests = self._handler(cluster)
            found = await requests if inspect.isawaitable(requests) else requests
            await add_all(queue, found, cause=TriggerCause(why))
        except Exception:
            log.exception("A handler failed, that a cluster has come or gone is lost", extra={"source": str(self)})

    def __str__(self) -> str:
        return f"cluster source: {self.fleet_name}"
