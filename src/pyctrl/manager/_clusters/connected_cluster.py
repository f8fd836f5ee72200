"""One cluster of a manager: the connection, the copy of it, the events that are told there, the rights in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, NoReturn

from msgspec import Struct, field

from pyctrl._log import log_context
from pyctrl._metrics import MetricFamily, cluster_label, gauge, labelled
from pyctrl._tasks import unwrapped
from pyctrl.api import KindLike
from pyctrl.cache import Cache, CachedClient, KindOptions, Outside
from pyctrl.client import Client, Config
from pyctrl.controller import Controller, ControllerState, OnSyncFailure
from pyctrl.errors import ClusterGone, CommandFailed, UnknownCluster
from pyctrl.manager._permissions.preflight import Preflight
from pyctrl.manager._runnables.runnable import RunnableHandle
from pyctrl.rbac import Grants, Permission, grants

if TYPE_CHECKING:
    from pyctrl.client import EventRecorder, EventWriter, SwitchableTransport
    from pyctrl.manager._permissions.permission_watcher import PermissionWatcher

__all__ = ["CacheRunnable", "CacheScope", "Clusters", "ConnectedCluster", "ManagerContext", "NoServer"]


class CacheScope(Struct, frozen=True, kw_only=True):
    """What is cached of a cluster; the options mean what they mean for a `Manager`."""

    namespaces: frozenset[str] | None = None
    kinds: Mapping[KindLike, KindOptions] = field(default_factory=dict)
    outside: Outside = Outside.RAISE

    def cache(self, client: Client, random: Random) -> Cache:
        """Return a cache of it."""
        return Cache(client, options=self.kinds, namespaces=self.namespaces, outside=self.outside, random=random)


class ManagerContext(Struct, frozen=True, kw_only=True):
    """What a cluster is told by the manager that it belongs to."""

    random: Random
    preflight: Preflight
    #: What runs: whatever of it is needed in this cluster is reviewed there.
    members: Callable[[], Iterable[RunnableHandle]]
    #: Runs a controller.
    add: Callable[[Controller], None]


class ConnectedCluster:
    """A cluster that a manager is connected to: its own one, one that was added, or one of a fleet.

    It is where controllers may live: ``Builder(cluster)``. Its caches are filled while the manager runs; nothing waits
    for a cluster that cannot be reached but what needs it.
    """

    def __init__(
        self,
        live: Client,
        scope: CacheScope,
        surroundings: ManagerContext,
        *,
        own_namespace: str = "default",
        fleet: str = "",
        transport: SwitchableTransport | None = None,
        cache: Cache | None = None,
    ) -> None:
        """Make it of an open client; see `Manager.add_cluster`.

        Args:
            live: the client, whose ``cluster`` is the name.
            scope: what is cached.
            surroundings: what the manager tells.
            own_namespace: the namespace of the login.
            fleet: the fleet that it is of.
            transport: what the client is connected by, if it may get another login, or none.
            cache: one that somebody else runs; by default it has its own.
        """
        from pyctrl.client import EventWriter  # here and below: what connects needs it, what imports does not

        self.name: str = live.cluster
        self.random: Random = surroundings.random
        self._scope, self._surroundings, self._transport = scope, surroundings, transport
        self._own_namespace = own_namespace
        self._declared_as = (self.name, fleet) if fleet else (self.name,)
        self.rights: PermissionWatcher | None = self._make_rights_watch(live, is_optional=bool(fleet))
        cache = cache or scope.cache(live, self.random)
        cache.on_refusal = self.rights.suspect if self.rights is not None else None
        #: Reads from the cache, own writes included, and writes to the server.
        self.client: CachedClient = CachedClient(cache, live)
        #: Writes what the recorders of this cluster are told.
        self.events: EventWriter = EventWriter(live, random=self.random)
        self._asked_to_stop = asyncio.Event()

    @property
    def live_client(self) -> Client:
        """Reads and writes on the server."""
        return self.client.live

    @property
    def cache(self) -> Cache:
        """The copy of the cluster."""
        return self.client.cache

    @property
    def controller_names(self) -> set[str]:
        """The names of the controllers that live here and have not ended; the builder sees to it that they differ."""
        return {controller.name for controller in self._controllers}

    @property
    def _controllers(self) -> list[Controller]:
        runnables = [member.runnable for member in self._surroundings.members()]
        return [each for each in runnables if isinstance(each, Controller) and each.cluster == self.name]

    def event_recorder(self, name: str) -> EventRecorder:
        """Return what tells of objects of this cluster by Events there."""
        return self.events.recorder(name)

    def add(self, controller: Controller) -> None:
        """Run a controller that lives here; `Builder` does it."""
        self._surroundings.add(controller)

    # --- how it is doing ---

    @property
    def trouble(self) -> str:
        """What is wrong with it, in words: it cannot be reached, rights are missing, a controller waits; "" if nothing.

        It does not keep the manager from being ready: the other clusters have work to be done.
        """
        found = list(self.rights.missing.values()) if self.rights is not None else []
        kinds: dict[str, list[str]] = {}
        for kind, reason in self.cache.problems.items():
            kinds.setdefault(reason, []).append(kind.kind)
        found += [f"{', '.join(names)}: {reason}" for reason, names in kinds.items()]
        found += [f"{each.name} {each.why_not_ready}" for each in self._controllers if _is_not_running(each)]
        return "; ".join(dict.fromkeys(found))

    @property
    def rbac(self) -> tuple[Permission, ...]:
        """What its cache takes."""
        return tuple(replace(permission, cluster=self.name or None) for permission in self.cache.rbac)

    def resolve(self, permissions: Iterable[Permission], own_namespace: str | None = None) -> Grants:
        """Return what of these is needed here, by namespace."""
        here = [each for each in permissions if (each.cluster or "") in self._declared_as]
        return grants(here, namespaces=self._scope.namespaces, own_namespace=own_namespace or self._own_namespace)

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return what it tells Prometheus; another cluster's series have its name."""
        label = cluster_label(self.name)
        yield from labelled(self.live_client.collect_metrics(), label)
        yield from labelled(self.cache.collect_metrics(), label)
        if self.name:
            yield gauge("pyctrl_cluster_ready", "1 while nothing is wrong with it", (label, not self.trouble))

    # --- its life; that of the manager's own cluster is the manager's ---

    async def run(self) -> None:
        """Keep the cache up to date, write events and look after rights, until asked to stop; then write what waits."""
        self._asked_to_stop.clear()
        with log_context(cluster=self.name), unwrapped():
            async with asyncio.TaskGroup() as group:
                running = [group.create_task(self.cache.run(), name=f"{self.name}/cache")]
                if self.rights is not None:
                    running.append(group.create_task(self.rights.run(), name=f"{self.name}/preflight"))
                events = group.create_task(self.events.run(), name=f"{self.name}/events")
                await self._asked_to_stop.wait()
                self.events.ask_to_stop()
                await events
                for task in running:
                    task.cancel()

    def ask_to_stop(self) -> None:
        """Write what waits to be told, and end."""
        self._asked_to_stop.set()

    async def wait_until_ready(self) -> None:
        """Wait for the review of rights, if what is missing is an error; for nothing else: it may not be reachable.

        Raises:
            MissingPermissions: something is missing, with `Preflight.STRICT`.
        """
        if self.rights is not None and self._surroundings.preflight is Preflight.STRICT:
            await self.rights.wait_until_ready()

    async def log_in(self, config: Config) -> None:
        """Use another login of the same cluster: nothing is listed anew, and rights are reviewed again."""
        assert self._transport is not None  # of another cluster than the manager's own
        retiring = self._transport.switch(config)
        self._own_namespace = config.namespace
        if self.rights is not None:
            self.rights.reset()
        for informer in self.cache.informers:
            informer.retry_now()
        await retiring

    async def aclose(self) -> None:
        """Close the connection: whoever uses it still is told that the cluster has left."""
        if self._transport is not None:
            self._transport.shut(lambda: ClusterGone(self.name))
        await self.live_client.aclose()

    def _make_rights_watch(self, live: Client, *, is_optional: bool) -> PermissionWatcher | None:
        preflight = self._surroundings.preflight
        if preflight is Preflight.OFF:
            return None
        from pyctrl.manager._permissions.permission_watcher import PermissionWatcher

        return PermissionWatcher(
            live,
            is_strict=preflight is Preflight.STRICT and not is_optional,
            is_optional=is_optional,
            members=self._surroundings.members,
            informers=lambda: self.cache.informers,
            resolve=self.resolve,
        )


def _is_not_running(controller: Controller) -> bool:
    """Whether it is run and cannot do its work, for another reason than that the cluster cannot be reached."""
    return controller.state is ControllerState.LACKING_RIGHTS


class NoServer:
    """An API server for a manager that is only looked at."""

    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> NoReturn:
        raise CommandFailed(f"wiring the controllers asked the API server ({method} {path}), which it should not")


class Clusters(Mapping[str, ConnectedCluster]):
    """Clusters by name, as requests name them; those of a fleet come and go. A manager's own one is ``""``."""

    def __init__(self, clusters: Mapping[str, ConnectedCluster]) -> None:
        self._clusters = clusters

    def __getitem__(self, name: str) -> ConnectedCluster:
        """Return a cluster.

        Raises:
            UnknownCluster: none of this name is connected, or not any more. A reconcile that fails of it for the
                cluster of its own request is not tried again.
        """
        if name not in self._clusters:
            raise UnknownCluster(name, filter(None, self._clusters))
        return self._clusters[name]

    def __contains__(self, name: object) -> bool:
        return name in self._clusters

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._clusters))

    def __len__(self) -> int:
        return len(self._clusters)

    def get(self, name: str, default: ConnectedCluster | None = None) -> ConnectedCluster | None:  # type: ignore[override]  # the overloads of Mapping.get, for one type of default
        """Return a cluster, or ``default`` if there is none of this name."""
        return self._clusters.get(name, default)


class CacheRunnable:
    """The cache as a runnable: ready when everything known so far has been listed, or need not be waited for."""

    name = "cache"

    def __init__(self, cache: Cache, sync_timeout: timedelta, on_sync_failure: OnSyncFailure, *, is_ours: bool) -> None:
        self._cache = cache
        self._sync_timeout = sync_timeout
        self._on_sync_failure = on_sync_failure
        self._is_ours = is_ours

    @property
    def rbac(self) -> tuple[Permission, ...]:
        return self._cache.rbac

    async def run(self) -> None:
        with unwrapped():
            async with asyncio.TaskGroup() as group:
                if self._on_sync_failure is OnSyncFailure.END:
                    group.create_task(self._cache.wait_for_sync(self._sync_timeout, even_forbidden=False), name="sync")
                await (self._cache.run() if self._is_ours else asyncio.get_running_loop().create_future())

    async def wait_until_ready(self) -> None:
        await self._cache.wait_until_synced_or_failed(self._sync_timeout)
