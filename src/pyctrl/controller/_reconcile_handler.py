"""The handler of one reconcile: calls the reconciler, and turns its result or error into the outcome of a work item."""

from __future__ import annotations

import asyncio
import inspect
import logging
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from random import Random
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from pyctrl import _tracing
from pyctrl._log import LazyFields, current_log_context, log_context, log_fields
from pyctrl._metrics import RECONCILE_DURATIONS, Histogram
from pyctrl._tasks import unwrap
from pyctrl._tracing import Attributes, Tracing
from pyctrl.api import GroupVersionKind
from pyctrl.cache import ReadObserver, read_observer
from pyctrl.client import forbidden_log
from pyctrl.controller._causes import ChangeCause, RetryCause, cause_label, error_summary
from pyctrl.controller._hot_loops import HotLoops
from pyctrl.controller._permissions import PermissionTracker
from pyctrl.controller._reads.subscriptions import Subscriptions
from pyctrl.controller._reconciler import Reconciler
from pyctrl.controller._request import Request, Result
from pyctrl.controller._stale_owners import StaleOwners
from pyctrl.controller._workqueue.work_item import Done, Outcome, Retry, Terminal, WorkItem
from pyctrl.errors import (
    Forbidden,
    InvalidResult,
    PyctrlError,
    TerminalError,
    UnknownCluster,
    from_api_exception,
    is_api_exception,
)

if TYPE_CHECKING:
    from pyctrl.controller._statistics import ReconcileStatistics

__all__ = ["ReconcileHandler", "reconcile_id", "reconcile_span"]


log = logging.getLogger("pyctrl.controller")

_AT_ONCE = timedelta(0)


class _Counts(Struct):
    """The counters of `ReconcileStatistics`, which are mutable."""

    success: int = 0
    requeue: int = 0
    requeue_after: int = 0
    error: int = 0
    terminal_error: int = 0
    timeout: int = 0
    self_caused: int = 0
    forbidden: int = 0
    causes: dict[str, int] = {}  # msgspec copies the default for each Struct


class RunObservers(Protocol):
    """Makes the observer of each run, such as `Subscriptions`."""

    @property
    def kinds(self) -> Collection[object]:
        """What the observers follow; without any, `undeclared` observes the runs."""
        ...

    @property
    def undeclared(self) -> ReadObserver:
        """The observer of runs if there are no kinds."""
        ...

    def begin(self, request: Request) -> Any:
        """Begin a run and return the observer of its reads."""

    def end(self, run: Any, outcome: Outcome | None) -> None:
        """End a run, with its observer."""


class ReconcileHandler:
    """Reconciles work items and counts their outcomes.

    An exception of the reconciler becomes a retry or, for a TerminalError, the end. Only the cancellation of the worker
    is raised. A CancelledError of another task, which the reconciler awaited, is a failure.
    """

    def __init__(
        self,
        name: str,
        kind: GroupVersionKind | None,
        reconciler: Reconciler[Any],
        *,
        timeout: timedelta | None,
        random: Random,
        permissions: PermissionTracker,
        is_own_write: Callable[[ChangeCause], bool] = lambda _cause: False,
        state_of: Callable[[ChangeCause], bytes | None] = lambda _cause: None,
        stale_owners: StaleOwners | None = None,
        subscriptions: Subscriptions | None = None,
    ) -> None:
        self._name = name
        self._reconciler = reconciler
        self._timeout = timeout
        self._random = random
        self._permissions = permissions
        self._fields = {"controller": name}
        if kind is not None:
            self._fields |= {"controllerGroup": kind.group, "controllerKind": kind.kind}
        self._is_own_write = is_own_write
        #: Detects reconciles that trigger themselves.
        self.hot_loops: HotLoops = HotLoops(name, state_of)
        #: Observes what each run reads.
        self.runs: RunObservers = Subscriptions(name) if subscriptions is None else subscriptions
        # Reads of pyctrl's own controllers are not reported: each would walk the stack to find that out.
        self._undeclared = None if type(reconciler).__module__.startswith("pyctrl.") else self.runs.undeclared
        self._stale_owners = stale_owners
        self._suspects: Mapping[Request, object] = {} if stale_owners is None else stale_owners.suspects
        self._counts = _Counts()
        self._has_warned_of_delay = False
        #: The durations of reconciles, in seconds.
        self.durations: Histogram = Histogram(RECONCILE_DURATIONS)
        #: Called after each reconcile with its work item and duration.
        self.on_reconciled: Callable[[WorkItem, timedelta], None] | None = None

    @property
    def statistics(self) -> ReconcileStatistics:
        """The number of reconciles so far, by outcome and by cause."""
        counts = self._counts
        from pyctrl.controller._statistics import ReconcileStatistics  # here: not needed to start

        return ReconcileStatistics(
            success=counts.success,
            requeue=counts.requeue,
            requeue_after=counts.requeue_after,
            error=counts.error,
            terminal_error=counts.terminal_error,
            timeout=counts.timeout,
            took=timedelta(seconds=self.durations.total),
            causes=dict(counts.causes),
            self_caused=counts.self_caused,
            forbidden=counts.forbidden,
        )

    async def handle(self, item: WorkItem) -> None:
        """Reconcile the request of a work item and set its outcome."""
        # The id is drawn now, so that runs are repeatable, and formatted when a line is logged.
        own = _ReconcileFields(self._fields, item, self._random.getrandbits(128), log_fields.get())
        fields = log_fields.set(own)
        if (forbidden := forbidden_log.get()) is None:
            forbidden_log.set(forbidden := [])  # one list for each worker
        runs = self.runs
        reads = runs.begin(item.request) if runs.kinds else None
        observer = read_observer.set(self._undeclared if reads is None else reads)
        try:
            if (tracing := _tracing.active) is None:
                await self._attempt(item)
            else:
                with reconcile_span(tracing, item):
                    await self._attempt(item)
        finally:
            item.ended = asyncio.get_running_loop().time()
            if reads is not None:
                runs.end(reads, item.outcome)
            read_observer.reset(observer)
            if self._count_causes(item):
                self.hot_loops.caused_itself(item.request, item.causes)
            elif self.hot_loops.streaks:
                self.hot_loops.streaks.pop(item.request, None)
            log_fields.reset(fields)
            took = item.ended - item.began
            self.durations.observe(took)
            if forbidden:
                self._count_forbidden(item, forbidden)
            if self.on_reconciled is not None:
                self.on_reconciled(item, timedelta(seconds=took))

    def _count_forbidden(self, item: WorkItem, forbidden: list[Forbidden]) -> None:
        """Count forbidden requests, and log those of a reconcile that succeeded: its error log shows the others."""
        self._counts.forbidden += len(forbidden)
        if isinstance(item.outcome, Done):
            for error in forbidden:
                self._permissions.log_ignored(error)
        forbidden.clear()

    def _count_causes(self, item: WorkItem) -> bool:
        """Count causes by type, and return whether all of them are writes of this process."""
        causes, deletion = item.causes, None
        counts, is_own = self._counts.causes, bool(causes)
        for cause in causes:
            if type(cause) is ChangeCause:
                label: str = "listed" if cause.initial else cause.change
                is_own = is_own and self._is_own_write(cause)
                if cause.owner_uids:
                    deletion = cause
            else:
                label, is_own = cause_label(cause), False
            counts[label] = counts.get(label, 0) + 1
        self._counts.self_caused += is_own
        if deletion is not None and self._stale_owners is not None:
            self._stale_owners.lost(item.request, deletion)
        return is_own

    async def _attempt(self, item: WorkItem) -> None:
        if log.isEnabledFor(logging.DEBUG):
            log.debug("Reconciling", extra={"causes": item.causes, "failures": item.failures or None})
        try:
            if self._suspects and await self._is_held(item):
                return
            result = await (
                self._call(item.request) if self._timeout is None else self._call_with_timeout(item.request)
            )
        except asyncio.CancelledError as error:
            if _is_cancelled():
                moved = "another replica takes its request"
                log.warning(
                    "Reconcile was cancelled: %s",
                    moved if item.is_moved else "the grace period of its controller is over",
                )
                raise
            self._fail(item, error)
        except Exception as error:  # noqa: BLE001 - any exception of the user's code is a failed reconcile
            self._handle_error(item, error)
        else:
            self._permissions.record_outcome(item.request, None)
            self._handle_result(item, result)

    async def _call_with_timeout(self, request: Request) -> object:
        """Call the user's code, and cancel it after the timeout."""
        assert self._timeout is not None  # `_attempt` checks it
        limit = asyncio.timeout(self._timeout.total_seconds())
        try:
            async with limit:
                return await self._call(request)
        except TimeoutError as error:
            if not limit.expired():
                raise  # of the user's code
            self._counts.timeout += 1
            message = f"the reconcile took longer than reconcile_timeout={self._timeout}"
            raise TimeoutError(
                message
            ) from error.__cause__  # the cancellation, whose traceback shows where the reconcile hung

    async def _call(self, request: Request) -> object:
        """Call the user's code, which may return anything despite its annotation."""
        returned: object = self._reconciler.reconcile(request)
        if type(returned) is CoroutineType or inspect.isawaitable(returned):  # isawaitable is slow
            return await returned
        return _NotAsync(returned)

    async def _is_held(self, item: WorkItem) -> bool:
        """Return whether the object in the cache is stale, so that its reconcile must wait, at most for a minute."""
        assert self._stale_owners is not None  # it has suspects
        reason = await self._stale_owners.check(item.request)
        if reason is None:
            return False
        self._counts.requeue += 1
        log.debug("Not reconciling: %s", reason)
        item.fail(reason)
        return True

    def _handle_result(self, item: WorkItem, result: object) -> None:
        match result:
            case None | Result(requeue_after=None, priority=None | int()):
                self._counts.success += 1
                log.debug("Reconcile successful")
                item.succeed()
            case Result(requeue_after=timedelta() as after, priority=None | int() as priority):
                if after > _AT_ONCE:
                    self._counts.requeue_after += 1
                else:
                    self._counts.requeue += 1
                    self._check_delay(after)
                log.debug("Reconcile done, requeueing", extra={"after": after})
                item.succeed(requeue_after=after, priority=priority)
            case _:
                self._give_up(item, InvalidResult(self._name, result))

    def _check_delay(self, after: timedelta) -> None:
        """Log a warning of a negative delay, once: it is a mistake of the code and recurs for other objects."""
        if after < _AT_ONCE and not self._has_warned_of_delay:
            self._has_warned_of_delay = True
            log.warning(
                "Reconcile returned a negative delay, requeueing rate-limited; further negative delays are not logged",
                extra={"after": after, "fix": "Result.after(max(delay, timedelta(0))), or None when nothing is due"},
            )

    def _handle_error(self, item: WorkItem, error: Exception) -> None:
        single = unwrap(error)  # a reconcile that uses a TaskGroup raises even a single error in a group
        if isinstance(single, TerminalError):
            self._give_up(item, single)
        elif isinstance(single, Exception) and is_api_exception(single):
            self._fail(item, from_api_exception(single))
        else:  # of other errors the whole group is logged, with its traceback
            self._fail(item, single if isinstance(single, PyctrlError) else error)

    def _fail(self, item: WorkItem, error: BaseException) -> None:
        if isinstance(error, UnknownCluster) and error.cluster == item.request.cluster:
            log.info("Dropping a request: the cluster of its object is gone")
            item.give_up()
            return
        self._counts.error += 1
        extra = {"causes": item.causes, "failures": item.failures + 1}
        trace = _traceback_of(error, item)
        summary = error_summary(error)
        log.error("Reconciler error: %s", summary, extra=extra | {"error": summary}, exc_info=trace)
        item.fail(error)
        self._permissions.record_outcome(item.request, error)

    def _give_up(self, item: WorkItem, error: Exception) -> None:
        self._counts.terminal_error += 1
        extra = {"causes": item.causes, "failures": item.failures + 1}
        trace = _traceback_of(error, item)
        summary = error_summary(error)
        log.error("Reconciler error, not retried: %s", summary, extra=extra | {"error": summary}, exc_info=trace)
        item.give_up(error)
        self._permissions.record_outcome(item.request, error)


class _ReconcileFields(LazyFields):
    """The log fields of a reconcile: those of its controller and of its request, its id and its causes."""

    __slots__ = ("_item", "_number", "_of_controller", "_outer")

    def __init__(
        self, of_controller: Mapping[str, str], item: WorkItem, number: int, outer: Mapping[str, object]
    ) -> None:
        self._made = None
        self._of_controller = of_controller
        self._item = item
        self._number = number
        self._outer = outer

    def _make(self) -> Mapping[str, object]:
        made, item = str(uuid.UUID(int=self._number, version=4)), self._item
        names = _names(item.request)
        return {**self._outer, **self._of_controller, **names, "reconcileID": made, "causes": item.causes}


def reconcile_id() -> str | None:
    """Return the id of the current reconcile, as in its log lines; None outside of a reconcile.

    Each reconcile has its own id. Pass it to other systems to correlate their logs with these.
    """
    found = current_log_context().get("reconcileID")
    return found if isinstance(found, str) else None


def _traceback_of(error: BaseException, item: WorkItem) -> BaseException | None:
    """Return the error if its traceback should be logged: not for pyctrl's own errors, nor for a repeated error."""
    logged = {cause.error for cause in item.causes if isinstance(cause, RetryCause)}
    return None if isinstance(error, PyctrlError) or error_summary(error) in logged else error


class _NotAsync:
    """The value that a `reconcile` returned which is not async; its repr is part of the message of InvalidResult."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        return f"{self._value!r} without being `async def`"


def _names(request: Request) -> dict[str, str]:
    names = {"namespace": request.namespace, "name": request.name, "cluster": request.cluster}
    return {key: value for key, value in names.items() if value}


def _is_cancelled() -> bool:
    """Return whether the current task is being cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@contextmanager
def reconcile_span(tracing: Tracing, item: WorkItem) -> Iterator[None]:
    """Record a block that reconciles a work item as a span; the log context of the block has its fields."""
    fields = current_log_context()
    name = f"reconcile {fields['controller']}"
    with tracing.span(name, _span_attributes(fields, item), waited=item.waited) as span:
        with log_context(**span.ids):
            yield
        match item.outcome:
            case Done(requeue_after=after):
                span.set({"pyctrl.result": "success" if after is None else "requeue_after"})
            case Retry(error):
                span.set({"pyctrl.result": "error"})
                span.fail(type(error).__name__, error)
            case Terminal(error):
                span.set({"pyctrl.result": "terminal_error"})
                span.fail(type(error).__name__, error)


#: Span attributes for log fields, with the names of OpenTelemetry's conventions where there are some.
_SPAN_KEYS = {
    "controller": "pyctrl.controller",
    "controllerGroup": "pyctrl.object.group",
    "controllerKind": "pyctrl.object.kind",
    "namespace": "k8s.namespace.name",
    "name": "pyctrl.object.name",
    "cluster": "k8s.cluster.name",
    "reconcileID": "pyctrl.reconcile_id",
}


def _span_attributes(fields: Mapping[str, object], item: WorkItem) -> Attributes:
    return {
        **{name: str(fields[key]) for key, name in _SPAN_KEYS.items() if fields.get(key)},
        "pyctrl.priority": item.priority,
        "pyctrl.failures": item.failures,
        "pyctrl.queue_wait_seconds": item.waited.total_seconds(),
        "pyctrl.causes": [str(cause) for cause in item.causes],
    }
