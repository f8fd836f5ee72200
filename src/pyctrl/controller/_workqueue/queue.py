"""The work queue of a controller: each request once, for one worker at a time, with priorities and deadlines."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from heapq import nsmallest
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from pyctrl._metrics import QUEUE_DURATIONS, Histogram
from pyctrl.controller._causes import ReconcileCause, RetryCause, TimerCause, error_summary, merge
from pyctrl.controller._request import Request
from pyctrl.controller._workqueue.delay_queue import DelayQueue
from pyctrl.controller._workqueue.priority_heap import PriorityHeap
from pyctrl.controller._workqueue.queue_items import QueueItem
from pyctrl.controller._workqueue.rate_limiters import OUTAGE_WAIT, ExponentialBackoff, RateLimiter, is_outage
from pyctrl.controller._workqueue.work_item import Done, Retry, Terminal, WorkItem
from pyctrl.errors import QueueClosed

if TYPE_CHECKING:
    from pyctrl.controller._statistics import QueueStatistics

__all__ = ["MAX_PRIORITY_LABELS", "OTHER_PRIORITIES", "Queue"]

#: Priorities with a histogram of their own, so that priorities made of data do not fill the memory. All others share
#: that of `OTHER_PRIORITIES`.
MAX_PRIORITY_LABELS = 25  # as in controller-runtime
OTHER_PRIORITIES = 1 << 62


#: The reasons for which a request may be pending at once; each has its own deadline. Strings, not an Enum: they are
#: hashed ten times for each item.
_Reason: TypeAlias = Literal["added", "added later", "retry", "timer"]
_ADDED: Final = "added"  # by a source, without a delay
_ADDED_LATER: Final = "added later"  # by a source, with a delay
_RETRY: Final = "retry"  # the last run failed, or returned a delay of zero: after the limiter's delay
_TIMER: Final = "timer"  # the last run returned a delay
_AT_ONCE: Final = timedelta(0)


class _WaitFor(Struct, gc=False):  # a Struct without gc, as `_Entry`: one is made for every change
    due: float
    priority: int
    causes: tuple[ReconcileCause, ...] = ()
    is_gone: bool = False  # the object does not exist any more: this run cancels the timer of an earlier one


class _Entry(Struct, gc=False):
    """A request that is pending or being worked on."""

    pending_runs: dict[_Reason, _WaitFor]
    taken: dict[_Reason, _WaitFor] | None = None  # the pending runs that the present run stands for
    working_since: float | None = None


class Queue:
    """The requests that the workers of one controller have to reconcile.

    Guarantees:

    - A request is ready at most once, however often it is added, and at most one worker has it.
    - A request that is added while a worker has it runs once more afterwards.
    - No request is lost before the queue is closed. A cancelled item becomes ready again.
    - A deadline means "at the latest". A change runs a request earlier and does not cancel anything: a retry that is
      not due keeps its time, so that changes neither delay it nor increase the backoff. A timer keeps its time, too,
      until a later run sets a new one or the object is gone. (In controller-runtime an early change loses the timer.)
    - After an outage (`is_outage`) a request waits for at most a minute, whatever the limiter says.
    - A run that returns a delay of zero is repeated after the limiter's delay, which grows with each such run until a
      run ends otherwise. It does not count as a failure, and any earlier run takes its place.
    - Of two adds the higher priority and the earlier deadline apply.
    - `PriorityHeap` decides the order: by priority, then first in, first out, without starvation.

    There is no guaranteed order between requests of different priority or deadline.
    All methods must be called on the event loop. None of them blocks, and only `take` waits.

    Args:
        name: of the controller.
        limiter: decides the delay of retries; by default `ExponentialBackoff`.
        ready: orders the ready requests.
    """

    def __init__(
        self, name: str = "", *, limiter: RateLimiter | None = None, ready: PriorityHeap | None = None
    ) -> None:
        self.name = name
        self._limiter = limiter or ExponentialBackoff()
        self._ready = PriorityHeap() if ready is None else ready  # an empty one is false
        self._entries: dict[Request, _Entry] = {}
        self._delayed: DelayQueue[tuple[Request, _Reason]] = DelayQueue(self._due)
        self._takers: deque[asyncio.Future[None]] = deque()
        self._is_closed = False
        self._drains = False
        self._repeats: dict[Request, int] = {}  # runs with a delay of zero that the limiter has counted; no failures
        self._backed_off: set[Request] = set()  # since `forget`: the limiter has counted failures of these only
        self._adds = self._placed = self._retries = 0
        #: Seconds from ready to taken, by priority.
        self.waits: dict[int, Histogram] = {}
        #: Seconds from taken to finished.
        self.works: Histogram = Histogram(QUEUE_DURATIONS)

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._is_closed

    def add(
        self,
        request: Request,
        *,
        priority: int = 0,
        after: timedelta | None = None,
        cause: ReconcileCause | None = None,
        is_gone: bool = False,
    ) -> None:
        """Add a request, to run now or after a delay; see `RequestSink`. Ignored once the queue is closed."""
        if self._is_closed:
            return
        self._adds += 1
        now = _now()
        causes = (cause,) if cause is not None else ()
        if after is None or after <= timedelta(0):
            run = _WaitFor(now, priority, causes, is_gone)
            if request not in self._entries:  # nearly always: it is neither pending nor being worked on
                self._entries[request] = _Entry({_ADDED: run})
                self._make_ready(request, priority, now)
                return
            self._schedule(request, _ADDED, run, now)
        else:
            self._retries += 1
            self._schedule(request, _ADDED_LATER, _WaitFor(now + after.total_seconds(), priority, causes, is_gone), now)
        self._place(request, now)

    def retry_now(self, request: Request, *, cause: ReconcileCause | None = None) -> None:
        """Run a request now and forget its failures, as their cause is gone."""
        if self._is_closed:
            return  # `remaining` returns requests as they were
        self._forget(request)
        if (entry := self._entries.get(request)) is not None:
            self._unschedule(entry, request, _RETRY)
        self.add(request, cause=cause)

    def restore_timer(self, request: Request, after: timedelta, priority: int) -> None:
        """Run a request again after a delay, as a run before a restart has requested. Ignored once it is closed."""
        if self._is_closed:
            return
        now = _now()
        run = _WaitFor(now + after.total_seconds(), priority, (TimerCause(after),))
        self._schedule(request, _TIMER, run, now)
        self._place(request, now)

    def has_work(self, request: Request) -> bool:
        """Return whether a request is pending or being worked on, except for a timer that is not due."""
        entry = self._entries.get(request)
        if entry is None:
            return False
        now = _now()
        return entry.working_since is not None or any(
            reason != _TIMER or run.due <= now for reason, run in entry.pending_runs.items()
        )

    def timer_of(self, request: Request) -> tuple[float, int] | None:
        """Return the seconds until the timer of a request is due, and its priority; None without a timer."""
        entry = self._entries.get(request)
        run = None if entry is None else entry.pending_runs.get(_TIMER)
        return None if run is None else (run.due - _now(), run.priority)

    def drop(self, cluster: str) -> list[Request]:
        """Drop the pending requests for objects of a cluster that is gone, and return them.

        A request that a worker has is not interrupted, and may be retried afterwards.
        """
        return [request for request in self.remaining() if request.cluster == cluster and self.drop_request(request)]

    def drop_request(self, request: Request) -> bool:
        """Drop a request if it is pending, and return whether it was. See `drop`."""
        entry = self._entries.get(request)
        if entry is None or not entry.pending_runs:
            return False
        for reason in list(entry.pending_runs):
            self._unschedule(entry, request, reason)
        self._ready.remove(request)
        self._forget(request)
        self._place(request, _now())
        return True

    def take(self) -> AbstractAsyncContextManager[WorkItem, None]:
        """Return a context manager that waits for the next item, which no other worker gets until the block ends.

        Raises:
            QueueClosed: the queue is closed, and empty if it is to be drained.
        """
        return _TakeContext(self)

    @property
    def has_ready(self) -> bool:
        """Whether a request is ready, so that `take` would not wait."""
        return bool(self._ready.positions)

    @property
    def longest_working(self) -> timedelta:
        """How long the oldest item has been worked on."""
        now = _now()
        return timedelta(seconds=now - min(self._working_since(), default=now))

    def close(self, *, drain: bool = False) -> None:
        """Ignore further adds and end the wait of each worker; with ``drain``, once all ready requests have run.

        `remaining` returns what is left. It is dropped, as the next start lists all objects again.
        """
        self._is_closed = True
        self._drains = drain
        self._delayed.clear()
        while self._takers:
            self._wake_one()

    def reopen(self) -> None:
        """Accept requests again, after `close` and once no worker has an item. What was left is dropped."""
        assert all(entry.working_since is None for entry in self._entries.values())
        self._entries.clear()
        self._ready.clear()
        self._is_closed = self._drains = False

    def remaining(self) -> list[Request]:
        """Return the pending requests: ready, waiting for a deadline, or cancelled."""
        return [request for request, entry in self._entries.items() if entry.pending_runs]

    def items(self, limit: int) -> list[QueueItem]:
        """Return at most ``limit`` pending requests with deadline and causes: ready ones first, then by deadline."""
        now = _now()
        wanted = [(request, entry) for request, entry in self._entries.items() if entry.pending_runs]
        return [_item(*each, now) for each in nsmallest(limit, wanted, key=lambda each: _urgency(each[1], now))]

    def statistics(self) -> QueueStatistics:
        """Return numbers for metrics and tests."""
        now = _now()
        working = self._working_since()
        oldest = self._ready.oldest()
        from pyctrl.controller._statistics import QueueStatistics  # here: not needed to start

        return QueueStatistics(
            ready=len(self._ready),
            ready_by_priority=self._ready.priorities(),
            waiting=len(self._delayed),
            working=len(working),
            adds=self._adds,
            placed=self._placed,
            retries=self._retries,
            longest_ready=timedelta(seconds=now - oldest if oldest is not None else 0.0),
            longest_working=timedelta(seconds=now - min(working, default=now)),
            unfinished=timedelta(seconds=sum(now - since for since in working)),
            is_closed=self._is_closed,
        )

    def _working_since(self) -> list[float]:
        return [entry.working_since for entry in self._entries.values() if entry.working_since is not None]

    # Everything below is synchronous except for one await in `_next`: at each await entries, ready and delayed requests
    # agree.

    async def _next(self) -> WorkItem:
        while not self._ready.positions:
            if self._is_closed:
                raise QueueClosed(f"the queue {self.name!r} is closed")
            # Not in a coroutine of its own: each coroutine in between costs time at every wake-up.
            taker = asyncio.get_running_loop().create_future()
            self._takers.append(taker)
            try:
                await taker
            except asyncio.CancelledError:
                if taker in self._takers:
                    self._takers.remove(taker)
                elif not taker.cancelled():
                    self._wake_one()  # woken and cancelled at the same moment: wake another worker instead
                raise
        if self._is_closed and not self._drains:
            raise QueueClosed(f"the queue {self.name!r} is closed")
        return self._hand_out(_now())

    def _wake_one(self) -> None:
        while self._takers:
            taker = self._takers.popleft()
            if not taker.done():
                taker.set_result(None)
                return

    def _hand_out(self, now: float) -> WorkItem:
        request, priority, since = self._ready.pop(now)
        entry = self._entries[request]
        causes = self._take_due(entry, request, now)
        entry.working_since = now
        (self.waits.get(priority) or self._add_wait_histogram(priority)).observe(now - since)
        failures = self._failures(request) if request in self._backed_off else 0
        return WorkItem(request, priority, causes, failures, now - since, now)

    def _failures(self, request: Request) -> int:
        return max(0, self._limiter.failures(request) - self._repeats.get(request, 0))

    def _take_due(self, entry: _Entry, request: Request, now: float) -> tuple[ReconcileCause, ...]:
        """Move all pending runs that are due into the run that begins, and return their causes."""
        if len(entry.pending_runs) == 1 and _ADDED in entry.pending_runs:  # nearly always: no deadline to cancel
            entry.taken, entry.pending_runs = entry.pending_runs, {}
            return entry.taken[_ADDED].causes
        entry.taken = {reason: run for reason, run in entry.pending_runs.items() if run.due <= now}
        causes: tuple[ReconcileCause, ...] = ()
        for reason, run in entry.taken.items():
            self._unschedule(entry, request, reason)
            causes = merge(causes, run.causes)
            if run.is_gone:
                self._unschedule(entry, request, _TIMER)
        return causes

    def _add_wait_histogram(self, priority: int) -> Histogram:
        label = priority if len(self.waits) < MAX_PRIORITY_LABELS else OTHER_PRIORITIES
        return self.waits.setdefault(label, Histogram(QUEUE_DURATIONS))

    def _finish(self, item: WorkItem) -> None:
        now = item.ended if item.ended is not None else _now()
        entry = self._entries[item.request]
        assert entry.working_since is not None  # it was handed out
        self.works.observe(now - entry.working_since)
        taken, entry.taken, entry.working_since = entry.taken or {}, None, None
        match item.outcome:
            case Done(requeue_after, priority):
                self._succeeded(entry, item, now, requeue_after, item.priority if priority is None else priority)
            case Retry(error):
                self._failed(entry, item, now, error)
            case Terminal():
                self._forget(item.request)
                self._unschedule(entry, item.request, _RETRY)
            case None:
                for reason, run in taken.items():
                    self._schedule(item.request, reason, run, now)
        # Not `now`: after the end of its reconcile it may have been added, by a change that came during the reconcile.
        self._place(item.request, _now() if entry.pending_runs else now)

    def _succeeded(self, entry: _Entry, item: WorkItem, now: float, after: timedelta | None, priority: int) -> None:
        if after is not None and after <= _AT_ONCE:
            self._unschedule(entry, item.request, _TIMER)
            if self._back_off(entry, item, now, priority, TimerCause(_AT_ONCE)):
                self._repeats[item.request] = self._repeats.get(item.request, 0) + 1
            return
        self._forget(item.request)
        self._unschedule(entry, item.request, _RETRY)
        if after is not None:
            self._retries += 1
            self._unschedule(entry, item.request, _TIMER)
            run = _WaitFor(self._deadline(now, after), priority, (TimerCause(after),))
            self._schedule(item.request, _TIMER, run, now)

    def _failed(self, entry: _Entry, item: WorkItem, now: float, error: BaseException) -> None:
        at_most = OUTAGE_WAIT if is_outage(error) else None
        self._back_off(entry, item, now, item.priority, RetryCause(item.failures + 1, error_summary(error)), at_most)

    def _back_off(
        self,
        entry: _Entry,
        item: WorkItem,
        now: float,
        priority: int,
        cause: ReconcileCause,
        at_most: timedelta | None = None,
    ) -> bool:
        """Run a request again after the limiter's delay, and return whether that counts for the next delay."""
        retry = entry.pending_runs.get(_RETRY)
        if retry is not None and retry.due > now:
            return False  # a change ran it before its retry was due: this run neither counts nor moves the retry
        self._unschedule(entry, item.request, _RETRY)
        self._retries += 1
        self._backed_off.add(item.request)
        delay = self._limiter.backoff(item.request)
        if at_most is not None:
            delay = min(delay, at_most)
        self._schedule(item.request, _RETRY, _WaitFor(self._deadline(now, delay), priority, (cause,)), now)
        return True

    def _forget(self, request: Request) -> None:
        """Forget the failures of a request."""
        self._limiter.forget(request)
        if request in self._backed_off:
            self._backed_off.discard(request)
            self._repeats.pop(request, None)

    def _deadline(self, now: float, delay: timedelta) -> float:
        """Return when a delay is over: never, once the queue is closed, or draining would not end."""
        return math.inf if self._is_closed else now + max(0.0, delay.total_seconds())

    def _schedule(self, request: Request, reason: _Reason, run: _WaitFor, now: float) -> None:
        """Add a pending run. Of two with the same reason the higher priority and the earlier deadline apply."""
        entry = self._entries.get(request)
        if entry is None:
            entry = self._entries[request] = _Entry({})
        known = entry.pending_runs.get(reason)
        if known is None:
            entry.pending_runs[reason] = run
        else:
            known.priority = max(known.priority, run.priority)
            known.causes = merge(known.causes, run.causes)
            known.is_gone |= run.is_gone
            if known.due <= run.due:
                return
            known.due = run.due
        if run.due > now and not self._is_closed:
            self._delayed.set((request, reason), run.due)

    def _unschedule(self, entry: _Entry, request: Request, reason: _Reason) -> None:
        if entry.pending_runs.pop(reason, None) is not None and reason != _ADDED:  # which has no deadline
            self._delayed.cancel((request, reason))

    def _due(self, token: tuple[Request, _Reason]) -> None:
        request, reason = token
        now = _now()
        self._entries[request].pending_runs[reason].due = now  # the loop may call up to one clock tick early
        self._place(request, now)

    def _place(self, request: Request, now: float) -> None:
        """Make a request ready if one of its pending runs is due; forget it if it has none."""
        entry = self._entries[request]
        if entry.working_since is not None:
            return  # _finish places it
        if not entry.pending_runs:
            del self._entries[request]
            return
        due = [run.priority for run in entry.pending_runs.values() if run.due <= now]
        if due:
            self._make_ready(request, max(due), now)

    def _make_ready(self, request: Request, priority: int, now: float) -> None:
        if self._ready.put(request, priority, now):
            self._placed += 1
            self._wake_one()


class _TakeContext:
    """The context manager of `Queue.take`. A class, as one made of a generator takes 2 µs more for each item."""

    __slots__ = ("_item", "_queue")

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    async def __aenter__(self) -> WorkItem:
        self._item = await self._queue._next()  # noqa: SLF001 - its other half
        return self._item

    async def __aexit__(self, *_: object) -> None:
        self._queue._finish(self._item)  # noqa: SLF001


def _urgency(entry: _Entry, now: float) -> tuple[float, int]:
    due = min(run.due for run in entry.pending_runs.values())
    return max(0.0, due - now), -max(run.priority for run in entry.pending_runs.values())


def _item(request: Request, entry: _Entry, now: float) -> QueueItem:
    due, priority = _urgency(entry, now)
    causes: tuple[ReconcileCause, ...] = ()
    for run in entry.pending_runs.values():
        causes = merge(causes, run.causes)
    return QueueItem(request=request, priority=-priority, due=due, causes=causes)


def _now() -> float:
    return asyncio.get_running_loop().time()
