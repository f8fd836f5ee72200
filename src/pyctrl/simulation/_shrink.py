"""Shrinking: the smallest and simplest schedule that still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pyctrl.simulation._schedule import Fault, FaultKind, Occasion, Schedule

__all__ = ["shrink"]

Fails = Callable[[Schedule], bool]

_K = FaultKind

# Of each fault the simpler ones that could show the same mistake, the simplest first: an error is simpler than a crash,
# one change of the world simpler than two. The relation has no circles, so that shrinking ends.
SIMPLER: dict[FaultKind, tuple[FaultKind, ...]] = {
    _K.CRASH_DURING: (_K.ANSWER_LOST, _K.CRASH_AFTER),
    _K.CRASH_BEFORE: (_K.INTERNAL_ERROR, _K.TIMEOUT),
    _K.TIMEOUT: (_K.INTERNAL_ERROR,),
    _K.TOO_MANY_REQUESTS: (_K.INTERNAL_ERROR,),
    _K.HIDE: (_K.TEAR,),
    _K.TIME_TRAVEL: (_K.CRASH, _K.CRASH_AFTER),
    _K.LOSE_LEADERSHIP: (_K.CRASH_AFTER, _K.CRASH_BEFORE),
    _K.FREEZE: (_K.CRASH, _K.CRASH_BEFORE),
    _K.REPLACE_CHILD: (_K.DELETE_CHILD,),
    _K.COMPACT: (_K.TEAR,),
    _K.RESTART_SERVER: (_K.TEAR,),
    _K.RESTORE_BACKUP: (_K.COMPACT, _K.RESTART_SERVER, _K.TEAR),
    _K.WEBHOOK_SLOW: (_K.WEBHOOK_FAILS,),
    _K.CALL_SLOW: (_K.CALL_FAILS,),
}

_W, _S, _C = Occasion.WRITE, Occasion.STEP, Occasion.CALL

OCCASIONS: dict[FaultKind, tuple[Occasion, ...]] = {  # of the simpler faults
    _K.ANSWER_LOST: (_W, _C),
    _K.CRASH_BEFORE: (_W, _C),
    _K.CRASH_AFTER: (_W, _C),
    _K.CRASH: (_S, Occasion.RECONCILE),
    _K.INTERNAL_ERROR: (_W, Occasion.LIST),
    _K.TIMEOUT: (_W, Occasion.LIST),
    _K.TEAR: (_W, _S),
    _K.COMPACT: (_W, _S),
    _K.RESTART_SERVER: (_W, _S),
    _K.DELETE_CHILD: (_S,),
    _K.WEBHOOK_FAILS: (Occasion.WEBHOOK,),
    _K.CALL_FAILS: (_C,),
}

WITH_ARGUMENT = {_K.DELETE_CHILD}  # of the simpler faults; the others have none

ROUND = (1, 5, 10, 30, 60, 300, 3600, 86400)  # seconds that read well


def shrink(schedule: Schedule, fails: Fails, *, attempts: int) -> Schedule:
    """Return the simplest schedule that still fails, by delta debugging (ddmin; Zeller and Hildebrandt 2002).

    No fault of the result can be left out, and none of the simpler forms that are tried fails: asyncio's order of
    tasks, seed 0, a simpler fault, an earlier repetition of its point, fewer or rounder seconds. If the attempts run
    out, it is the simplest schedule that was found until then.

    Args:
        schedule: A schedule that fails; it is not tried again.
        fails: Whether a schedule fails in the same manner.
        attempts: How often ``fails`` is called at most.
    """
    trials = _Trials(fails, attempts)
    before = None
    while before != schedule:
        before = schedule
        schedule = _without_chance(schedule, trials)
        schedule = schedule.with_faults(_ddmin(schedule, trials))
        schedule = _simplified(schedule, trials)
    return schedule


class _Trials:
    """Calls ``fails`` once for each schedule, until no attempts are left; then nothing more fails."""

    def __init__(self, fails: Fails, attempts: int) -> None:
        self._fails, self._left = fails, attempts
        self._known: dict[Schedule, bool] = {}

    def fail(self, schedule: Schedule) -> bool:
        """Return whether a schedule fails."""
        if schedule not in self._known:
            if self._left <= 0:
                return False
            self._left -= 1
            self._known[schedule] = self._fails(schedule)
        return self._known[schedule]


def _without_chance(schedule: Schedule, trials: _Trials) -> Schedule:
    for changes in ({"shuffle": False, "seed": 0}, {"shuffle": False}, {"seed": 0}):
        simpler = replace(schedule, **changes)
        if simpler != schedule and trials.fail(simpler):
            return simpler
    return schedule


def _ddmin(schedule: Schedule, trials: _Trials) -> Sequence[Fault]:
    """Return faults that fail, of which none can be left out."""
    faults: Sequence[Fault] = schedule.faults
    if faults and trials.fail(schedule.with_faults(())):
        return ()
    parts = 2
    while len(faults) > 1:
        size = -(-len(faults) // parts)
        chunks = [faults[begin : begin + size] for begin in range(0, len(faults), size)]
        rests = [[*faults[:begin], *faults[begin + size :]] for begin in range(0, len(faults), size)]
        smaller = next((each for each in (*chunks, *rests) if trials.fail(schedule.with_faults(each))), None)
        if smaller is not None:
            parts = 2 if len(smaller) <= size else max(parts - 1, 2)
            faults = smaller
        elif size > 1:
            parts = min(parts * 2, len(faults))
        else:
            break
    return faults


def _simplified(schedule: Schedule, trials: _Trials) -> Schedule:
    for place in range(len(schedule.faults)):
        while (simpler := _simpler(schedule, place, trials)) is not None:
            schedule = simpler
    return schedule


def _simpler(schedule: Schedule, place: int, trials: _Trials) -> Schedule | None:
    """Return the schedule with one of its faults in a simpler form, if one fails."""
    faults = schedule.faults
    for fault in simpler_faults(faults[place]):
        simpler = schedule.with_faults((*faults[:place], fault, *faults[place + 1 :]))
        if fault not in faults and trials.fail(simpler):
            return simpler
    return None


def simpler_faults(fault: Fault) -> Iterator[Fault]:
    """Return simpler forms of a fault, the simplest first."""
    for kind in SIMPLER.get(fault.kind, ()):
        if fault.point.occasion in OCCASIONS[kind]:
            yield Fault(kind, fault.point, fault.argument if kind in WITH_ARGUMENT else "")
    nth = fault.point.nth
    for earlier in sorted({1, nth // 2, nth - 1}):
        if 0 < earlier < nth:
            yield replace(fault, point=replace(fault.point, nth=earlier))
    for seconds in _simpler_seconds(fault.argument):
        yield replace(fault, argument=seconds)


def _simpler_seconds(argument: str) -> Iterator[str]:
    try:
        seconds = float(argument)
    except ValueError:  # an object, or nothing
        return
    for each in ROUND:
        if each < abs(seconds):
            yield from (str(each), str(-each)) if seconds < 0 else (str(each),)
    if seconds < 0:
        yield f"{-seconds:g}"
