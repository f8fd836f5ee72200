"""The manager: client, cache, servers and controllers of one program, started and stopped in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from random import Random
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Self

from pyctrl._metrics import Collector, MetricFamily
from pyctrl._tasks import unwrapped
from pyctrl.api import KindLike, Scheme
from pyctrl.cache import Cache, CachedClient, KindOptions, Outside
from pyctrl.client import Client, Config
from pyctrl.controller import Controller, KindSource, OnSyncFailure
from pyctrl.errors import ManagerError
from pyctrl.manager._clusters.connected_cluster import CacheRunnable, CacheScope, Clusters, ConnectedCluster
from pyctrl.manager._clusters.registry import ClusterRegistry
from pyctrl.manager._manager_metrics import Certified, certificate_metrics, manager_metrics
from pyctrl.manager._permissions.preflight import Preflight
from pyctrl.manager._replication import Replication
from pyctrl.manager._runnables.lifecycle import Lifecycle
from pyctrl.manager._runnables.runnable import GroupRunnable, RunnableHandle, RunnableLike, runs_on_every_replica
from pyctrl.manager._runnables.runnable_group import Group
from pyctrl.manager._servers.bind_address import BindAddress
from pyctrl.manager._servers.checks import Check
from pyctrl.manager._servers.health import Health, Liveness, readiness
from pyctrl.manager._servers.http_server import HttpServer
from pyctrl.manager._watchdog import BLOCKED_LOOP_WARNING, LoopWatchdog
from pyctrl.rbac import Grants

if TYPE_CHECKING:
    from pyctrl.client import EventRecorder, EventWriter
    from pyctrl.manager._clusters.fleet import ClusterProvider, Fleet
    from pyctrl.manager._election.leader_elector import LeaderElector
    from pyctrl.manager._election.options import LeaderElection
    from pyctrl.manager._fingerprints.keeper import FingerprintKeeper
    from pyctrl.manager._fingerprints.store import Fingerprints
    from pyctrl.manager._runnables.restart import Restart
    from pyctrl.manager._servers.metrics import Metrics
    from pyctrl.manager._sharding.options import Sharding
    from pyctrl.manager._sharding.shard_member import ShardMember

__all__ = ["Manager"]


class Manager:
    """Connect to a cluster and run controllers and other runnables until stopped.

        async with Manager(Config.load()) as manager:
            Builder(manager).reconciles(PodSet).owns(Deployment).build(PodSetReconciler())
            await manager.run()

    Entering the block connects, leaving it closes the connection. Inside, `run` may be awaited once. The manager
    neither runs nor closes the event loop. Cancelling `run` stops everything in order, as a signal does.

    Groups of runnables start in the order of `Group`, each once the previous one is ready, and stop in reverse. On the
    first SIGINT or SIGTERM (or `ask_to_stop`) controllers accept no new requests and finish running reconciles. After
    ``grace_period``, or on the second signal, the manager cancels the remaining runnables. The first runnable that
    fails stops the manager, and `run` raises its error.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        client: Client | None = None,
        cache: Cache | None = None,
        namespaces: Iterable[str] | None = None,
        kinds: Mapping[KindLike, KindOptions] | None = None,
        outside: Outside = Outside.RAISE,
        scheme: Scheme | None = None,
        leader_election: LeaderElection | None = None,
        sharding: Sharding | None = None,
        fingerprints: Fingerprints | None = None,
        grace_period: timedelta | None = timedelta(seconds=30),
        cache_sync_timeout: timedelta = timedelta(minutes=2),
        on_sync_failure: OnSyncFailure = OnSyncFailure.WAIT,
        preflight: Preflight = Preflight.WARN,
        health_bind_address: str | None = None,
        metrics_bind_address: str | None = None,
        metrics_certificates: Path | str | None = None,
        liveness: Liveness = Liveness(),  # noqa: B008 (frozen)
        blocked_loop_warning: timedelta | None = BLOCKED_LOOP_WARNING,
        random: Random | None = None,
    ) -> None:
        """Create a manager. No connection is opened before ``async with``.

        Args:
            config: the API server and the credentials. The manager opens a client for it and closes it.
            client: an open client, instead of ``config``. Its owner closes it.
            cache: a cache that its owner runs, with its client. This manager reads from it, adds kinds to it, and
                leaves it filled for the next manager, which then starts without a list. The owner decides which
                objects it keeps. A ``config`` beside it only provides the identity and namespace.
            namespaces: the namespaces to cache; all by default.
            kinds: cache options of single kinds.
            outside: the result of a read that the cache cannot answer: an error, or a request.
            scheme: Python classes by group, version and kind.
            leader_election: lets one of several replicas run the elected runnables. None: this replica runs them at
                once, without a Lease and without permissions for one, which suits tests, laptops and one-off runs.
            sharding: divides the requests of controllers among replicas that run at the same time. A controller or
                runnable with ``only_leader=True`` runs on one of them, by leader election; None: no sharding.
            fingerprints: keeps which requests have converged, so that the next start runs only the others.
            grace_period: the time that stopping may take; None: no limit.
            cache_sync_timeout: how long to wait for the first lists, unless they fail earlier. A controller whose list
                has not arrived by then keeps waiting. If no list arrives in that time, `run` raises the last error.
            on_sync_failure: handling of a kind that is not served or cannot be listed, and of a source that fails:
                controllers that need it wait while the others run, or `run` raises after ``cache_sync_timeout``.
            preflight: handling of permissions that are missing at start.
            health_bind_address: address of ``/healthz`` and ``/readyz``, such as ":8081"; None and "0": not served.
            metrics_bind_address: address of ``/metrics`` for Prometheus, such as ":8080"; None and "0": not served.
            metrics_certificates: a directory with tls.crt and tls.key. With it metrics are served over TLS, and only
                for tokens of users that may ``get`` the path ``/metrics``. None: over HTTP, without authentication.
            liveness: when ``/healthz`` reports the manager as dead.
            blocked_loop_warning: how long one call may block the event loop before it is logged; None: never logged.
            random: the source of jitter and reconcile ids. A seeded one makes runs repeatable.

        Raises:
            ManagerError: not exactly one of config and client was given, a Lease has no namespace, or fingerprints
                are kept with sharding.
        """
        if (client is not None) if cache is not None else (config is None) == (client is None):
            raise ManagerError(
                "a Manager takes exactly one of config, such as Config.load(), client=..., and cache=..."
            )
        self.config = config
        self.scheme: Scheme = scheme or Scheme()
        self.random: Random = random or Random()
        self._given_client = cache.client if cache is not None else client
        self._given_cache = cache
        if sharding is not None and sharding.memory:
            outside = Outside.LIVE  # a deleted object looks like one of another replica
        self._scope = CacheScope.of(namespaces, kinds, outside)
        self._cache_sync_timeout = cache_sync_timeout
        self._on_sync_failure = on_sync_failure
        self._lifecycle = Lifecycle(grace_period=grace_period, random=self.random)
        self._exit = AsyncExitStack()
        self._registry = ClusterRegistry(
            self._lifecycle, random=self.random, preflight=preflight, grace_period=grace_period, run=self.add
        )
        self._replication = Replication(leader_election, sharding, self._lifecycle, self.random)
        self._replication.check(knows_namespace=config is not None)
        self._given_fingerprints = fingerprints
        self._keeper: FingerprintKeeper | None = None
        #: The health checks; also without a health server.
        self.health: Health = Health(self, liveness)
        #: Logs calls that block the event loop while `run` runs; None without ``blocked_loop_warning``.
        self.loop_watchdog: LoopWatchdog | None = None
        if blocked_loop_warning is not None:
            self.loop_watchdog = LoopWatchdog(blocked_loop_warning, lease=lambda: self._replication.held_lease)
        address = BindAddress.parse(health_bind_address, "health_bind_address")
        #: The server for probes; None without ``health_bind_address``.
        self.health_server: HttpServer | None = self.health.server(address) if address is not None else None
        address = BindAddress.parse(metrics_bind_address, "metrics_bind_address")
        #: The metrics and their Prometheus registry, which accepts your own; None without ``metrics_bind_address``.
        self.metrics: Metrics | None = None
        if address is not None:
            self.metrics = self._make_metrics(address, metrics_certificates)

    async def __aenter__(self) -> Self:
        live = self._given_client
        if live is None and self.config is not None:
            live = await self._exit.enter_async_context(Client.connect(self.config))
        assert live is not None  # checked in __init__
        given, own = self._given_cache, self._own_namespace
        home = self._registry.add_home(live, self._scope, own_namespace=own, cache=given)
        # servers start first and stop last: health and metrics cover every other runnable until it has ended
        servers = (self.health_server, self.metrics.server if self.metrics is not None else None)
        for each in (server for server in servers if server is not None):
            self.add(each, group=Group.SERVERS)
        if any(servers):
            self.add(self.health.heartbeat, group=Group.SERVERS)  # only with a server: it wakes up the loop
        self.add(home.events, group=Group.SERVERS)
        cache = CacheRunnable(home.cache, self._cache_sync_timeout, self._on_sync_failure, is_ours=given is None)
        self.add(cache, group=Group.CACHES)
        if home.permissions is not None:
            self.add(home.permissions, group=Group.CACHES)
        if self._replication.is_needed:
            self._replication.connect(live, home.events, own)
        if self._given_fingerprints is not None:
            self.use_fingerprints(self._given_fingerprints)
        return self

    def use_fingerprints(self, store: Fingerprints) -> None:
        """Keep which requests have converged, as ``Manager(fingerprints=...)``. Call it before `run`.

        Raises ManagerError if there is a store already, or the manager is not connected.
        """
        from pyctrl.manager._fingerprints.keeper import FingerprintKeeper  # here: off by default

        if self._keeper is not None:
            raise ManagerError("the manager keeps fingerprints already; give it one store")
        if self.shard_member is not None:
            raise ManagerError("fingerprints are kept by one replica; leave out either fingerprints or sharding")
        store.connect(self.live_client, self._own_namespace)
        self._keeper = FingerprintKeeper(store, self.config, self.cache, lambda: self.elector)
        self._keeper.adopt(*self.controllers)
        self.add(self._keeper, group=Group.ELECTED)

    def _make_metrics(self, address: BindAddress, certificates: str | Path | None) -> Metrics:
        from pyctrl.manager._servers.metrics import Metrics  # here and below: most tests use neither

        return Metrics(self.collect_metrics, address, certificates=certificates, client=lambda: self.live_client)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._exit.aclose()

    @property
    def client(self) -> CachedClient:
        """The client of reconcilers: reads from the cache, own writes included, and writes to the server."""
        return self._home.client

    @property
    def live_client(self) -> Client:
        """The client that reads from and writes to the server."""
        return self.client.live

    @property
    def cache(self) -> Cache:
        """The cache of the manager's own cluster, which runs while the manager runs."""
        return self.client.cache

    @property
    def events(self) -> EventWriter:
        """The writer of recorded Events, running from the manager's start until all other runnables have ended."""
        return self._home.events

    def event_recorder(self, name: str) -> EventRecorder:
        """Return a recorder of Events; ``name`` is their reporting controller.

        A reconciler already has one: ``self.recorder``. Recording needs permission to create and patch ``events`` of
        the group ``events.k8s.io`` in the namespaces of the objects, and in ``default`` for cluster-scoped objects.
        """
        return self.events.recorder(name)

    @property
    def elector(self) -> LeaderElector | None:
        """This replica's leader elector, with its `statistics`; None without leader election."""
        return self._replication.elector

    @property
    def shard_member(self) -> ShardMember | None:
        """This replica's member of the ring, with its `statistics`; None without sharding."""
        return self._replication.member

    @property
    def started(self) -> asyncio.Event:
        """Set once servers, webhooks and caches are ready and the runnables that need no leader run."""
        return self._lifecycle.started

    @property
    def elected(self) -> asyncio.Event:
        """Set while this replica leads and its controllers run; without leader election, soon after `started`."""
        return self._lifecycle.elected

    @property
    def is_stopping(self) -> bool:
        """Whether the manager has been asked to stop, or a runnable has failed."""
        return self._lifecycle.is_stopping

    @property
    def members(self) -> tuple[RunnableHandle, ...]:
        """The runnables that have not ended, in their order of start."""
        return self._lifecycle.members

    @property
    def controller_names(self) -> set[str]:
        """The names of the controllers that have not ended; the builder keeps them unique."""
        return {each.name for each in self.controllers if not each.cluster}

    @property
    def controllers(self) -> tuple[Controller, ...]:
        """The controllers that have not ended, those in other clusters included."""
        runnables = (*self.members, *(each for fleet in self.fleets.values() for each in fleet.members))
        return tuple(each.runnable for each in runnables if isinstance(each.runnable, Controller))

    def add_health_check(self, name: str, check: Check) -> None:
        """Add a check to ``/healthz``: while it raises, kubelet restarts the container. See `Checks.add`."""
        self.health.live.add(name, check)

    def add_ready_check(self, name: str, check: Check) -> None:
        """Add a check to ``/readyz``: while it raises, this replica gets no requests. See `Checks.add`."""
        self.health.ready.add(name, check)

    def add(self, runnable: RunnableLike, *, group: Group | None = None, restart: Restart | None = None) -> None:
        """Add a runnable. Added before `run`, it starts with its group; added later, it starts at once.

        By default it runs on the leader only, as controllers do. A runnable of every replica belongs to `Group.OTHERS`:
        by ``group=``, or by an attribute ``only_leader`` that is False. The attribute ``manager_group`` of a runnable
        names its group, as that of a webhook server does.

        If it fails, the manager ends, unless ``restart`` is given: ``restart=Restart()`` runs it again. Until then it
        counts as not ready. Its `run` must support being called more than once.

        Raises:
            ManagerError: the manager is stopping, or the object is not a runnable.
        """
        self._replication.share(runnable)
        self._lifecycle.add(runnable, group or _group_of(runnable), restart=restart)
        if isinstance(runnable, Controller):
            runnable.on_sync_failure = self._on_sync_failure
            self._registry.adopt(runnable)
            if self._keeper is not None:
                self._keeper.adopt(runnable)

    # --- several clusters ---

    @property
    def clusters(self) -> Clusters:
        """All connected clusters, by the name in `Request.cluster`; the manager's own cluster is ``""``."""
        return self._registry.clusters

    @property
    def fleets(self) -> Mapping[str, Fleet]:
        """The added fleets, by name."""
        return MappingProxyType(self._registry.fleets)

    def add_cluster(
        self,
        name: str,
        config: Config,
        *,
        namespaces: Iterable[str] | None = None,
        kinds: Mapping[KindLike, KindOptions] | None = None,
        outside: Outside = Outside.RAISE,
    ) -> ConnectedCluster:
        """Connect to another cluster, for as long as the manager is connected to its own.

            remote = manager.add_cluster("remote", Config.load(context="remote"))
            Builder(manager).reconciles(PodSet).watches(Pod, by_label, cluster=remote).build(PodSetReconciler(remote))

        The manager neither waits for the cluster nor ends because of it. Permissions needed in it are declared with
        ``allow(..., cluster=name)``. The other options are those of `Manager`.

        Raises:
            ManagerError: the name is taken or empty, or the manager is not connected or is stopping.
            ConfigError: the credentials cannot be used.
        """
        _ = self.client  # raises when not connected
        cluster = self._registry.add_cluster(name, config, CacheScope.of(namespaces, kinds, outside))
        self._exit.push_async_callback(cluster.aclose)
        return cluster

    def add_fleet(
        self,
        name: str,
        provider: ClusterProvider,
        *,
        namespaces: Iterable[str] | None = None,
        kinds: Mapping[KindLike, KindOptions] | None = None,
        outside: Outside = Outside.RAISE,
    ) -> Fleet:
        """Connect to the clusters of a provider, which join and leave while the manager runs.

            fleet = manager.add_fleet("edge", KubeconfigProvider("/etc/clusters"))
            Builder(fleet).reconciles(PodSet).owns(Pod).build(PodSetReconciler)

        Permissions needed in each of them are declared with ``allow(..., cluster=name)``. A controller that lives in
        the fleet declares its own as usual. The other options are those of `Manager`.

        Raises:
            ManagerError: the name is taken or empty, or the manager is not connected or is stopping.
        """
        _ = self.client  # raises when not connected
        fleet = self._registry.add_fleet(name, provider, CacheScope.of(namespaces, kinds, outside))
        self._replication.share_fleet(fleet)
        return fleet

    @property
    def _home(self) -> ConnectedCluster:
        home = self._registry.home
        if home is None:
            raise ManagerError("the manager is not connected; use it inside `async with Manager(...) as manager:`")
        return home

    @property
    def not_ready(self) -> dict[str, str]:
        """The runnables that cannot work now, and why, by name; empty when the manager is ready.

        Covers controllers, the cache, runnables that wait for a restart, and runnables that declare permissions. On a
        replica that does not lead, once it is `started`, controllers count only if permissions will be missing.
        """
        if not self.started.is_set():
            return {"manager": "it has not started", **self._problems()}
        return self._problems()

    def _problems(self) -> dict[str, str]:
        home = self._home
        found = {**(home.permissions.missing if home.permissions is not None else {}), **self._replication.problems}
        problems = dict(home.cache.problems)
        for member in self._lifecycle.members:
            controller = member.runnable
            if isinstance(controller, Controller) and not controller.cluster and not controller.state.is_at_rest:
                found.pop(controller.name, None)
                if not controller.is_ready:
                    found[controller.name] = controller.why_not_ready
                for source in controller.sources:  # the controller's reason covers it
                    if isinstance(source, KindSource) and not source.cluster:
                        problems.pop(source.gvk, None)
            if member.why_restarting:
                found[member.name] = member.why_restarting
        if problems:
            found["cache"] = "; ".join(f"{kind}: {reason}" for kind, reason in problems.items())
        return found

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return the metrics of everything that the manager runs, as `pyctrl.manager.Metrics` serves them."""
        lives = [(member.name, member.restarts.count) for member in self._lifecycle.members if member.restarts]
        yield from manager_metrics(readiness(self), self.health.heartbeat, lives, self.loop_watchdog)
        yield from self._home.collect_metrics()
        yield from self._replication.collect_metrics()
        runnables = [member.runnable for member in self._lifecycle.members]
        for runnable in runnables:
            if isinstance(runnable, Collector):
                yield from runnable.collect_metrics()
        shown = (runnable.certificate for runnable in runnables if isinstance(runnable, Certified))
        yield from certificate_metrics([certificate for certificate in shown if certificate is not None])

    def grants(self, *, own_namespace: str | None = None, cluster: str = "") -> Grants:
        """Return the permissions that the manager needs, by namespace: for RBAC roles and access reviews.

        They result from what was added so far: what controllers list and watch, what their reconcilers declare, and
        what other runnables declare in an attribute ``rbac``. With ``namespaces=`` they are limited to those.

        Args:
            own_namespace: the operator's namespace; by default that of the credentials.
            cluster: the cluster: the manager's own by default, the name of an added one, or of a fleet.

        Raises:
            UnknownCluster: there is no cluster or fleet of this name.
        """
        where = self.fleets[cluster].blueprint if cluster in self.fleets else self.clusters[cluster]
        needed = [permission for member in self._lifecycle.members for permission in member.rbac]
        return where.resolve(needed, own_namespace)

    @property
    def _own_namespace(self) -> str:
        return self.config.namespace if self.config is not None else "default"

    def ask_to_stop(self) -> None:
        """Stop as after SIGTERM; a second call stops at once."""
        self._lifecycle.ask_to_stop()

    async def run(self, *, handle_signals: bool = True) -> None:
        """Start all runnables, wait until the manager is stopped or a runnable fails, then stop all in order.

        With ``handle_signals`` the first SIGINT or SIGTERM stops in order and the second at once, if called in the
        main thread. Cancelling stops in order too; cancelling again stops at once.

        Raises:
            ManagerError: the manager has run before, or is not connected.
            GracePeriodExceeded: a runnable did not stop in time and was cancelled.
            NotSynced: no list arrived within ``cache_sync_timeout``; with `OnSyncFailure.END`, one list did not.
            MissingPermissions: with `Preflight.STRICT`, the user lacks permissions.
            LeadershipLost: the Lease could not be renewed; see `LeaderElection.on_loss`.
            Exception: the first failure of a runnable, as raised.
        """
        _ = self.client  # raises when not connected
        self._registry.check()
        self._replication.share_caches(self.controllers)
        with self.loop_watchdog.watching() if self.loop_watchdog is not None else nullcontext():
            await self._lifecycle.run(handle_signals=handle_signals)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Run the manager beside a block, which begins once the controllers have started; then stop in order.

        A controller that waits for permissions or a CRD does not delay the block: see `not_ready`.

            async with Manager(config) as manager:
                Builder(manager).reconciles(PodSet).build(PodSetReconciler())
                async with manager.running():
                    ...

        For tests, demos and programs that do more than reconcile. Signals are not handled. If the manager fails, the
        block ends at once with its error. Raises what `run` raises.
        """
        with unwrapped():
            async with asyncio.TaskGroup() as group:
                group.create_task(self.run(handle_signals=False), name="manager")
                try:
                    await (self.elected if self.shard_member is None else self.started).wait()
                    yield self
                finally:
                    self.ask_to_stop()


def _group_of(runnable: object) -> Group:
    if isinstance(runnable, GroupRunnable):
        return Group(runnable.manager_group)
    return Group.OTHERS if runs_on_every_replica(runnable) else Group.ELECTED
