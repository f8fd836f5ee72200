"""Event loop watchdog: a thread that logs the code that blocks the loop, while it is blocked."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context
from datetime import timedelta
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from pyctrl import _clock
from pyctrl._log import log_fields
from pyctrl._stack_frames import CodeLine, own_line, stack_of
from pyctrl.errors import ManagerError
from pyctrl.manager._blockage import Blockage, BlockageLog, LoopTurns

__all__ = ["BLOCKED_LOOP_WARNING", "LoopWatchdog"]

log = logging.getLogger("pyctrl.manager")

#: The default timeout of a kubelet probe: probes fail when the loop is blocked for so long.
BLOCKED_LOOP_WARNING = timedelta(seconds=1)
CHECKS_PER_THRESHOLD = 2  # with the default threshold, the thread wakes up twice a second
MIN_CHECK_INTERVAL = 0.01  # seconds between two checks
HeldLease = Callable[[], tuple[str, float] | None]
ALL_THREADS_STOPPED = "other threads were blocked too: C code held the interpreter lock, or the process was paused"


class LoopWatchdog:
    """Logs a warning while one iteration of the event loop takes too long, and counts such blockages.

    The warning names the line of the program that blocks and, from the log context of the running task, controller,
    object and reconcile. It is repeated after two, four and eight times the threshold and so on; another line is logged
    when the loop runs again. A line of code that blocks repeatedly is logged three times and then every five minutes.

    A daemon thread checks the loop twice within the threshold. An idle asyncio loop is not woken up; a busy one gets
    one callback for each check. All watchdogs of a loop share a thread.

    Args:
        threshold: how long one iteration may take.
        lease: returns the Lease that this process holds, and its renew deadline on the loop's clock.

    Raises:
        ManagerError: the threshold is not above zero.
    """

    def __init__(self, threshold: timedelta = BLOCKED_LOOP_WARNING, *, lease: HeldLease = lambda: None) -> None:
        if threshold <= timedelta(0):
            raise ManagerError(f"blocked_loop_warning must be above zero, or None for no warning, got {threshold}")
        self.threshold: timedelta = threshold
        self.lease: HeldLease = lease
        #: How often the loop was blocked for longer than the threshold, and for how long in total.
        self.count: int = 0
        self.total: timedelta = timedelta(0)
        #: Called on the loop once it runs again.
        self.on_blocked: Callable[[Blockage], None] | None = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the running loop during the block; do nothing in virtual time, which allows no threads."""
        loop = asyncio.get_running_loop()
        if _clock.is_replaced():
            yield
            return
        watch = _watches.get(loop) or _watches.setdefault(loop, _Watch(loop))
        watch.add(self)
        try:
            yield
        finally:
            watch.remove(self)
            if not watch.watchdogs:
                del _watches[loop]

    def ended(self, blockage: Blockage) -> None:
        """Count a blockage that has ended."""
        self.count += 1
        self.total += blockage.took
        if self.on_blocked is not None:
            self.on_blocked(blockage)


class _Sample:
    """The code that a loop was running at one moment.

    Args:
        context: the context of the task.
        place: the innermost line of the program, or the innermost line of the stack.
    """

    def __init__(self, context: Context, place: CodeLine | None) -> None:
        self.context = context
        self.place = place
        self.fields: dict[str, object] = {}

    @property
    def work(self) -> Mapping[str, object]:
        """The log context of the task."""
        return self.context.get(log_fields) or {}


class _Watch:
    """The thread that watches one loop, shared by its watchdogs."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._ident = threading.get_ident()
        self._stopping = threading.Event()
        self._turns = LoopTurns()
        self._log = BlockageLog()
        self._lock = threading.Lock()  # for _turns and _sample; never held while logging
        self._sample: _Sample | None = None  # of the reported blockage that has not ended
        #: Replaced, never modified: the thread reads it.
        self.watchdogs: tuple[LoopWatchdog, ...] = ()

    def add(self, watchdog: LoopWatchdog) -> None:
        self.watchdogs += (watchdog,)
        self._turns.threshold = self._threshold()
        if len(self.watchdogs) == 1:
            threading.Thread(target=self._run, name="pyctrl-loop-watchdog", daemon=True).start()

    def remove(self, watchdog: LoopWatchdog) -> None:
        self.watchdogs = tuple(each for each in self.watchdogs if each is not watchdog)
        if self.watchdogs:
            self._turns.threshold = self._threshold()
        else:
            self._stopping.set()  # not joined: the thread may be blocked by a slow log

    def _threshold(self) -> float:
        return min(each.threshold.total_seconds() for each in self.watchdogs)

    # --- in the thread ---

    def _run(self) -> None:
        due = self._loop.time()
        while True:
            interval = max(MIN_CHECK_INTERVAL, self._turns.threshold / CHECKS_PER_THRESHOLD)
            due += interval
            if self._stopping.wait(interval):
                return
            now = self._loop.time()
            try:
                self._check(now, late=now - due)
            except Exception:  # an error of the watchdog must not affect the program
                if self._loop.is_closed():
                    return
                log.exception("Event loop watchdog failed")
                return
            due = now

    def _check(self, now: float, *, late: float) -> None:
        with self._lock:
            frame = sys._current_frames().get(self._ident)  # noqa: SLF001 (documented, despite its name)
            check = self._turns.check(now, late=late, is_idle=_is_idle(frame))
            if check.is_due:
                self._loop.call_soon_threadsafe(self._turned)
            if check.blocked is None:
                return
            is_new = self._sample is None
            sample = self._sample = _sampled(self._loop, frame)
            if is_new:
                self._log.begin(sample.place, now)
        if self._log.is_shown:
            fields = {**sample.fields, **self._log.fields, **({"note": ALL_THREADS_STOPPED} if check.is_late else {})}
            sample.context.copy().run(self._warn, {"blocked": timedelta(seconds=check.blocked), **fields})

    def _warn(self, fields: dict[str, object]) -> None:
        leases = [held for watchdog in self.watchdogs if (held := watchdog.lease()) is not None]
        if not leases:
            log.warning("Event loop is blocked", extra=fields)
            return
        lease, until = leases[0]
        left = timedelta(seconds=round(max(0.0, until - self._loop.time()), 1))
        extra = {**fields, "lease": lease, "leadership lost in": left}
        log.warning("Event loop is blocked, the Lease cannot be renewed", extra=extra)

    # --- on the loop ---

    def _turned(self) -> None:
        with self._lock:
            took = self._turns.turned(self._loop.time())
            sample, self._sample = self._sample, None
        if took is None or sample is None:
            return
        blockage = Blockage(took=timedelta(seconds=took), line=sample.place, work=dict(sample.work))
        for watchdog in self.watchdogs:
            watchdog.ended(blockage)
        if self._log.is_shown:
            extra = {"blocked": blockage.took, **sample.fields}
            sample.context.copy().run(log.warning, "Event loop runs again", extra=extra)


_watches: WeakKeyDictionary[AbstractEventLoop, _Watch] = WeakKeyDictionary()


def _is_idle(frame: FrameType | None) -> bool:
    """Return whether an asyncio loop waits for events. Other loops never look idle, and get a callback each time."""
    if frame is None or frame.f_back is None:
        return frame is None
    return frame.f_code.co_name == "select" and frame.f_back.f_code.co_name == "_run_once"


def _sampled(loop: AbstractEventLoop, frame: FrameType | None) -> _Sample:
    task, stack = asyncio.current_task(loop), stack_of(frame)
    innermost = stack[-1] if stack else None
    place = own_line(stack) or innermost
    sample = _Sample(Context() if task is None else _context_of(task).copy(), place)
    if place is not None:
        sample.fields |= {"at": str(place), "code": place.source}
    if innermost != place:
        sample.fields["innermost"] = str(innermost)
    if task is not None and "reconcileID" not in sample.work:
        sample.fields["task"] = task.get_name()
    return sample


def _context_of(task: asyncio.Task[Any]) -> Context:
    """Return the context of a task. Python 3.11 has no method for that; there the garbage collector finds it."""
    if sys.version_info >= (3, 12):
        return task.get_context()
    return next((each for each in gc.get_referents(task) if isinstance(each, Context)), Context())
