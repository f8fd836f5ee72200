"""One cluster of a manager: its client, cache, event writer and permissions."""

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
    """The cache options of a cluster, as for `Manager`."""

    namespaces: frozenset[str] | None = None
    kinds: Mapping[KindLike, KindOptions] = field(default_factory=dict)
    outside: Outside = Outside.RAISE

    @classmethod
    def of(
        cls, namespaces: Iterable[str] | None, kinds: Mapping[KindLike, KindOptions] | None, outside: Outside
    ) -> CacheScope:
        """Return a copy of the options of `Manager`, `add_cluster` or `add_fleet`."""
        chosen = None if namespaces is None else frozenset(namespaces)
        return cls(namespaces=chosen, kinds=dict(kinds or {}), outside=outside)

    def cache(self, client: Client, random: Random) -> Cache:
        """Return a cache with these options."""
        return Cache(client, options=self.kinds, namespaces=self.namespaces, outside=self.outside, random=random)


class ManagerContext(Struct, frozen=True, kw_only=True):
    """The parts of a manager that its clusters use."""

    random: Random
    preflight: Preflight
    #: Returns the runnables, whose permissions are reviewed in each cluster.
    members: Callable[[], Iterable[RunnableHandle]]
    #: Adds a controller to the manager.
    add: Callable[[Controller], None]


class ConnectedCluster:
    """A cluster that a manager is connected to: its own, an added one, or one of a fleet.

    Controllers may run in it: ``Builder(cluster)``. Its cache is filled while the manager runs. If the cluster cannot
    be reached, only the controllers that need it wait.
    """

    def __init__(
        self,
        live: Client,
        scope: CacheScope,
        context: ManagerContext,
        *,
        own_namespace: str = "default",
        fleet: str = "",
        transport: SwitchableTransport | None = None,
        cache: Cache | None = None,
    ) -> None:
        """Create it from an open client; see `Manager.add_cluster`.

        Args:
            live: the client, whose ``cluster`` is the name.
            scope: the cache options.
            context: the parts of the manager that it uses.
            own_namespace: the namespace of the credentials.
            fleet: the name of its fleet; "" for none.
            transport: the client's transport, if its credentials may change.
            cache: a cache that its owner runs; by default the cluster has its own.
        """
        from pyctrl.client import EventWriter  # here and below: needed to connect, not to import

        self.name: str = live.cluster
        self.random: Random = context.random
        self._scope, self._context, self._transport = scope, context, transport
        self._own_namespace = own_namespace
        self._declared_as = (self.name, fleet) if fleet else (self.name,)
        self.permissions: PermissionWatcher | None = self._make_permission_watcher(live, is_optional=bool(fleet))
        cache = cache or scope.cache(live, self.random)
        cache.on_refusal = self.permissions.check_refusal if self.permissions is not None else None
        #: Reads from the cache, own writes included, and writes to the server.
        self.client: CachedClient = CachedClient(cache, live)
        #: Writes the Events recorded in this cluster.
        self.events: EventWriter = EventWriter(live, random=self.random)
        self._asked_to_stop = asyncio.Event()

    @property
    def live_client(self) -> Client:
        """The client that reads from and writes to the server."""
        return self.client.live

    @property
    def cache(self) -> Cache:
        """The cache of the cluster."""
        return self.client.cache

    @property
    def controller_names(self) -> set[str]:
        """The names of the controllers in this cluster that have not ended; the builder keeps them unique."""
        return {controller.name for controller in self._controllers}

    @property
    def _controllers(self) -> list[Controller]:
        runnables = [member.runnable for member in self._context.members()]
        return [each for each in runnables if isinstance(each, Controller) and each.cluster == self.name]

    def event_recorder(self, name: str) -> EventRecorder:
        """Return a recorder of Events in this cluster; ``name`` is their reporting controller."""
        return self.events.recorder(name)

    def add(self, controller: Controller) -> None:
        """Run a controller in this cluster; called by `Builder`."""
        self._context.add(controller)

    # --- state ---

    @property
    def trouble(self) -> str:
        """The problems of the cluster: it is unreachable, permissions are missing, a controller waits; "" if none.

        They do not affect the readiness of the manager, which has other clusters to work in.
        """
        found = list(self.permissions.missing.values()) if self.permissions is not None else []
        kinds: dict[str, list[str]] = {}
        for kind, reason in self.cache.problems.items():
            kinds.setdefault(reason, []).append(kind.kind)
        found += [f"{', '.join(names)}: {reason}" for reason, names in kinds.items()]
        found += [f"{each.name} {each.why_not_ready}" for each in self._controllers if _is_not_running(each)]
        return "; ".join(dict.fromkeys(found))

    @property
    def rbac(self) -> tuple[Permission, ...]:
        """The permissions that its cache needs."""
        return tuple(replace(permission, cluster=self.name or None) for permission in self.cache.rbac)

    def resolve(self, permissions: Iterable[Permission], own_namespace: str | None = None) -> Grants:
        """Return the permissions that apply to this cluster, by namespace."""
        here = [each for each in permissions if (each.cluster or "") in self._declared_as]
        return grants(here, namespaces=self._scope.namespaces, own_namespace=own_namespace or self._own_namespace)

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return the metrics of its client and cache, labelled unless it is the manager's own cluster."""
        label = cluster_label(self.name)
        yield from labelled(self.live_client.collect_metrics(), label)
        yield from labelled(self.cache.collect_metrics(), label)
        if self.name:
            yield gauge("pyctrl_cluster_ready", "1 while the cluster has no problem", (label, not self.trouble))

    # --- running; the manager runs the parts of its own cluster itself ---

    async def run(self) -> None:
        """Run cache, event writer and permission reviews until asked to stop, then write the pending Events."""
        self._asked_to_stop.clear()
        with log_context(cluster=self.name), unwrapped():
            async with asyncio.TaskGroup() as group:
                running = [group.create_task(self.cache.run(), name=f"{self.name}/cache")]
                if self.permissions is not None:
                    running.append(group.create_task(self.permissions.run(), name=f"{self.name}/preflight"))
                events = group.create_task(self.events.run(), name=f"{self.name}/events")
                await self._asked_to_stop.wait()
                self.events.ask_to_stop()
                await events
                for task in running:
                    task.cancel()

    def ask_to_stop(self) -> None:
        """Write the pending Events; then `run` returns."""
        self._asked_to_stop.set()

    async def wait_until_ready(self) -> None:
        """Wait for the permission review with `Preflight.STRICT`; for nothing else, as the cluster may be unreachable.

        Raises:
            MissingPermissions: permissions are missing, with `Preflight.STRICT`.
        """
        if self.permissions is not None and self._context.preflight is Preflight.STRICT:
            await self.permissions.wait_until_ready()

    async def log_in(self, config: Config) -> None:
        """Switch to other credentials of the same cluster; caches stay filled, permissions are reviewed again."""
        assert self._transport is not None  # the manager's own cluster has none
        retiring = self._transport.switch(config)
        self._own_namespace = config.namespace
        if self.permissions is not None:
            self.permissions.reset()
        for informer in self.cache.informers:
            informer.retry_now()
        await retiring

    async def aclose(self) -> None:
        """Close the connection; further requests raise ClusterGone."""
        if self._transport is not None:
            self._transport.shut(lambda: ClusterGone(self.name))
        await self.live_client.aclose()

    def _make_permission_watcher(self, live: Client, *, is_optional: bool) -> PermissionWatcher | None:
        preflight = self._context.preflight
        if preflight is Preflight.OFF:
            return None
        from pyctrl.manager._permissions.permission_watcher import PermissionWatcher

        return PermissionWatcher(
            live,
            is_strict=preflight is Preflight.STRICT and not is_optional,
            is_optional=is_optional,
            members=self._context.members,
            informers=lambda: self.cache.informers,
            resolve=self.resolve,
        )


def _is_not_running(controller: Controller) -> bool:
    """Return whether a controller cannot work for another reason than an unreachable cluster."""
    return controller.state is ControllerState.LACKING_RIGHTS


class Clusters(Mapping[str, ConnectedCluster]):
    """Connected clusters by the name in `Request.cluster`. The manager's own cluster is ``""``; others may leave."""

    def __init__(self, clusters: Mapping[str, ConnectedCluster]) -> None:
        self._clusters = clusters

    def __getitem__(self, name: str) -> ConnectedCluster:
        """Return a cluster.

        Raises:
            UnknownCluster: no cluster of this name is connected. If a reconcile raises it for the cluster of its own
                request, it is not retried.
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
        """Return a cluster, or ``default`` if none of this name is connected."""
        return self._clusters.get(name, default)


class CacheRunnable:
    """The cache as a runnable: ready when every kind known so far has been listed or has failed."""

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


class NoServer:
    """An API server without an implementation, for a manager that is set up but not run."""

    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> NoReturn:
        """Raise: setting up controllers must not send requests."""
        raise CommandFailed(f"setting up the controllers sent a request to the API server ({method} {path})")
