"""Registry of the clusters and fleets that a manager is connected to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

from pyctrl.cache import Cache
from pyctrl.client import Client, Config, SwitchableTransport
from pyctrl.controller import Controller
from pyctrl.errors import ManagerError
from pyctrl.manager._clusters.connected_cluster import CacheScope, Clusters, ConnectedCluster, ManagerContext
from pyctrl.manager._permissions.preflight import Preflight
from pyctrl.manager._runnables.lifecycle import Lifecycle
from pyctrl.manager._runnables.runnable import RunnableHandle, RunnableLike
from pyctrl.manager._runnables.runnable_group import Group

if TYPE_CHECKING:
    from pyctrl.manager._clusters.fleet import ClusterProvider, Fleet

__all__ = ["ClusterRegistry"]


class ClusterRegistry:
    """The clusters and fleets of a manager. The manager's own cluster is ``""``, and run by the manager.

    Args:
        lifecycle: the manager's runnables.
        random: the source of jitter.
        preflight: handling of missing permissions.
        grace_period: the time that disconnecting from a cluster may take.
        run: adds a controller to the manager.
    """

    def __init__(
        self,
        lifecycle: Lifecycle,
        *,
        random: Random,
        preflight: Preflight,
        grace_period: timedelta | None,
        run: Callable[[RunnableLike], None],
    ) -> None:
        self._lifecycle, self._random, self._preflight = lifecycle, random, preflight
        self._grace_period, self._run = grace_period, run
        self._clusters: dict[str, ConnectedCluster] = {}
        self.clusters: Clusters = Clusters(self._clusters)
        self.fleets: dict[str, Fleet] = {}

    @property
    def home(self) -> ConnectedCluster | None:
        """The manager's own cluster; None before it is connected."""
        return self._clusters.get("")

    def add_home(
        self, live: Client, scope: CacheScope, *, own_namespace: str, cache: Cache | None = None
    ) -> ConnectedCluster:
        """Add the manager's own cluster, with ``cache`` if another owner runs its cache."""
        home = ConnectedCluster(live, scope, self._context(), own_namespace=own_namespace, cache=cache)
        self._clusters[""] = home
        return home

    def add_cluster(self, name: str, config: Config, scope: CacheScope) -> ConnectedCluster:
        """Connect to another cluster; see `Manager.add_cluster`."""
        self._check_name(name)
        cluster = self._connect(name, config, scope)
        self._lifecycle.add(cluster, Group.CACHES)
        self._clusters[name] = cluster
        for controller in self._controllers():
            if cluster.permissions is not None and any(each.cluster == name for each in controller.rbac):
                cluster.permissions.adopt(controller)
        return cluster

    def add_fleet(self, name: str, provider: ClusterProvider, scope: CacheScope) -> Fleet:
        """Connect to the clusters of a provider; see `Manager.add_fleet`."""
        from pyctrl.manager._clusters.connected_cluster import NoServer
        from pyctrl.manager._clusters.fleet import Fleet  # here and below: most programs have one cluster

        self._check_name(name)
        fleet = Fleet(
            name,
            provider,
            connect=lambda cluster, config: self._connect(cluster, config, scope, fleet),
            blueprint=self._connect(name, Config.in_process(NoServer()), scope),
            run=self._run,
            registry=self._clusters,
            is_taken=lambda cluster: not cluster or cluster in self._clusters or cluster in self.fleets,
            forget=self._forget,
            grace_period=self._grace_period,
        )
        self._lifecycle.add(fleet, Group.CACHES)
        self.fleets[name] = fleet
        return fleet

    def adopt(self, controller: Controller) -> None:
        """Review the permissions of a controller in its own cluster and in the clusters that it names."""
        named = {permission.cluster or "" for permission in controller.rbac}
        for name in dict.fromkeys((controller.cluster, *sorted(named))):
            cluster = self._clusters.get(name)
            if cluster is not None and cluster.permissions is not None:
                cluster.permissions.adopt(controller)

    def check(self) -> None:
        """Check that permissions are declared only for clusters and fleets that were added.

        Raises:
            ManagerError: a runnable declares permissions in another cluster.
        """
        known = {"", *self._clusters, *self.fleets}
        for member in self._lifecycle.members:
            if unknown := sorted({each.cluster or "" for each in member.rbac} - known):
                names = ", ".join(repr(name) for name in sorted(known) if name) or "none"
                raise ManagerError(
                    f"{member.name} declares permissions in cluster {unknown[0]!r}, but no cluster or fleet of this "
                    f"name was added (added: {names}); see Manager.add_cluster"
                )

    def _check_name(self, name: str) -> None:
        if not name or name in self._clusters or name in self.fleets:
            raise ManagerError(f"a cluster or fleet needs a name that is not empty and not in use, got {name!r}")

    def _connect(self, name: str, config: Config, scope: CacheScope, fleet: Fleet | None = None) -> ConnectedCluster:
        transport = SwitchableTransport(config)
        return ConnectedCluster(
            Client(transport, server=config.server, random=self._random, cluster=name),
            scope,
            self._context((lambda: fleet.members_in(name)) if fleet is not None else tuple),
            own_namespace=config.namespace,
            fleet=fleet.name if fleet is not None else "",
            transport=transport,
        )

    def _context(self, others: Callable[[], Iterable[RunnableHandle]] = tuple) -> ManagerContext:
        return ManagerContext(
            random=self._random,
            preflight=self._preflight,
            members=lambda: (*self._lifecycle.members, *others()),
            add=self._run,
        )

    def _forget(self, name: str) -> None:
        """Forget the permissions known in a cluster that has left."""
        for controller in self._controllers():
            controller.permissions.forget(name)

    def _controllers(self) -> list[Controller]:
        return [each.runnable for each in self._lifecycle.members if isinstance(each.runnable, Controller)]
