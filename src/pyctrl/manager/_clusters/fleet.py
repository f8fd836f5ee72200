"""Fleets: the clusters of a provider, which join and leave while a manager runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Protocol, TypeVar

from pyctrl._metrics import MetricFamily, gauge
from pyctrl._tasks import end, unwrapped
from pyctrl.api import KubernetesObject
from pyctrl.cache import Cache
from pyctrl.client import Config, is_same_login
from pyctrl.controller import ClusterAware, FleetController
from pyctrl.errors import PyctrlError
from pyctrl.manager._clusters.connected_cluster import Clusters, ConnectedCluster
from pyctrl.manager._runnables.runnable import NeedsPermissions, RunnableHandle
from pyctrl.rbac import Permission

__all__ = ["ClusterProvider", "Fleet"]

log = logging.getLogger("pyctrl.manager")

T = TypeVar("T", bound=KubernetesObject)

#: The first and the longest delay, in seconds, before a failed provider or cluster is tried again.
CONNECT_DELAYS = (1.0, 60.0)


class ClusterProvider(Protocol):
    """A source of clusters. Its attribute ``rbac``, if any, declares permissions in the manager's own cluster."""

    def follow(self) -> AsyncIterator[Mapping[str, Config]]:
        """Yield all clusters by name: at once, and all of them again whenever one has changed.

        A cluster that is missing from the mapping leaves. A cluster with a new Config gets the new credentials, or
        leaves and joins again if its address or certificate authority has changed. If the iterator raises, the clusters
        stay as they are, and `follow` is called again after a delay.
        """
        ...


class Fleet(Clusters):
    """The clusters of one provider: a mapping of the connected clusters by name.

        fleet = manager.add_fleet("edge", KubeconfigProvider("/etc/clusters"))
        Builder(fleet).reconciles(PodSet).owns(Pod).build(PodSetReconciler)

    A cluster that joins is connected at once, reachable or not; its controllers start as soon as its caches are filled.
    When it leaves, its controllers finish running reconciles within the manager's grace period, then its caches stop
    and its connection is closed. No cluster waits for another one, and a failing cluster does not end the manager.
    """

    def __init__(
        self,
        name: str,
        provider: ClusterProvider,
        *,
        connect: Callable[[str, Config], ConnectedCluster],
        blueprint: ConnectedCluster,
        run: Callable[[FleetController], None],
        registry: MutableMapping[str, ConnectedCluster],
        is_taken: Callable[[str], bool],
        forget: Callable[[str], None],
        grace_period: timedelta | None,
    ) -> None:
        """Called by `Manager.add_fleet`."""
        self._connected: dict[str, ConnectedCluster] = {}
        super().__init__(self._connected)
        self.name: str = name
        self.blueprint: ConnectedCluster = blueprint
        self._provider, self._connect, self._run, self._forget = provider, connect, run, forget
        self._registry, self._is_taken, self._grace_period = registry, is_taken, grace_period
        self._prepare: list[Callable[[Cache], None]] = []
        self._engaged: list[ClusterAware] = []  # controllers and sources that work in every cluster
        self._provided: Mapping[str, Config] = {}
        self._takes: Callable[[str], bool] = lambda _cluster: True
        self._wanted: Mapping[str, Config] = {}  # those of the provided that this replica connects to
        self._updates: dict[str, asyncio.Event] = {}  # one for each cluster that is connected, joins or leaves
        self._group: asyncio.TaskGroup | None = None
        self._logged: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._asked_to_stop = asyncio.Event()

    # --- controllers and indexes ---

    def attach(self, aware: ClusterAware) -> None:
        """Engage a controller or source with all connected clusters, and with those that join later."""
        self._engaged.append(aware)
        for cluster in self._connected.values():
            self._engage(aware, cluster)

    def spread(self, controller: FleetController) -> None:
        """Run a controller in each cluster; called by `Builder`."""
        self.attach(controller)
        self._run(controller)

    @property
    def controller_names(self) -> set[str]:
        """The names of the controllers that run in each of its clusters."""
        return {aware.name for aware in self._engaged if isinstance(aware, FleetController)}

    def members_in(self, cluster: str) -> Sequence[RunnableHandle]:
        """Return the controllers in one of its clusters."""
        spread = [aware for aware in self._engaged if isinstance(aware, FleetController)]
        return [RunnableHandle(each.controllers[cluster]) for each in spread if cluster in each.controllers]

    @property
    def members(self) -> Sequence[RunnableHandle]:
        """The controllers in its clusters."""
        return [member for cluster in self._connected for member in self.members_in(cluster)]

    def share(self, takes: Callable[[str], bool]) -> Callable[[], None]:
        """Connect only to clusters of this replica; return a function to call when these have changed."""
        self._takes = takes
        return self._choose

    def _engage(self, aware: ClusterAware, cluster: ConnectedCluster) -> None:
        aware.engage(cluster)
        if isinstance(aware, FleetController) and cluster.permissions is not None:
            cluster.permissions.adopt(aware.controllers[cluster.name])

    def add_index(self, kind: type[T], name: str, values_of: Callable[[T], Iterable[str]]) -> None:
        """Add an index to the caches of all connected clusters, and of those that join later.

        See `pyctrl.cache.Cache.add_index`.
        """

        def add(cache: Cache) -> None:
            cache.add_index(kind, name, values_of)

        add(self.blueprint.cache)  # so that its permissions include listing the kind
        self._prepare.append(add)
        for cluster in self._connected.values():
            add(cluster.cache)

    # --- state ---

    @property
    def rbac(self) -> Sequence[Permission]:
        """The provider's permissions in the manager's own cluster, and those of the indexes in each cluster."""
        of_provider = self._provider.rbac if isinstance(self._provider, NeedsPermissions) else ()
        return (*of_provider, *self.blueprint.rbac)

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return the number of connected clusters, and the metrics of each."""
        yield gauge("pyctrl_fleet_clusters", "Connected clusters", ({"fleet": self.name}, len(self)))
        for cluster in self._connected.values():
            yield from cluster.collect_metrics()

    async def wait_for(self, *clusters: str) -> None:
        """Wait until clusters of these names have joined, reachable or not."""
        while not all(name in self for name in clusters):
            await self._next_change()

    async def wait_until_gone(self, *clusters: str) -> None:
        """Wait until these clusters have left and are disconnected."""
        while any(name in self._updates for name in clusters):
            await self._next_change()

    async def _next_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    # --- following the provider ---

    async def run(self) -> None:
        """Follow the provider, and keep its clusters connected, until asked to stop."""
        with unwrapped():
            async with asyncio.TaskGroup() as self._group:
                following = self._group.create_task(self._follow(), name=f"{self.name}/provider")
                await self._asked_to_stop.wait()
                following.cancel()
                self._takes = lambda _cluster: False
                self._choose()

    def ask_to_stop(self) -> None:
        """Disconnect from all clusters in order; then `run` returns."""
        self._asked_to_stop.set()

    async def _follow(self) -> None:
        pause, longest = CONNECT_DELAYS
        while True:
            try:
                async with _closing(self._provider.follow()) as updates:
                    async for wanted in updates:
                        pause = CONNECT_DELAYS[0]
                        self._update(wanted)
                        await asyncio.sleep(0)  # a provider may yield without waiting
                log.info("Cluster provider has ended, keeping its clusters", extra={"fleet": self.name})
                await asyncio.get_running_loop().create_future()  # until cancelled
            except Exception as error:
                shown = error if not isinstance(error, PyctrlError) else None
                facts = {"fleet": self.name, "again_in_seconds": pause}
                log.warning("Cluster provider failed, keeping its clusters: %s", error, extra=facts, exc_info=shown)
            await asyncio.sleep(pause)
            pause = min(longest, 2 * pause)

    def _update(self, wanted: Mapping[str, Config]) -> None:
        self._provided = dict(wanted)
        self._choose()

    def _choose(self) -> None:
        """Join and leave clusters, so that this replica is connected to its own."""
        self._wanted = {name: config for name, config in self._provided.items() if self._takes(name)}
        for update in self._updates.values():
            update.set()
        for name in [name for name in self._wanted if name not in self._updates]:
            if self._group is not None:
                self._updates[name] = asyncio.Event()
                self._group.create_task(self._keep_connected(name), name=f"{self.name}/{name}")

    # --- one cluster ---

    async def _keep_connected(self, name: str) -> None:
        """Keep a cluster connected as long as the provider has it; reconnect if its address has changed."""
        try:
            while (config := self._wanted.get(name)) is not None:
                await self._join_until_leaving(name, config)
        finally:
            del self._updates[name]
            self._logged.pop(name, None)
            self._changed.set()

    async def _join_until_leaving(self, name: str, config: Config) -> None:
        facts = {"fleet": self.name, "cluster": name, "server": config.server}
        if self._is_taken(name):
            self._warn_once(name, "another cluster or fleet has its name", facts)
            await self._next_update(name, CONNECT_DELAYS[1])
            return
        try:
            cluster = self._connect(name, config)
        except PyctrlError as error:
            self._warn_once(name, str(error), facts)
            await self._next_update(name, CONNECT_DELAYS[1])
            return
        self._logged.pop(name, None)
        for prepare in self._prepare:
            prepare(cluster.cache)
        assert self._group is not None  # this is a task of it
        running = self._group.create_task(self._run_cluster(cluster), name=f"{self.name}/{name}/cluster")
        self._registry[name] = self._connected[name] = cluster
        try:
            log.info("Cluster joined", extra=facts)
            for aware in self._engaged:
                self._engage(aware, cluster)
            self._changed.set()
            await self._wait_until_leaving(cluster, config, running)
        finally:
            del self._registry[name], self._connected[name]
            await self._disconnect(cluster, running)
            log.info("Cluster left", extra=facts)

    async def _run_cluster(self, cluster: ConnectedCluster) -> None:
        """Run a cluster; log its failure, which does not affect the others."""
        try:
            await cluster.run()
        except Exception:
            log.exception("Cluster failed, reconnecting", extra={"fleet": self.name, "cluster": cluster.name})
            await asyncio.sleep(CONNECT_DELAYS[0])

    async def _wait_until_leaving(self, cluster: ConnectedCluster, config: Config, running: asyncio.Task[None]) -> None:
        """Return when the cluster leaves, fails or has another address; switch to new credentials until then."""
        running.add_done_callback(lambda _: update.set())
        update = self._updates[cluster.name]
        while not running.done():
            wanted = self._wanted.get(cluster.name)
            if wanted is None or not _is_same_cluster(config, wanted):
                return
            if not is_same_login(wanted, config):
                config = wanted
                await self._log_in(cluster, config)
                continue
            await self._next_update(cluster.name)

    async def _log_in(self, cluster: ConnectedCluster, config: Config) -> None:
        facts = {"fleet": self.name, "cluster": cluster.name, "source": config.source}
        try:
            await cluster.log_in(config)
        except PyctrlError as error:
            log.warning("New cluster credentials cannot be used, keeping the old ones: %s", error, extra=facts)
        else:
            log.info("Cluster credentials changed", extra=facts)

    def _warn_once(self, name: str, problem: str, facts: Mapping[str, object]) -> None:
        """Log why a cluster is not connected, once; connecting is tried again each minute."""
        if self._logged.get(name) != problem:
            self._logged[name] = problem
            log.warning("Cluster cannot join: %s", problem, extra=facts)

    async def _next_update(self, name: str, at_most: float | None = None) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(at_most):
                await self._updates[name].wait()
        self._updates[name].clear()

    async def _disconnect(self, cluster: ConnectedCluster, running: asyncio.Task[None]) -> None:
        """Stop the controllers in a cluster, then the cluster itself; always end its task and close its connection."""
        try:
            await asyncio.gather(*(aware.disengage(cluster, self._grace_period) for aware in self._engaged))
            cluster.ask_to_stop()
            await asyncio.wait([running])  # recorded Events are written, for five seconds at most
        finally:
            await end([running])
            await cluster.aclose()
            self._forget(cluster.name)


@asynccontextmanager
async def _closing(updates: AsyncIterator[Mapping[str, Config]]) -> AsyncIterator[AsyncIterator[Mapping[str, Config]]]:
    """Close a generator at the end of the block, not when it is garbage collected."""
    try:
        yield updates
    finally:
        if isinstance(updates, AsyncGenerator):
            await updates.aclose()


def _is_same_cluster(one: Config, other: Config) -> bool:
    """Return whether two Configs are of one cluster, so that its cache stays valid: same address and authority."""
    return (one.server, one.application, one.tls.ca) == (other.server, other.application, other.tls.ca)
