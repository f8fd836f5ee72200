"""What is to be reconciled: each request once, by one worker at a time, and never later than it was asked for."""

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
from pyctrl.controller._causes import Cause, RetryCause, TimerCause, error_summary, merge
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

#: Priorities whose waits are kept apart; who makes them of data must not fill the memory. Beyond: `OTHER_PRIORITIES`.
MAX_PRIORITY_LABELS = 25  # controller-runtime's
OTHER_PRIORITIES = 1 << 62


#: A request may be wanted for four reasons at once; each has its own deadline. No Enum: it is hashed ten times a turn.
_Reason: TypeAlias = Literal["asked", "asked later", "retry", "timer"]
_ASKED: Final = "asked"  # something changed: now
_ASKED_LATER: Final = "asked later"  # a source wants it after a while
_RETRY: Final = "retry"  # the last attempt failed, or wants to be repeated at once: after the limiter's delay
_TIMER: Final = "timer"  # the last run wants to be repeated
_AT_ONCE: Final = timedelta(0)


class _WaitFor(Struct, gc=False):  # one is made for every change, as of the two others below
    due: float
    priority: int
    causes: tuple[Cause, ...] = ()
    is_gone: bool = False  # the object is: the timer of an earlier run would only wake up an empty name


class _Entry(Struct, gc=False):
    """A request that is wanted or worked on; without either it is forgotten."""

    pending_runs: dict[_Reason, _WaitFor]
    taken: dict[_Reason, _WaitFor] | None = None  # what the turn that is being worked on answers
    working_since: float | None = None


class Queue:
    """Requests in line for the workers of one controller.

    Promised:

    - A request is in line at most once, however often it is added, and at most one worker has it.
    - A request that is added while it is worked on runs once more afterwards.
    - Nothing that is added is lost before the queue is closed; a cancelled turn goes back in line.
    - A deadline is "at the latest". A change runs a request earlier and takes nothing away: a retry that is not
      due stays where it is (so that changes neither delay it nor inflate the backoff), and so does a timer, until
      a later run sets a new one or the object is gone. (In controller-runtime any early change loses the timer.)
    - Outages (`is_outage`) are waited out, but for no longer than a minute at a time, whatever the limiter says.
    - A run that wants to be repeated at once waits as the limiter says, longer each time, until a run ends otherwise:
      no request keeps a worker busy by itself. That is no failure, and any run that comes earlier answers it.
    - Of two adds the higher priority and the earlier deadline hold.
    - Who is next is the `PriorityHeap`'s decision: priority, then first come first served, and nobody starves.

    Not promised: an order between requests of different priority or deadline.
    All methods must be called on the event loop; none of them blocks, and only `take` waits.
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
        self._repeats: dict[Request, int] = {}  # of what the limiter has counted: runs to be repeated, not failures
        self._backed_off: set[Request] = set()  # since `forget`: the limiter has counted failures of these only
        self._adds = self._placed = self._retries = 0
        #: How long requests were ready before a worker took them, by priority, in seconds.
        self.waits: dict[int, Histogram] = {}
        #: How long workers had them, in seconds.
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
        cause: Cause | None = None,
        is_gone: bool = False,
    ) -> None:
        """Ask for a run of a request, now or after a while; see `RequestSink`. Ignored once the queue is closed."""
        if self._is_closed:
            return
        self._adds += 1
        now = _now()
        causes = (cause,) if cause is not None else ()
        if after is None or after <= timedelta(0):
            run = _WaitFor(now, priority, causes, is_gone)
            if request not in self._entries:  # nearly always: nobody has wanted it, and nobody works on it
                self._entries[request] = _Entry({_ASKED: run})
                self._make_ready(request, priority, now)
                return
            self._schedule(request, _ASKED, run, now)
        else:
            self._retries += 1
            self._schedule(request, _ASKED_LATER, _WaitFor(now + after.total_seconds(), priority, causes, is_gone), now)
        self._place(request, now)

    def retry_now(self, request: Request, *, cause: Cause | None = None) -> None:
        """Run a request now that waits for its retry, its failures forgotten: what it failed of is mended."""
        if self._is_closed:
            return  # what is left is told of as it is
        self._forget(request)
        if (entry := self._entries.get(request)) is not None:
            self._unschedule(entry, request, _RETRY)
        self.add(request, cause=cause)

    def drop(self, cluster: str) -> list[Request]:
        """Forget the requests for objects of a cluster that is gone, and return them.

        A turn that is being worked on goes on; what it asks for at its end is up to it.
        """
        dropped = [request for request in self.remaining() if request.cluster == cluster]
        for request in dropped:
            entry = self._entries[request]
            for reason in list(entry.pending_runs):
                self._unschedule(entry, request, reason)
            self._ready.remove(request)
            self._forget(request)
            self._place(request, _now())
        return dropped

    def take(self) -> AbstractAsyncContextManager[WorkItem, None]:
        """Wait for who is next, and keep everybody else off it until the block ends.

        Raises:
            QueueClosed: the queue is closed (and drained, if so asked).
        """
        return _TakeContext(self)

    @property
    def has_ready(self) -> bool:
        """Whether a worker that takes the next turn need not wait for it."""
        return bool(self._ready.positions)

    @property
    def longest_working(self) -> timedelta:
        """How long the oldest turn has been going on."""
        now = _now()
        return timedelta(seconds=now - min(self._working_since(), default=now))

    def close(self, *, drain: bool = False) -> None:
        """Refuse further adds and end the waiting of every worker; with ``drain``, after what is ready has run.

        What is left, `remaining` tells: it is dropped, and the next start lists every object anew.
        """
        self._is_closed = True
        self._drains = drain
        self._delayed.clear()
        while self._takers:
            self._wake_one()

    def reopen(self) -> None:
        """Take requests in again, after `close` and once no worker has a turn; what was left is forgotten."""
        assert all(entry.working_since is None for entry in self._entries.values())
        self._entries.clear()
        self._ready.clear()
        self._is_closed = self._drains = False

    def remaining(self) -> list[Request]:
        """Return the requests that want to run and have not: ready, waiting for a deadline, or cancelled."""
        return [request for request, entry in self._entries.items() if entry.pending_runs]

    def items(self, limit: int) -> list[QueueItem]:
        """Return so many of them with when and why they are wanted: who is ready first, by priority, then by time."""
        now = _now()
        wanted = [(request, entry) for request, entry in self._entries.items() if entry.pending_runs]
        return [_item(*each, now) for each in nsmallest(limit, wanted, key=lambda each: _urgency(each[1], now))]

    def statistics(self) -> QueueStatistics:
        """Return numbers for metrics and tests."""
        now = _now()
        working = self._working_since()
        oldest = self._ready.oldest()
        from pyctrl.controller._statistics import QueueStatistics  # here: a start does without

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

    # Everything below is synchronous but for the one wait in _next: between two awaits the entries, the line and
    # the alarms always agree.

    async def _next(self) -> WorkItem:
        while not self._ready.positions:
            if self._is_closed:
                raise QueueClosed(f"the queue {self.name!r} is closed")
            # In here, not in a coroutine of its own: each one between costs at every waking.
            taker = asyncio.get_running_loop().create_future()
            self._takers.append(taker)
            try:
                await taker
            except asyncio.CancelledError:
                if taker in self._takers:
                    self._takers.remove(taker)
                elif not taker.cancelled():
                    self._wake_one()  # it was woken and is cancelled at the same moment: pass it on
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

    def _take_due(self, entry: _Entry, request: Request, now: float) -> tuple[Cause, ...]:
        """Let the turn that begins answer all that is due, and return why it runs."""
        if len(entry.pending_runs) == 1 and _ASKED in entry.pending_runs:  # nearly always; no timer, no alarm
            entry.taken, entry.pending_runs = entry.pending_runs, {}
            return entry.taken[_ASKED].causes
        entry.taken = {reason: run for reason, run in entry.pending_runs.items() if run.due <= now}
        causes: tuple[Cause, ...] = ()
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
        self._place(item.request, now)

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
        self, entry: _Entry, item: WorkItem, now: float, priority: int, cause: Cause, at_most: timedelta | None = None
    ) -> bool:
        """Run a request again after the limiter's delay, and return whether that counts for the next delay."""
        retry = entry.pending_runs.get(_RETRY)
        if retry is not None and retry.due > now:
            return False  # a change ran it before its retry was due: that neither counts nor moves the retry
        self._unschedule(entry, item.request, _RETRY)
        self._retries += 1
        self._backed_off.add(item.request)
        delay = self._limiter.backoff(item.request)
        if at_most is not None:
            delay = min(delay, at_most)
        self._schedule(item.request, _RETRY, _WaitFor(self._deadline(now, delay), priority, (cause,)), now)
        return True

    def _forget(self, request: Request) -> None:
        """Let the limiter begin again with its first delay."""
        self._limiter.forget(request)
        if request in self._backed_off:
            self._backed_off.discard(request)
            self._repeats.pop(request, None)

    def _deadline(self, now: float, delay: timedelta) -> float:
        """Return when a delay is over: never, once the queue is closed, or draining it might not end."""
        return math.inf if self._is_closed else now + max(0.0, delay.total_seconds())

    def _schedule(self, request: Request, reason: _Reason, run: _WaitFor, now: float) -> None:
        """Add a wish to those of a request: of two of one kind the higher priority and the earlier time hold."""
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
        if entry.pending_runs.pop(reason, None) is not None and reason != _ASKED:  # that is due from its beginning
            self._delayed.cancel((request, reason))

    def _due(self, token: tuple[Request, _Reason]) -> None:
        request, reason = token
        now = _now()
        self._entries[request].pending_runs[reason].due = now  # the loop may call a tick of its clock early
        self._place(request, now)

    def _place(self, request: Request, now: float) -> None:
        """Put a request in line if one of its pending_runs is due; forget it if it has none."""
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
    """What `Queue.take` gives. Written out, because a context manager of a generator takes 2 µs more of each turn."""

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
    causes: tuple[Cause, ...] = ()
    for run in entry.pending_runs.values():
        causes = merge(causes, run.causes)
    return QueueItem(request=request, priority=-priority, due=due, causes=causes)


def _now() -> float:
    return asyncio.get_running_loop().time()
