"""Journal of reconciles: the last one of each object, the recent rate of each controller, and errors."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from pyctrl._log import printable
from pyctrl._stack_frames import own_line, stack_of_traceback
from pyctrl.api import Access
from pyctrl.controller import Done, ReconcileCause, Request, Retry, Terminal, WorkItem
from pyctrl.errors import Forbidden
from pyctrl.manager import Blockage
from pyctrl.rbac import declaration

__all__ = ["Failure", "Journal", "LastRun"]

FAILURES = 50  # kept; the live view shows fewer
RUNS = 10_000  # objects whose last reconcile is kept
RATE_SECONDS = 10.0  # the window of the rate
FIX = "write only when something differs from what was read"
RATE_RUNS = 10_000  # kept for the rate of each controller


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """The last reconcile of an object. ``at`` is in the time of the event loop."""

    at: float
    took: timedelta
    outcome: str
    is_failed: bool
    causes: tuple[ReconcileCause, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error of ``times`` reconciles of one object."""

    at: float
    controller: str
    request: Request
    error: str
    times: int = 1


class Journal:
    """Records reconciles and errors of controllers, across reloads."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, Request], LastRun] = {}
        self._times: dict[str, deque[float]] = {}
        self._failures: deque[Failure] = deque(maxlen=FAILURES)

    def reconcile_recorder(self, controller: str) -> Callable[[WorkItem, timedelta], None]:
        """Return a callback for `Controller.on_reconciled`."""
        times = self._times.setdefault(controller, deque(maxlen=RATE_RUNS))

        def record(item: WorkItem, took: timedelta) -> None:
            now = asyncio.get_running_loop().time()
            times.append(now)
            outcome, error = _outcome(item)
            key = (controller, item.request)
            self._runs.pop(key, None)  # keep the newest last
            self._runs[key] = LastRun(at=now, took=took, outcome=outcome, is_failed=error != "", causes=item.causes)
            if len(self._runs) > RUNS:
                del self._runs[next(iter(self._runs))]
            if error:
                self._record_failure(Failure(at=now, controller=controller, request=item.request, error=error))

        return record

    def loop_recorder(self, controller: str) -> Callable[[Request, str], None]:
        """Return a callback for `Controller.on_reconcile_loop`, which records the loop as an error of its object."""

        def record(request: Request, written: str) -> None:
            error = f"reconcile loop: {written}; {FIX}"
            now = asyncio.get_running_loop().time()
            self._record_failure(Failure(at=now, controller=controller, request=request, error=error))

        return record

    def last(self, controller: str, request: Request) -> LastRun | None:
        """Return the last reconcile of an object; None if there was none."""
        return self._runs.get((controller, request))

    def rate(self, controller: str, now: float) -> float:
        """Return the reconciles per second over the last ten seconds."""
        times = self._times.get(controller, ())
        return sum(1 for at in times if at > now - RATE_SECONDS) / RATE_SECONDS

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The last errors, newest first."""
        return tuple(reversed(self._failures))

    def record_blockage(self, blockage: Blockage) -> None:
        """Record a call that blocked the event loop, as an error of the object whose reconcile made it."""
        work, line = blockage.work, blockage.line
        request = Request(str(work.get("namespace", "")), str(work.get("name", "")))
        error = f"blocked the event loop for {blockage.took.total_seconds():.1f} s: run it with asyncio.to_thread"
        where = f" ({line.shown_file}, line {line.line})" if line is not None else ""
        now, controller = asyncio.get_running_loop().time(), str(work.get("controller", "event loop"))
        self._record_failure(Failure(at=now, controller=controller, request=request, error=error + where))

    def _record_failure(self, failure: Failure) -> None:
        for known in self._failures:
            if (known.controller, known.request, known.error) == (failure.controller, failure.request, failure.error):
                self._failures.remove(known)
                failure = replace(failure, times=known.times + 1)
                break
        self._failures.append(failure)


def _outcome(item: WorkItem) -> tuple[str, str]:
    """Return the text of an outcome, and its error if it failed."""
    match item.outcome:
        case Done(requeue_after=after):
            return "done" if after is None else _requeue_text(after), ""
        case Retry(error):
            return "failed, retrying", _short(error)
        case Terminal(error):
            return "terminal error", _short(error) if error is not None else "terminal"
        case None:
            return "interrupted", ""


def _requeue_text(after: timedelta) -> str:
    """Return when an object is reconciled again: ``requeue in 4m47s``."""
    if after < timedelta(0):
        return "requeue now (negative delay)"
    if not after:
        return "requeue now"
    if after < timedelta(minutes=1):
        return f"requeue in {after.total_seconds():.3g}s"
    minutes, seconds = divmod(round(after.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return "requeue in " + (f"{hours}h{minutes}m{seconds}s" if hours else f"{minutes}m{seconds}s")


def _short(error: BaseException) -> str:
    text = printable(" ".join(str(error).split()))
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__) + _missing_rbac(error) + _where(error)


def _missing_rbac(error: BaseException) -> str:
    """Return the declaration that the program lacks, if that caused the error."""
    access = Access.refused_by(error) if isinstance(error, Forbidden) else None
    return f"; rbac lacks {declaration([access])}" if access is not None and access.is_resource else ""


def _where(error: BaseException) -> str:
    """Return the last line of the program itself in the traceback: ``(operator.py, line 21)``."""
    line = own_line(stack_of_traceback(error.__traceback__))
    return f" ({line.shown_file}, line {line.line})" if line is not None else ""
