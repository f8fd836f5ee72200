"""Time of quiet: what the operator does although nothing happens, compared with what it does in the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pyctrl.simulation._history import (
    Called,
    Changed,
    Entry,
    Listed,
    ObjectId,
    Read,
    Reconciled,
    ReconcileStarted,
    Rested,
    RestPhase,
    Sent,
)
from pyctrl.simulation._oracle.excuses import lasts_until
from pyctrl.simulation._oracle.names import CanonicalNames
from pyctrl.simulation._oracle.transitions import is_operator
from pyctrl.simulation._run import ProblemKind, Run, RunProblem

__all__ = ["Activity", "activity_of", "quiet_problems"]

# A request that fails is tried again after 5 ms, doubled each time, by up to 20 % less (controller.ExponentialBackoff):
# 18 tries in ten minutes. So this is what one object that fails may cost, and an object that is well costs nothing.
_TRIES = 20
# A run may begin its time of quiet at another point of a period than the reference does.
_SHARE = 1.5
_CATCHES_UP = (
    40.0  # seconds in which an operator learns what a fault held back: a reflector waits up to 30 s to list again
)


@dataclass(slots=True)
class Activity:
    """What an operator did in the time of quiet.

    Attributes:
        seconds: How long it was.
        writes: Changes of objects.
        calls: Calls of external systems.
        reconciles: Reconciles, by controller and object.
        requests: Requests that changed nothing, and reads, by verb and resource.
        failing: Reconciles that still fail: the last error of each.
        failed_last: All reconciles whose last result was an error, also before.
        is_restless: The world did not come to rest before.
        is_timed: A reconcile asked to run again later.
    """

    seconds: float
    writes: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    reconciles: Counter[str] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    failing: dict[str, str] = field(default_factory=dict)
    failed_last: set[str] = field(default_factory=set)
    is_restless: bool = False
    is_timed: bool = False


def quiet_from(run: Run) -> float:
    """Return when the time of quiet began: not before the last fault was over, and what it held back was handled."""
    lasts = lasts_until(run)
    return max(run.quiet_from, lasts + _CATCHES_UP if lasts else 0.0)


def activity_of(run: Run, names: CanonicalNames) -> Activity:
    """Return what the operator did in a run's time of quiet."""
    begin = quiet_from(run)
    entries = [entry for entry in run.history if entry.at >= begin]
    activity = Activity(max((entry.at for entry in entries), default=begin) - begin)
    activity.is_timed = any(entry.result.startswith("requeue") for entry in run.history.of(Reconciled))
    rested = [entry for entry in run.history.of(Rested) if entry.phase != RestPhase.STEP]
    activity.is_restless = any(not entry.is_quiet for entry in rested)
    for result in run.history.of(Reconciled):
        (activity.failed_last.add if result.error else activity.failed_last.discard)(names.text(_key(result)))
    late = _Late(run, begin)
    written: set[ObjectId] = set()
    for entry in entries:
        if isinstance(entry, Reconciled):
            late.end(entry)
            _note_result(activity, entry, names)
        elif is_operator(entry.process) and not late.has(entry):
            _note(activity, entry, names, written)
    for entry in entries:  # a write whose request was not seen
        if isinstance(entry, Changed) and is_operator(entry.by) and entry.target not in written | late.written:
            activity.writes[f"change {names.canonical(entry.target)}"] += 1
    return activity


def _note(activity: Activity, entry: Entry, names: CanonicalNames, written: set[ObjectId]) -> None:
    if isinstance(entry, Sent):
        resource = f"{entry.target.resource}/{entry.subresource}".rstrip("/")
        if entry.has_effect:
            written.add(entry.target)
            target = names.canonical(entry.target)
            activity.writes[f"{entry.verb} {ObjectId(resource, target.namespace, target.name)}"] += 1
        else:
            activity.requests[f"{entry.verb} {resource} without effect"] += 1
    elif isinstance(entry, Called):
        activity.calls[entry.call.partition("(")[0]] += 1
    elif isinstance(entry, Read):
        activity.requests[f"read {entry.target.resource}"] += 1
    elif isinstance(entry, Listed):
        activity.requests[f"list or watch {entry.resource}"] += 1
    elif isinstance(entry, ReconcileStarted):
        activity.reconciles[names.text(f"{entry.controller} {entry.request}")] += 1


def _key(entry: Reconciled) -> str:
    return f"{entry.controller} {entry.request}"


def _note_result(activity: Activity, entry: Reconciled, names: CanonicalNames) -> None:
    key = names.text(_key(entry))
    activity.failing.pop(key, None)
    if entry.error:
        activity.failing[key] = entry.error


class _Late:
    """Reconciles that failed last before the time of quiet: what they do until they succeed is no disturbance.

    The wait of a retry may be longer than the world waits for it.
    """

    def __init__(self, run: Run, begin: float) -> None:
        self._keys: set[str] = set()
        self.written: set[ObjectId] = set()
        for entry in run.history:
            if isinstance(entry, Reconciled) and entry.at < begin:
                (self._keys.add if entry.error else self._keys.discard)(_key(entry))

    def has(self, entry: Entry) -> bool:
        if not self._keys or not isinstance(entry, Sent | Called | Read) or entry.reconcile not in self._keys:
            return False
        if isinstance(entry, Sent):
            self.written.add(entry.target)
        return True

    def end(self, entry: Reconciled) -> None:
        if not entry.error:
            self._keys.discard(_key(entry))


def quiet_problems(run: Run, activity: Activity, references: Iterable[Activity]) -> Iterator[RunProblem]:
    """Yield what the operator of a run did in the time of quiet and does not do, or less often, without faults."""
    known = list(references)
    if activity.is_restless and not any(each.is_restless for each in known):
        yield _problem("the world does not come to rest after the faults are over")
    for key, error in sorted(activity.failing.items()):
        if not any(key in each.failed_last for each in known):  # an object that is wrong fails in each new process
            yield _problem(f"the reconcile of {key} still fails when the faults are over: {error}")
    if run.cut_after and any(each.is_timed for each in known):
        return  # the reference went on at once: it does not show what time does in the middle of the scenario
    yield from _above(activity, known, "writes", "the operator still writes when all is done: {what}", 0)
    called = "the operator still calls an external system when all is done: {what}"
    yield from _above(activity, known, "calls", called, 0)
    yield from _above(activity, known, "reconciles", "a reconcile does not stop when all is done: {what}", _TRIES)
    yield from _above(activity, known, "requests", "requests do not stop when all is done: {what}", _TRIES)


def _above(
    activity: Activity, references: list[Activity], kind: str, message: str, allowed_anyway: int
) -> Iterator[RunProblem]:
    counts: Counter[str] = getattr(activity, kind)
    for what, count in sorted(counts.items()):
        usual = max((getattr(each, kind)[what] / each.seconds for each in references if each.seconds), default=0.0)
        allowed = allowed_anyway + usual * activity.seconds * _SHARE + (1 if usual else 0)
        if count > allowed:
            often = f"{count} times in {activity.seconds:.0f} s; in the reference {usual * activity.seconds:.0f} times"
            yield _problem(f"{message.format(what=what)}, {often}")


def _problem(message: str) -> RunProblem:
    return RunProblem(ProblemKind.NOT_QUIET, message)
