"""Clusters that come and go while a manager runs, as a provider tells."""

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

#: Until a provider that has failed is asked again, and a cluster is connected again whose cache has failed.
CONNECT_DELAYS = (1.0, 60.0)


class ClusterProvider(Protocol):
    """Knows which clusters there are. One with an attribute ``rbac`` says which rights it needs in the home cluster."""

    def follow(self) -> AsyncIterator[Mapping[str, Config]]:
        """Yield all clusters there are, by name: at once, and all of them again whenever something has changed.

        A cluster that is not named any more leaves; one whose Config is another gets the new login, or leaves and comes
        back if its address or authority has changed. When it raises, the clusters stay as they are, and it is asked
        again a while later.
        """
        ...


class Fleet(Clusters):
    """The clusters of one provider, connected while they are there. A mapping of those of now, by name.

        fleet = manager.add_fleet("edge", KubeconfigProvider("/etc/clusters"))
        Builder(fleet).reconciles(PodSet).owns(Pod).build(PodSetReconciler)

    A cluster that comes is connected at once, reachable or not, and worked in as soon as its caches are filled. When it
    leaves, its controllers finish what they have begun within the grace period of the manager, then its caches end and
    its connection is closed. No cluster waits for another one, and none is a reason for the manager to end.
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
        """Made by `Manager.add_fleet`."""
        self._here: dict[str, ConnectedCluster] = {}
        super().__init__(self._here)
        self.name: str = name
        self.blueprint: ConnectedCluster = blueprint
        self._provider, self._connect, self._run, self._forget = provider, connect, run, forget
        self._registry, self._is_taken, self._grace_period = registry, is_taken, grace_period
        self._prepare: list[Callable[[Cache], None]] = []
        self._tenants: list[ClusterAware] = []
        self._wanted: Mapping[str, Config] = {}
        self._news: dict[str, asyncio.Event] = {}  # one for each cluster that is there, comes or goes
        self._group: asyncio.TaskGroup | None = None
        self._complaints: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._asked_to_stop = asyncio.Event()

    # --- who works in it ---

    def attach(self, tenant: ClusterAware) -> None:
        """Let a tenant join all clusters that are there, and those that come."""
        self._tenants.append(tenant)
        for cluster in self._here.values():
            self._introduce(tenant, cluster)

    def spread(self, controller: FleetController) -> None:
        """Run a controller in each cluster; `Builder` does it."""
        self.attach(controller)
        self._run(controller)

    @property
    def controller_names(self) -> set[str]:
        """The names of the controllers that are in each of its clusters."""
        return {tenant.name for tenant in self._tenants if isinstance(tenant, FleetController)}

    def members_in(self, cluster: str) -> Sequence[RunnableHandle]:
        """Return the controllers that live in one of its clusters."""
        spread = [tenant for tenant in self._tenants if isinstance(tenant, FleetController)]
        return [RunnableHandle(each.controllers[cluster]) for each in spread if cluster in each.controllers]

    @property
    def members(self) -> Sequence[RunnableHandle]:
        """The controllers that live in its clusters."""
        return [member for cluster in self._here for member in self.members_in(cluster)]

    def _introduce(self, tenant: ClusterAware, cluster: ConnectedCluster) -> None:
        tenant.engage(cluster)
        if isinstance(tenant, FleetController) and cluster.rights is not None:
            cluster.rights.adopt(tenant.controllers[cluster.name])

    def add_index(self, kind: type[T], name: str, values_of: Callable[[T], Iterable[str]]) -> None:
        """Add an index to the caches of all clusters, of those that are there and of those that come.

        See `pyctrl.cache.Cache.add_index`.
        """

        def add(cache: Cache) -> None:
            cache.add_index(kind, name, values_of)

        add(self.blueprint.cache)  # which knows then that the kind is to be listed
        self._prepare.append(add)
        for cluster in self._here.values():
            add(cluster.cache)

    # --- how it is doing ---

    @property
    def rbac(self) -> Sequence[Permission]:
        """What its provider needs in the home cluster, and its indexes in each of its own."""
        of_provider = self._provider.rbac if isinstance(self._provider, NeedsPermissions) else ()
        return (*of_provider, *self.blueprint.rbac)

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return how many clusters there are, and what they have counted."""
        yield gauge("pyctrl_fleet_clusters", "Clusters that are there", ({"fleet": self.name}, len(self)))
        for cluster in self._here.values():
            yield from cluster.collect_metrics()

    async def wait_for(self, *clusters: str) -> None:
        """Wait until clusters of these names are there; reachable or not."""
        while not all(name in self for name in clusters):
            await self._next_change()

    async def wait_until_gone(self, *clusters: str) -> None:
        """Wait until none of these clusters is there and nothing of them is left."""
        while any(name in self._news for name in clusters):
            await self._next_change()

    async def _next_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    # --- its life ---

    async def run(self) -> None:
        """Follow the provider, and keep each cluster connected that it names, until asked to stop."""
        with unwrapped():
            async with asyncio.TaskGroup() as self._group:
                following = self._group.create_task(self._follow(), name=f"{self.name}/provider")
                await self._asked_to_stop.wait()
                following.cancel()
                self._take({})

    def ask_to_stop(self) -> None:
        """Part from all clusters, in order; then `run` returns."""
        self._asked_to_stop.set()

    async def _follow(self) -> None:
        pause, longest = CONNECT_DELAYS
        while True:
            try:
                async with _closing(self._provider.follow()) as told:
                    async for wanted in told:
                        pause = CONNECT_DELAYS[0]
                        self._take(wanted)
                        await asyncio.sleep(0)  # a provider need not wait for anything itself
                log.info("The provider of a fleet tells nothing more", extra={"fleet": self.name})
                await asyncio.get_running_loop().create_future()  # until cancelled
            except Exception as error:
                shown = error if not isinstance(error, PyctrlError) else None
                facts = {"fleet": self.name, "again_in_seconds": pause}
                log.warning("The provider of a fleet failed, its clusters stay: %s", error, extra=facts, exc_info=shown)
            await asyncio.sleep(pause)
            pause = min(longest, 2 * pause)

    def _take(self, wanted: Mapping[str, Config]) -> None:
        self._wanted = dict(wanted)
        for news in self._news.values():
            news.set()
        for name in [name for name in self._wanted if name not in self._news]:
            if self._group is not None:
                self._news[name] = asyncio.Event()
                self._group.create_task(self._keep(name), name=f"{self.name}/{name}")

    async def _keep(self, name: str) -> None:
        """Connect a cluster for as long as it is wanted; anew, when it has become another one."""
        try:
            while (config := self._wanted.get(name)) is not None:
                await self._visit(name, config)
        finally:
            del self._news[name]
            self._complaints.pop(name, None)
            self._changed.set()

    async def _visit(self, name: str, config: Config) -> None:
        facts = {"fleet": self.name, "cluster": name, "server": config.server}
        if self._is_taken(name):
            self._complain(name, "another cluster or fleet has its name", facts)
            await self._next_news(name, CONNECT_DELAYS[1])
            return
        try:
            cluster = self._connect(name, config)
        except PyctrlError as error:
            self._complain(name, str(error), facts)
            await self._next_news(name, CONNECT_DELAYS[1])
            return
        self._complaints.pop(name, None)
        for prepare in self._prepare:
            prepare(cluster.cache)
        assert self._group is not None  # this is a task of it
        life = self._group.create_task(self._live(cluster), name=f"{self.name}/{name}/life")
        self._registry[name] = self._here[name] = cluster
        try:
            log.info("A cluster has joined", extra=facts)
            for tenant in self._tenants:
                self._introduce(tenant, cluster)
            self._changed.set()
            await self._stay(cluster, config, life)
        finally:
            del self._registry[name], self._here[name]
            await self._part(cluster, life)
            log.info("A cluster has left", extra=facts)

    async def _live(self, cluster: ConnectedCluster) -> None:
        """Run a cluster; a failure of it is not one of the others."""
        try:
            await cluster.run()
        except Exception:
            log.exception("A cluster failed, connecting it anew", extra={"fleet": self.name, "cluster": cluster.name})
            await asyncio.sleep(CONNECT_DELAYS[0])

    async def _stay(self, cluster: ConnectedCluster, config: Config, life: asyncio.Task[None]) -> None:
        """Return when the cluster is to leave, or has become another one; use the login of now until then."""
        life.add_done_callback(lambda _: news.set())
        news = self._news[cluster.name]
        while not life.done():
            wanted = self._wanted.get(cluster.name)
            if wanted is None or not _is_same_cluster(config, wanted):
                return
            if not is_same_login(wanted, config):
                config = wanted
                await self._log_in(cluster, config)
                continue
            await self._next_news(cluster.name)

    async def _log_in(self, cluster: ConnectedCluster, config: Config) -> None:
        facts = {"fleet": self.name, "cluster": cluster.name, "source": config.source}
        try:
            await cluster.log_in(config)
        except PyctrlError as error:
            log.warning("A cluster keeps its old login, the new one cannot be used: %s", error, extra=facts)
        else:
            log.info("A cluster has got another login", extra=facts)

    def _complain(self, name: str, complaint: str, facts: Mapping[str, object]) -> None:
        """Say why a cluster is not connected, once; it is tried again each minute."""
        if self._complaints.get(name) != complaint:
            self._complaints[name] = complaint
            log.warning("A cluster cannot join: %s", complaint, extra=facts)

    async def _next_news(self, name: str, at_most: float | None = None) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(at_most):
                await self._news[name].wait()
        self._news[name].clear()

    async def _part(self, cluster: ConnectedCluster, life: asyncio.Task[None]) -> None:
        """End what is done in a cluster, in order; whatever happens, its tasks end and its connection is closed."""
        try:
            await asyncio.gather(*(tenant.disengage(cluster, self._grace_period) for tenant in self._tenants))
            cluster.ask_to_stop()
            await asyncio.wait([life])  # events are written, for five seconds at most
        finally:
            await end([life])
            await cluster.aclose()
            self._forget(cluster.name)


@asynccontextmanager
async def _closing(told: AsyncIterator[Mapping[str, Config]]) -> AsyncIterator[AsyncIterator[Mapping[str, Config]]]:
    """Close a generator at the end of the block, and not when it is collected."""
    try:
        yield told
    finally:
        if isinstance(told, AsyncGenerator):
            await told.aclose()


def _is_same_cluster(one: Config, other: Config) -> bool:
    """Tell whether what was listed under one login holds under another: same address, same authority."""
    return (one.server, one.application, one.tls.ca) == (other.server, other.application, other.tls.ca)
