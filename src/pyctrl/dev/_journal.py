"""Journal of reconciles: the last one of each object with its error, detections about objects, and recent rates."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum

from pyctrl._stack_frames import is_own
from pyctrl.controller import Done, ReconcileCause, Request, Retry, Terminal, UndeclaredRead, WorkItem
from pyctrl.dev._durations import duration_text
from pyctrl.dev._error_report import ErrorReport, error_report, place_of
from pyctrl.manager import Blockage

__all__ = ["Detection", "Journal", "LastRun", "RunResult"]

RUNS = 10_000  # objects whose last reconcile is kept
DETECTIONS = 100
RATE_SECONDS = 10.0  # the window of the rate
RATE_RUNS = 10_000  # kept for the rate of each controller
FIX_LOOP = "write only when something differs from what was read, or filter with generation_changed"
FIX_BLOCKAGE = "run the call with asyncio.to_thread, or use an async library"


class RunResult(Enum):
    """The result of a reconcile."""

    DONE = "done"
    #: Failed, and will be retried.
    FAILED = "failed"
    #: Failed, and will not be retried before something changes.
    GAVE_UP = "gave up"
    #: Cancelled by a reload.
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """The last reconcile of an object.

    Attributes:
        at: when it ended, in the time of the event loop.
        requeue_after: the delay that it returned.
        error: its error, if it failed.
        failures: how often the object has failed in a row, with this run.
    """

    at: float
    took: timedelta
    result: RunResult
    causes: tuple[ReconcileCause, ...]
    requeue_after: timedelta | None = None
    error: ErrorReport | None = None
    failures: int = 0

    @property
    def is_failed(self) -> bool:
        """Whether it failed."""
        return self.result in (RunResult.FAILED, RunResult.GAVE_UP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """A mistake that does not make a reconcile fail: a hot loop, an undeclared read, or a call that blocks the loop.

    It is kept until the program is reloaded or its object is deleted.
    """

    at: float
    controller: str
    request: Request
    title: str
    message: str
    fix: str
    place: str = ""
    times: int = 1


class Journal:
    """Records reconciles, their errors, and detections of controllers, across reloads."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, Request], LastRun] = {}
        self._times: dict[str, deque[float]] = {}
        self._detections: dict[tuple[str, Request, str], Detection] = {}

    def reconcile_recorder(self, controller: str) -> Callable[[WorkItem, timedelta], None]:
        """Return a callback for `Controller.on_reconciled`."""
        times = self._times.setdefault(controller, deque(maxlen=RATE_RUNS))

        def record(item: WorkItem, took: timedelta) -> None:
            now = asyncio.get_running_loop().time()
            times.append(now)
            key = (controller, item.request)
            before = self._runs.pop(key, None)  # removed, to keep the newest last
            self._runs[key] = _last_run(item, took, now, before)
            if len(self._runs) > RUNS:
                del self._runs[next(iter(self._runs))]

        return record

    def loop_recorder(self, controller: str) -> Callable[[Request, str], None]:
        """Return a callback for `Controller.on_reconcile_loop`."""

        def record(request: Request, written: str) -> None:
            self._record(controller, request, "hot loop", written, FIX_LOOP)

        return record

    def record_blockage(self, blockage: Blockage) -> None:
        """Record a call that blocked the event loop, as a detection about the object whose reconcile made it.

        Calls of pyctrl dev itself are not recorded.
        """
        work = blockage.work
        if "controller" not in work and (blockage.line is None or not is_own(blockage.line.file)):
            return
        request = Request(str(work.get("namespace", "")), str(work.get("name", "")))
        message = f"a call took {duration_text(blockage.took)}"
        controller, place = str(work.get("controller", "")), place_of(blockage.line)
        self._record(controller, request, "blocked event loop", message, FIX_BLOCKAGE, place)

    def record_undeclared_read(self, read: UndeclaredRead) -> None:
        """Record a read of a kind whose changes cause no reconcile, as a detection about the controller."""
        title = f"undeclared read of {read.kind.kind}"
        message = f"changes of {read.kind.kind} objects cause no reconcile: {read.line.source}"
        self._record(read.controller, Request("", ""), title, message, read.fix, place_of(read.line))

    def _record(self, controller: str, request: Request, title: str, message: str, fix: str, place: str = "") -> None:
        key = (controller, request, title)
        known = self._detections.pop(key, None)
        made = Detection(
            at=asyncio.get_running_loop().time(),
            controller=controller,
            request=request,
            title=title,
            message=message,
            fix=fix,
            place=place,
        )
        self._detections[key] = replace(made, times=known.times + 1) if known else made
        if len(self._detections) > DETECTIONS:
            del self._detections[next(iter(self._detections))]

    def last(self, controller: str, request: Request) -> LastRun | None:
        """Return the last reconcile of an object; None if there was none."""
        return self._runs.get((controller, request))

    def rate(self, controller: str, now: float) -> float:
        """Return the reconciles per second over the last ten seconds."""
        times = self._times.get(controller, ())
        return sum(1 for at in times if at > now - RATE_SECONDS) / RATE_SECONDS

    @property
    def failures(self) -> dict[tuple[str, Request], LastRun]:
        """The last reconcile of each object that failed then, by controller and request, newest first."""
        return {key: run for key, run in reversed(self._runs.items()) if run.is_failed}

    @property
    def detections(self) -> tuple[Detection, ...]:
        """The detections, newest first."""
        return tuple(reversed(self._detections.values()))

    def detections_of(self, controller: str, request: Request) -> tuple[Detection, ...]:
        """Return the detections about an object."""
        return tuple(each for each in self.detections if (each.controller, each.request) == (controller, request))

    def forget_version(self, controllers: Collection[str]) -> None:
        """Forget the detections about a version that was replaced, and the runs of controllers that are gone."""
        self._detections.clear()
        self._runs = {key: run for key, run in self._runs.items() if key[0] in controllers}


def _last_run(item: WorkItem, took: timedelta, now: float, before: LastRun | None) -> LastRun:
    result, after, error = _result(item)
    failed = error is not None or result is RunResult.GAVE_UP
    return LastRun(
        at=now,
        took=took,
        result=result,
        causes=item.causes,
        requeue_after=after,
        error=None if error is None else error_report(error),
        failures=(before.failures if before is not None else 0) + 1 if failed else 0,
    )


def _result(item: WorkItem) -> tuple[RunResult, timedelta | None, BaseException | None]:
    match item.outcome:
        case Done(requeue_after=after):
            return RunResult.DONE, after, None
        case Retry(error):
            return RunResult.FAILED, None, error
        case Terminal(error):
            return RunResult.GAVE_UP, None, error
        case None:
            return RunResult.INTERRUPTED, None, None
