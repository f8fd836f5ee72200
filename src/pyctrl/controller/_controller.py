"""The controller: sources that fill a queue, and workers that reconcile its requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from pyctrl._metrics import MetricFamily
from pyctrl._tasks import unwrapped
from pyctrl.api import GroupVersionKind
from pyctrl.controller._causes import ChangeCause, TriggerCause
from pyctrl.controller._options import ControllerOptions, OnSyncFailure
from pyctrl.controller._permissions import PermissionTracker
from pyctrl.controller._reads.subscriptions import Subscriptions
from pyctrl.controller._reconcile_handler import ReconcileHandler
from pyctrl.controller._reconciler import Reconciler
from pyctrl.controller._request import Request
from pyctrl.controller._sources.kind import KindSource
from pyctrl.controller._sources.runner import SourceRunners, describe_problems
from pyctrl.controller._sources.source import Source
from pyctrl.controller._sources.sync import SyncWaiter
from pyctrl.controller._stale_owners import StaleOwners
from pyctrl.controller._state import ControllerState
from pyctrl.controller._workers import Workers
from pyctrl.controller._workqueue.queue import Queue
from pyctrl.controller._workqueue.queue_log import DUMP_LEVEL, dropped_fields, log_items
from pyctrl.controller._workqueue.rate_limiters import ExponentialBackoff
from pyctrl.controller._workqueue.request_sinks import ClusterQueue, RequestSink
from pyctrl.controller._workqueue.work_item import WorkItem
from pyctrl.rbac import Permission

if TYPE_CHECKING:
    from pyctrl.controller._fingerprints.fingerprints import ControllerFingerprints, FingerprintKeeping
    from pyctrl.controller._sharding.controller_shard import ControllerShard, ShardAssignment
    from pyctrl.controller._sharding.shard_key import ShardKey
    from pyctrl.controller._statistics import ControllerStatistics

__all__ = ["Controller"]

log = logging.getLogger("pyctrl.controller")


class Controller:
    """Calls a reconciler for the requests of its sources. The Builder makes it, the manager runs it.

    `run` starts the sources. It waits, without a limit, until the controller has all permissions that it declares, and
    until all sources are synced. Only then it starts the workers.
    After `ask_to_stop` it accepts no further requests and finishes the reconciles that are running. Its manager cancels
    it when the grace period is over. It logs the requests that are left in the queue; the next start lists them again.
    A reconciler that fails does not end its worker. A source that fails is restarted, is shown by `state`, and affects
    no other controller (see `OnSyncFailure`). The controller may be run again after it has ended, as when its manager
    becomes the leader again.
    """

    #: Its fingerprints; None if none are kept.
    fingerprints: ControllerFingerprints | None = None
    #: Its share of the requests, if replicas divide them; None if it reconciles all.
    shard: ControllerShard | None = None

    def __init__(
        self,
        name: str,
        reconciler: Reconciler[Any],
        sources: Iterable[Source],
        *,
        kind: GroupVersionKind | None = None,
        rbac: Iterable[Permission] = (),
        options: ControllerOptions = ControllerOptions(),  # noqa: B008 (frozen)
        random: Random | None = None,
        cluster: str = "",
        stale_owners: StaleOwners | None = None,
        subscriptions: Subscriptions | None = None,
    ) -> None:
        self._random = random = random or Random()
        self.name = name
        self.kind = kind
        #: The name of the cluster that it works in; "" for that of the manager.
        self.cluster: str = cluster
        self.reconciler = reconciler
        self.queue: Queue = Queue(name, limiter=options.limiter or ExponentialBackoff(random=random))
        self._sink: RequestSink = ClusterQueue(cluster, self.queue) if cluster else self.queue
        #: What each request has read of the kinds in ``reads``, and who has read what.
        self.subscriptions: Subscriptions = Subscriptions(name) if subscriptions is None else subscriptions
        self.sources: Sequence[Source] = tuple(sources)
        self.subscriptions.undeclared.know(kind for source in self.sources for kind in source.follows)
        self._own_rbac, self._options = tuple(rbac), options
        #: The permissions that it is known to lack; its manager reviews them.
        self.permissions: PermissionTracker = PermissionTracker(self._retry, name=name)
        self._reconcile_handler = ReconcileHandler(
            name,
            kind,
            reconciler,
            timeout=options.reconcile_timeout,
            random=random,
            permissions=self.permissions,
            is_own_write=self._is_own_write,
            state_of=self._state_of,
            stale_owners=stale_owners,
            subscriptions=self.subscriptions,
        )
        self._workers = Workers(name, self.queue, self._reconcile_handler.handle, count=options.workers)
        #: What happens when a source fails; set by its manager.
        self.on_sync_failure: OnSyncFailure = OnSyncFailure.WAIT
        self._source_runners = SourceRunners(name, self.sources, random=random, fields=self._fields())
        self._sync_waiter = SyncWaiter(
            name,
            self._source_runners,
            state=lambda: self.state,
            limit=options.cache_sync_timeout.total_seconds(),
            fields=self._fields(),
        )
        self._asked_to_stop = asyncio.Event()
        self._stage = ControllerState.NOT_STARTED

    @property
    def only_leader(self) -> bool:
        """Whether it runs on the leader only. With a `shard` every replica reconciles its share."""
        return self.shard is None and self._options.only_leader is not False

    @property
    def is_shareable(self) -> bool:
        """Whether replicas may divide its requests, because its option ``only_leader`` is not set."""
        return self._options.only_leader is None

    def share(self, assignment: ShardAssignment, key: ShardKey) -> None:
        """Reconcile only the requests whose shard this replica has; called by its manager before it runs."""
        from pyctrl.controller._sharding.controller_shard import ControllerShard  # here: off by default

        followed = [source for source in self.sources if isinstance(source, KindSource)]
        own = next((source for source in followed if source.is_reconciled), None)
        owned = [source for source in followed if source.owner is not None and not source.is_elsewhere]
        shard = self.shard = ControllerShard(self.name, self.queue, key, own, assignment, owned=owned)
        self._sink = ClusterQueue(self.cluster, shard) if self.cluster else shard
        self._workers.handle = partial(shard.handle, handle=self._reconcile_handler.handle)
        assignment.adopt(shard)

    @property
    def workers(self) -> int:
        """The number of requests that are reconciled at the same time; it can be set at any time."""
        return self._workers.count

    @workers.setter
    def workers(self, count: int) -> None:
        self._workers.count = count

    @property
    def live_workers(self) -> int:
        """The number of running workers: `workers` while it runs, unless one was cancelled."""
        return self._workers.alive

    @property
    def reconcile_timeout(self) -> timedelta | None:
        """The time after which a reconcile is cancelled; None for no limit."""
        return self._options.reconcile_timeout

    @property
    def rbac(self) -> tuple[Permission, ...]:
        """The permissions that it needs: those of its sources, of its reconciler and of its wiring."""
        watched = tuple(permission for source in self.sources for permission in source.rbac)
        beyond_cache = () if self.shard is None else self.shard.rbac
        declared = (*watched, *beyond_cache, *self.reconciler.rbac, *self._own_rbac)
        if not self.cluster:
            return declared
        return tuple(replace(each, cluster=self.cluster) if each.cluster is None else each for each in declared)

    @property
    def state(self) -> ControllerState:
        """The state of the controller."""
        if self._stage.is_at_rest:
            return self._stage
        is_running = self._stage is ControllerState.RUNNING
        if self._permission_problem:
            return ControllerState.LACKING_RIGHTS if is_running else ControllerState.WAITING_FOR_RIGHTS
        if is_running:
            return ControllerState.LACKING_SOURCES if self._source_runners.lost() else ControllerState.RUNNING
        if self._stage is not ControllerState.WAITING_FOR_SOURCES:
            return self._stage
        waiting = self._source_runners.waiting_state
        is_late = waiting is ControllerState.WAITING_FOR_SOURCES and self._sync_waiter.is_late
        return ControllerState.FAILING if is_late else waiting

    @property
    def is_ready(self) -> bool:
        """Whether it reconciles without a known problem, or rests because its optional kind is not served."""
        return self.state.is_well

    @property
    def why_not_ready(self) -> str:
        """The reason why it is not ready; "" when it is."""
        state = self.state
        if state.is_well:
            return ""
        reason = self._permission_problem or describe_problems(
            self._source_runners.lost() if state.is_at_work else self._source_runners.late()
        )
        return f"{state.value}: {reason}" if reason else state.value

    def on_reconciled(self, callback: Callable[[WorkItem, timedelta], None] | None) -> None:
        """Set the function that is called after each reconcile, with its work item, causes and outcome, and duration.

        There is one such function; None removes it. It must not raise and must be quick: the worker waits for it.
        """
        self._reconcile_handler.on_reconciled = callback

    def on_reconcile_loop(self, callback: Callable[[Request, str], None] | None) -> None:
        """Set the function that is called with a request whose reconciles trigger themselves, and what each run writes.

        It is called after every 100 such runs in a row, or 1,000 where each run writes another object. It must not
        raise and must be quick. None removes it.
        """
        self._reconcile_handler.hot_loops.on_loop = callback

    def enqueue(self, request: Request, *, priority: int = 0) -> None:
        """Add a request to the queue, also before the controller runs. Ignored and logged once it has stopped."""
        if self.queue.is_closed:
            facts = self._fields() | {"request": str(request), "priority": priority}
            log.info("Dropping a request: the controller has stopped", extra=facts)
        self._sink.add(request, priority=priority)

    def keep_fingerprints(self, keeping: FingerprintKeeping) -> str:
        """Keep fingerprints of the requests that have converged; called by its manager before it runs.

        Return why none are kept, because a restart could not know what has changed; "" if they are.
        """
        if not self._options.fingerprints:
            return "its option fingerprints is False"
        from pyctrl.controller._fingerprints.fingerprints import ControllerFingerprints  # here: off by default
        from pyctrl.controller._fingerprints.followed import FollowedKinds

        followed = FollowedKinds(self.kind, self.cluster, self.sources)
        if followed.unknown:
            return followed.unknown
        made = ControllerFingerprints(self.name, followed, self.subscriptions, self.queue, keeping, self._random)
        self.fingerprints, self._reconcile_handler.runs = made, made.requests
        return ""

    def ask_to_stop(self) -> None:
        """Accept no further requests; `run` returns once the running reconciles have ended."""
        self._asked_to_stop.set()

    def statistics(self) -> ControllerStatistics:
        """Return numbers for metrics and tests."""
        from pyctrl.controller._statistics import ControllerStatistics  # here: not needed to start

        return ControllerStatistics(
            reconciles=self._reconcile_handler.statistics,
            queue=self.queue.statistics(),
            workers=self._workers.count,
            active_workers=self._workers.active,
        )

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return controller-runtime's series, and pyctrl's own; see docs/metrics.md."""
        from pyctrl.controller._metrics import collect_controller  # here: a program may serve no metrics

        return collect_controller(
            self.name,
            self.cluster,
            state=self.state,
            queue=self.queue,
            durations=self._reconcile_handler.durations,
            statistics=self.statistics,
            subscriptions=self.subscriptions.statistics(),
        )

    async def run(self) -> None:
        """Reconcile until asked to stop.

        Raises:
            ControllerError: with `OnSyncFailure.END`, a source was not synced within ``cache_sync_timeout``.
            Exception: with `OnSyncFailure.END`, a source failed.
        """
        if self.queue.is_closed:  # by an earlier run
            self.queue.reopen()
            self._source_runners.reset()
        try:
            with unwrapped():
                async with asyncio.TaskGroup() as group:
                    await self._run_until_stopped(group)
            if self.fingerprints is not None:
                await self.fingerprints.finish()
        finally:
            self._stage = ControllerState.STOPPED
            self.queue.close()
            if self.fingerprints is not None:
                self.fingerprints.close()
            self.subscriptions.clear()
            log.info("All workers finished", extra=self._fields() | dropped_fields(self.queue))
            self._asked_to_stop = asyncio.Event()

    async def _run_until_stopped(self, group: asyncio.TaskGroup) -> None:
        if self.fingerprints is not None:
            self.fingerprints.begin()
        tasks = self._source_runners.start(group, self._sink, is_fatal=self._on_sync_failure is OnSyncFailure.END)
        tasks.append(group.create_task(self._start_workers(group), name=f"{self.name}/start"))
        if logging.getLogger("pyctrl.controller.queue").isEnabledFor(DUMP_LEVEL):
            tasks.append(group.create_task(log_items(self.queue, self._fields()), name=f"{self.name}/dump"))
        await self._asked_to_stop.wait()
        log.info("Shutdown signal received, waiting for all workers to finish", extra=self._fields())
        for task in tasks:
            task.cancel()
        self.queue.close()  # ends each worker after its reconcile; the task group waits for them

    async def _start_workers(self, group: asyncio.TaskGroup) -> None:
        log.info("Starting Controller", extra=self._fields())
        self._stage = ControllerState.WAITING_FOR_RIGHTS
        await self.permissions.wait_until_complete()
        self._stage = ControllerState.WAITING_FOR_SOURCES
        await self._sync_waiter.wait_for_sync(self._on_sync_failure)
        if self.fingerprints is not None:
            await self.fingerprints.release()
        self._stage = ControllerState.RUNNING
        log.info("Starting workers", extra=self._fields() | {"worker count": self._workers.count})
        self._workers.start(group)
        if self.fingerprints is not None:
            await self.fingerprints.verify()

    @property
    def _on_sync_failure(self) -> OnSyncFailure:
        """The setting that applies: a source in another cluster than the manager's never ends the manager."""
        return OnSyncFailure.WAIT if self.cluster else self.on_sync_failure

    @property
    def _permission_problem(self) -> str:
        """The missing permissions: found by the review, by failed reconciles, or by sources that may not watch."""
        return self.permissions.problem or self._source_runners.refusals

    def _is_own_write(self, cause: ChangeCause) -> bool:
        return any(source.is_own_write(cause) for source in self.sources)

    def _state_of(self, cause: ChangeCause) -> bytes | None:
        states = (source.state_of(cause) for source in self.sources)
        return next((state for state in states if state is not None), None)

    def _retry(self, request: Request) -> None:
        self.queue.retry_now(request, cause=TriggerCause("rights granted"))

    def _fields(self) -> dict[str, object]:
        fields: dict[str, object] = {"controller": self.name}
        if self.kind is not None:
            fields |= {"controllerGroup": self.kind.group, "controllerKind": self.kind.kind}
        if self.cluster:
            fields |= {"cluster": self.cluster}
        return fields
