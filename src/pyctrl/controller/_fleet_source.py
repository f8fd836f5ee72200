"""The changes of a kind in every cluster of a fleet, for a controller that lives elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyctrl.api import GroupVersionKind, KindLike, kind_of
from pyctrl.controller._causes import ChangeCause
from pyctrl.controller._each_cluster import EachCluster
from pyctrl.controller._handlers import Handler
from pyctrl.controller._hosts import Host, Hosts
from pyctrl.controller._kind_source import KindSource
from pyctrl.controller._observed import Observed
from pyctrl.controller._options import Absence
from pyctrl.controller._queue import Intake
from pyctrl.rbac import Permission

__all__ = ["FleetSource"]


class FleetSource(EachCluster):
    """Follows a kind in each cluster that is in a fleet; made by ``Builder.watches(..., cluster=fleet)``."""

    def __init__(
        self,
        fleet: Hosts,
        kind: KindLike,
        handler: Handler[Any],
        predicates: Iterable[Callable[[Observed[Any]], bool]] = (),
        *,
        absence: Absence = Absence.FAULT,
    ) -> None:
        self.gvk: GroupVersionKind = kind_of(kind)
        chosen = tuple(predicates)
        self._make: Callable[[Host], KindSource] = lambda host: KindSource(
            host.client, kind, handler, chosen, is_elsewhere=True, absence=absence
        )
        self._rbac = self._make(fleet.blueprint).rbac
        self._sources: dict[str, KindSource] = {}
        super().__init__(fleet)

    @property
    def rbac(self) -> Sequence[Permission]:
        """To list and to watch the kind in each cluster."""
        return self._rbac

    def is_own_write(self, cause: ChangeCause) -> bool:
        """Whether this process has written the version of the object that the cause tells of."""
        source = self._sources.get(cause.cluster)
        return source is not None and source.is_own_write(cause)

    def state_of(self, cause: ChangeCause) -> bytes | None:
        """Return the object of a change as the cache of its cluster has it."""
        source = self._sources.get(cause.cluster)
        return None if source is None else source.state_of(cause)

    def join(self, cluster: Host) -> None:
        """Follow the kind in a cluster that has come: its informer begins now, also on a replica that does not lead."""
        self._sources[cluster.client.cluster] = self._make(cluster)
        super().join(cluster)

    async def follow(self, cluster: Host, queue: Intake) -> None:
        """Add what the changes in one cluster ask for."""
        await self._sources[cluster.client.cluster].run(queue)

    def has_left(self, cluster: str, queue: Intake | None) -> None:
        """Forget a cluster."""
        self._sources.pop(cluster, None)

    def __str__(self) -> str:
        return f"kind source: {self.gvk} in the clusters of {self.fleet_name}"
