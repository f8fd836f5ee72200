"""The manager: a connection and a cache, perhaps to several clusters, and everything that lives on them."""

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
from pyctrl.api import Key, KindLike, Scheme
from pyctrl.cache import Cache, CachedClient, KindOptions, Outside
from pyctrl.client import Client, Config
from pyctrl.controller import Controller, KindSource, OnSyncFailure
from pyctrl.errors import ManagerError
from pyctrl.manager._clusters.connected_cluster import CacheRunnable, CacheScope, Clusters, ConnectedCluster
from pyctrl.manager._clusters.registry import ClusterRegistry
from pyctrl.manager._manager_metrics import Certified, certificate_metrics, leader_election_metrics, manager_metrics
from pyctrl.manager._permissions.preflight import Preflight
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
    from pyctrl.manager._runnables.restart import Restart
    from pyctrl.manager._servers.metrics import Metrics

__all__ = ["Manager"]


class Manager:
    """Connect to a cluster, and run controllers and whatever else is added until it is time to stop.

        async with Manager(Config.load()) as manager:
            Builder(manager).reconciles(PodSet).owns(Deployment).build(PodSetReconciler())
            await manager.run()

    Entering connects, leaving closes the connection; in between `run` may be awaited once. It is a guest in the
    loop it runs in: it neither runs nor closes it, and cancelling `run` stops everything in order, as a signal does.

    Groups of runnables start in the order of `Group`, each when the one before is ready, and stop in reverse. On the
    first SIGINT or SIGTERM (or `ask_to_stop`) controllers take no new requests and finish what they have begun; after
    ``grace_period`` what is left is cancelled. On the second signal that happens at once. The first runnable that
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
        """Make a manager; nothing is opened before ``async with``.

        Args:
            config: where the cluster is and who we are; the manager opens and closes a client for it.
            client: a client that is open already, instead of ``config``; its owner closes it.
            cache: one that somebody else runs, with its client: this manager reads from it, adds to it, and leaves it
                filled for the next one, which starts without a single list. Its owner decides what it keeps. A
                ``config`` beside it only says who we are.
            namespaces: cache these only; all by default.
            kinds: what the cache keeps of single kinds.
            outside: what becomes of reads that the cache cannot answer: an error, or a request.
            scheme: classes for kinds, for reads that name a kind by its group, version and kind.
            leader_election: lets one of several replicas do the elected work. None: this one does it at once, which
                suits tests, laptops and whatever runs once; it takes no Lease, and no rights to one.
            grace_period: what stopping may take; None waits for as long as it takes.
            cache_sync_timeout: how long to wait for first lists, if they do not fail before that; whoever needs one
                that has not come goes on waiting. Nothing at all in that time is an error, with the last one seen.
            on_sync_failure: what becomes of a kind that is not served or cannot be listed, and of a source that fails:
                who needs it waits and the others run, or `run` fails with that, after ``cache_sync_timeout``.
            preflight: what becomes of rights that are missing at start.
            health_bind_address: where to answer ``/healthz`` and ``/readyz``, such as ":8081"; None and "0": nowhere.
            metrics_bind_address: where to serve ``/metrics`` for Prometheus, such as ":8080"; None and "0": nowhere.
            metrics_certificates: a directory with tls.crt and tls.key: metrics are served over TLS then, and only to
                who sends a token of somebody that may ``get`` the path ``/metrics``. None: to everybody, over HTTP.
            liveness: when it counts as dead.
            blocked_loop_warning: how long one call may block the event loop before a warning names it; None: for ever.
            random: the source of jitter and reconcile ids; a seeded one makes runs repeat.

        Raises:
            ManagerError: there is neither, or both, of config and client; or nobody said where the Lease is to be.
        """
        if (client is not None) if cache is not None else (config is None) == (client is None):
            raise ManagerError(
                "a Manager needs a config, such as Config.load(), or client=..., or a cache=... with its own client; "
                "and only one of them"
            )
        self.config = config
        self.scheme: Scheme = scheme or Scheme()
        self.random: Random = random or Random()
        self._given_client = cache.client if cache is not None else client
        self._given_cache = cache
        self._scope = _scope(namespaces, kinds, outside)
        self._cache_sync_timeout = cache_sync_timeout
        self._on_sync_failure = on_sync_failure
        self._lifecycle = Lifecycle(grace_period=grace_period, random=self.random)
        self._exit = AsyncExitStack()
        self._registry = ClusterRegistry(
            self._lifecycle, random=self.random, preflight=preflight, grace_period=grace_period, run=self.add
        )
        self._leader_election = leader_election
        self._elector: LeaderElector | None = None
        #: Its checks, also where no server answers for them.
        self.health: Health = Health(self, liveness)
        #: Reports what blocks the event loop while `run` runs; None without ``blocked_loop_warning``.
        self.loop_watchdog: LoopWatchdog | None = None
        if blocked_loop_warning is not None:
            self.loop_watchdog = LoopWatchdog(blocked_loop_warning, lease=self._lease)
        address = BindAddress.parse(health_bind_address, "health_bind_address")
        #: Answers probes; None without ``health_bind_address``.
        self.health_server: HttpServer | None = self.health.server(address) if address is not None else None
        address = BindAddress.parse(metrics_bind_address, "metrics_bind_address")
        #: What it tells Prometheus, with a registry for series of one's own; None without ``metrics_bind_address``.
        self.metrics: Metrics | None = None
        if address is not None:
            self.metrics = self._make_metrics(address, metrics_certificates)
        if leader_election is not None and leader_election.namespace is None and config is None:
            raise ManagerError(
                "with client=... a manager has no namespace of its own: set LeaderElection(namespace=...)"
            )

    async def __aenter__(self) -> Self:
        live = self._given_client
        if live is None and self.config is not None:
            live = await self._exit.enter_async_context(Client.connect(self.config))
        assert live is not None  # __init__ saw to it that there is one
        given, own = self._given_cache, self._own_namespace
        home = self._registry.add_home(live, self._scope, own_namespace=own, cache=given)
        # servers start first and stop last: whatever else runs may tell of something until its end
        servers = (self.health_server, self.metrics.server if self.metrics is not None else None)
        for each in (server for server in servers if server is not None):
            self.add(each, group=Group.SERVERS)
        if any(servers):
            self.add(self.health.heartbeat, group=Group.SERVERS)  # only if somebody asks: it wakes the loop up
        self.add(home.events, group=Group.SERVERS)
        life = CacheRunnable(home.cache, self._cache_sync_timeout, self._on_sync_failure, is_ours=given is None)
        self.add(life, group=Group.CACHES)
        if home.rights is not None:
            self.add(home.rights, group=Group.CACHES)
        if self._leader_election is not None:
            self._elect(live, home.events, self._leader_election)
        return self

    def _make_metrics(self, address: BindAddress, certificates: str | Path | None) -> Metrics:
        from pyctrl.manager._servers.metrics import Metrics  # here and below: most programs in tests have neither

        return Metrics(self.collect_metrics, address, certificates=certificates, client=lambda: self.live_client)

    def _elect(self, client: Client, events: EventWriter, options: LeaderElection) -> None:
        from pyctrl.manager._election.leader_elector import LeaderElector, make_identity
        from pyctrl.manager._election.options import OnLoss

        self._elector = LeaderElector(
            client,
            options,
            self._lifecycle,
            key=Key(options.namespace or self._own_namespace, options.name),
            identity=options.identity or make_identity(events.host, self.random),
            random=self.random,
            recorder=events.recorder(options.name),
        )
        self._lifecycle.elect(self._elector, self._elector, begins_anew=options.on_loss is OnLoss.CONTEND)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._exit.aclose()

    @property
    def client(self) -> CachedClient:
        """Reads from the cache, own writes included, and writes to the server; what reconcilers get."""
        return self._home.client

    @property
    def live_client(self) -> Client:
        """Reads and writes on the server."""
        return self.client.live

    @property
    def cache(self) -> Cache:
        """The copy of the cluster; it runs while the manager runs."""
        return self.client.cache

    @property
    def events(self) -> EventWriter:
        """Writes what the recorders of this manager are told, from its start until everything else has ended."""
        return self._home.events

    def event_recorder(self, name: str) -> EventRecorder:
        """Return what tells of objects by Events in the name of a controller, or of any other part of the program.

        A reconciler has one already: ``self.recorder``. Telling needs the right to create and patch ``events`` of the
        group ``events.k8s.io`` in the namespaces of the objects, and in ``default`` for those without.
        """
        return self.events.recorder(name)

    @property
    def elector(self) -> LeaderElector | None:
        """This replica's part in the election, with its `statistics`; None where nothing elects."""
        return self._elector

    @property
    def started(self) -> asyncio.Event:
        """Set once servers, webhooks and caches are ready and what needs no leader runs."""
        return self._lifecycle.started

    @property
    def elected(self) -> asyncio.Event:
        """Set while this replica leads and its controllers run; without election, soon after `started`."""
        return self._lifecycle.elected

    @property
    def is_stopping(self) -> bool:
        """Whether it has been asked to stop, or something has failed."""
        return self._lifecycle.is_stopping

    @property
    def members(self) -> tuple[RunnableHandle, ...]:
        """What it runs, without what has ended, in the order in which it starts."""
        return self._lifecycle.members

    @property
    def controller_names(self) -> set[str]:
        """The names of its controllers that have not ended; the builder sees to it that they differ."""
        return {each.name for each in self.controllers if not each.cluster}

    @property
    def controllers(self) -> tuple[Controller, ...]:
        """Its controllers that have not ended, with those that live in other clusters."""
        runnables = (*self.members, *(each for fleet in self.fleets.values() for each in fleet.members))
        return tuple(each.runnable for each in runnables if isinstance(each.runnable, Controller))

    def add_health_check(self, name: str, check: Check) -> None:
        """Let ``/healthz`` fail, and the process be restarted, when ``check`` raises; see `Checks.add`."""
        self.health.live.add(name, check)

    def add_ready_check(self, name: str, check: Check) -> None:
        """Let ``/readyz`` fail, and this replica get no requests, when ``check`` raises; see `Checks.add`."""
        self.health.ready.add(name, check)

    def add(self, runnable: RunnableLike, *, group: Group | None = None, restart: Restart | None = None) -> None:
        """Run something with the manager: before `run` it is started in its turn, afterwards at once.

        By default it runs on the leader only, as controllers do. What every replica does goes to `Group.OTHERS`: by
        ``group=``, or because the runnable has an attribute ``only_leader`` that is False. A runnable with an attribute
        ``manager_group`` names its group itself, as a webhook server does.

        A failure of it ends the manager, unless ``restart`` says when it is to be run again: ``restart=Restart()``.
        Until it is, it counts as not ready. Its `run` must be fit to be called more than once.

        Raises:
            ManagerError: the manager is stopping, or this is not a runnable.
        """
        self._lifecycle.add(runnable, group or _group_of(runnable), restart=restart)
        if isinstance(runnable, Controller):
            runnable.on_sync_failure = self._on_sync_failure
            self._registry.adopt(runnable)

    # --- several clusters ---

    @property
    def clusters(self) -> Clusters:
        """All clusters that it is connected to, by the name that requests give them; its own one is ``""``."""
        return self._registry.clusters

    @property
    def fleets(self) -> Mapping[str, Fleet]:
        """The fleets that were added, by name."""
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
        """Connect to one more cluster, for as long as the manager is connected to its own.

            remote = manager.add_cluster("remote", Config.load(context="remote"))
            Builder(manager).reconciles(PodSet).watches(Pod, by_label, cluster=remote).build(PodSetReconciler(remote))

        The manager does not wait for it, and does not end because of it. What of it is needed there declares rights
        with ``allow(..., cluster=name)``. The other options are as of `Manager`.

        Raises:
            ManagerError: the name is taken or empty, or the manager is not connected or stopping.
            ConfigError: the login cannot be used.
        """
        _ = self.client  # raises when not connected
        cluster = self._registry.add_cluster(name, config, _scope(namespaces, kinds, outside))
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
        """Connect to clusters that come and go while the manager runs, as a provider tells.

            fleet = manager.add_fleet("edge", KubeconfigProvider("/etc/clusters"))
            Builder(fleet).reconciles(PodSet).owns(Pod).build(PodSetReconciler)

        Rights that are needed in each of them are declared with ``allow(..., cluster=name)``; those of a controller
        that lives in the fleet are anyway. The other options are as of `Manager`.

        Raises:
            ManagerError: the name is taken or empty, or the manager is not connected or stopping.
        """
        _ = self.client  # raises when not connected
        return self._registry.add_fleet(name, provider, _scope(namespaces, kinds, outside))

    @property
    def _home(self) -> ConnectedCluster:
        home = self._registry.home
        if home is None:
            raise ManagerError("the manager is not connected; use it inside `async with Manager(...) as manager:`")
        return home

    @property
    def not_ready(self) -> dict[str, str]:
        """Who cannot do its work now, and why, by name; empty when all is well.

        Controllers, the cache, what waits to be run again, and whatever else says what rights it needs. A replica that
        does not lead is no worse for it: once it is `started`, its controllers count only if they will lack rights.
        """
        if not self.started.is_set():
            return {"manager": "it has not started", **self._problems()}
        return self._problems()

    def _problems(self) -> dict[str, str]:
        home = self._home
        found = dict(home.rights.missing) if home.rights is not None else {}
        problems = dict(home.cache.problems)
        for member in self._lifecycle.members:
            controller = member.runnable
            if isinstance(controller, Controller) and not controller.cluster and not controller.state.is_at_rest:
                found.pop(controller.name, None)
                if not controller.is_ready:
                    found[controller.name] = controller.why_not_ready
                for source in controller.sources:  # it has said so itself
                    if isinstance(source, KindSource) and not source.cluster:
                        problems.pop(source.gvk, None)
            if member.why_down:
                found[member.name] = member.why_down
        if problems:
            found["cache"] = "; ".join(f"{kind}: {reason}" for kind, reason in problems.items())
        return found

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return the numbers of everything it runs, as `pyctrl.manager.Metrics` shows them."""
        lives = [(member.name, member.restarts.count) for member in self._lifecycle.members if member.restarts]
        yield from manager_metrics(readiness(self), self.health.heartbeat, lives, self.loop_watchdog)
        yield from self._home.collect_metrics()
        if self._leader_election is not None and self._elector is not None:
            yield from leader_election_metrics(self._leader_election.name, self._elector.statistics())
        runnables = [member.runnable for member in self._lifecycle.members]
        for runnable in runnables:
            if isinstance(runnable, Collector):
                yield from runnable.collect_metrics()
        shown = (runnable.certificate for runnable in runnables if isinstance(runnable, Certified))
        yield from certificate_metrics([certificate for certificate in shown if certificate is not None])

    def grants(self, *, own_namespace: str | None = None, cluster: str = "") -> Grants:
        """Return the rights that all of this takes, by namespace: to make roles of, and to review.

        They follow from what was added so far: what controllers list and watch, what their reconcilers declare, and
        what other runnables do (those with an attribute ``rbac``). Restricted to namespaces, so are the rights.

        Args:
            own_namespace: where the operator runs; by default the namespace of the login.
            cluster: in which cluster: its own one, another one that was added, or each of a fleet.

        Raises:
            UnknownCluster: there is no cluster or fleet of this name.
        """
        where = self.fleets[cluster].blueprint if cluster in self.fleets else self.clusters[cluster]
        needed = [permission for member in self._lifecycle.members for permission in member.rbac]
        return where.resolve(needed, own_namespace)

    def _lease(self) -> tuple[str, float] | None:
        return self._elector.held_lease if self._elector is not None else None

    @property
    def _own_namespace(self) -> str:
        return self.config.namespace if self.config is not None else "default"

    def ask_to_stop(self) -> None:
        """Stop as after a signal; called again, at once."""
        self._lifecycle.ask_to_stop()

    async def run(self, *, handle_signals: bool = True) -> None:
        """Start everything, wait for the end, stop everything.

        With ``handle_signals`` the first SIGINT or SIGTERM stops in order and the second at once; off the main thread
        that is left out. Cancelling stops in order too, cancelling again at once.

        Raises:
            ManagerError: it has run before, or is not connected.
            GracePeriodExceeded: something did not stop in time and was cancelled.
            NotSynced: within ``cache_sync_timeout`` no list came at all; with `OnSyncFailure.END`, one did not.
            MissingPermissions: with `Preflight.STRICT`, the login may not do all that is needed.
            LeadershipLost: the lease could not be kept; see `LeaderElection.on_loss`.
            Exception: the first failure of a runnable, as it was raised.
        """
        _ = self.client  # raises when not connected
        self._registry.check()
        with self.loop_watchdog.watching() if self.loop_watchdog is not None else nullcontext():
            await self._lifecycle.run(handle_signals=handle_signals)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Run beside a block, which begins when the controllers have started; at its end everything stops in order.

        A controller that waits for rights or a definition does not hold the block up: see `not_ready`.

            async with Manager(config) as manager:
                Builder(manager).reconciles(PodSet).build(PodSetReconciler())
                async with manager.running():
                    ...

        For tests, demos and programs that do more than reconcile; signals are theirs. A manager that fails ends the
        block with its error, as soon as it fails. Raises as `run` does.
        """
        with unwrapped():
            async with asyncio.TaskGroup() as group:
                group.create_task(self.run(handle_signals=False), name="manager")
                try:
                    await self.elected.wait()
                    yield self
                finally:
                    self.ask_to_stop()


def _group_of(runnable: object) -> Group:
    if isinstance(runnable, GroupRunnable):
        return Group(runnable.manager_group)
    return Group.OTHERS if runs_on_every_replica(runnable) else Group.ELECTED


def _scope(
    namespaces: Iterable[str] | None, kinds: Mapping[KindLike, KindOptions] | None, outside: Outside
) -> CacheScope:
    chosen = None if namespaces is None else frozenset(namespaces)
    return CacheScope(namespaces=chosen, kinds=dict(kinds or {}), outside=outside)
