"""End state: the world at rest after each step and at the end, compared with the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyctrl.simulation._history import FaultApplied, ProcessChanged, Reconciled, ReconcileStarted, Rested
from pyctrl.simulation._oracle.difference import ObjectDifference, compare, to_text
from pyctrl.simulation._oracle.excuses import (
    excuses_difference,
    lacks_replaced_child,
    lasts_until,
    shortest_requeue,
)
from pyctrl.simulation._oracle.facts import RunFacts
from pyctrl.simulation._oracle.normal_form import EXTERNAL
from pyctrl.simulation._oracle.reference import Reference, waits_for_retry
from pyctrl.simulation._run import ProblemKind, Run, RunProblem
from pyctrl.simulation._schedule import FaultKind

__all__ = ["end_state_problems", "is_end_comparable"]

_DOWN = frozenset(("stopped", "killed", "failed", "ended", "frozen"))
_NAMED = 3  # objects in a message; the diff has all


def end_state_problems(facts: RunFacts, reference: Reference) -> Iterator[RunProblem]:
    """Yield the first difference to the reference: at the end, or else after a step."""
    run = facts.run
    last = len(run.steps)
    if waits_for_retry(facts, reference) or lacks_replaced_child(run):
        return
    steps = min(run.cut_after or last, last, len(reference.states) - 1)
    for number in (last, *range(steps)):
        is_end = number == last
        if not (is_end_comparable(run) if is_end else _is_step_comparable(run, number)):
            continue
        expected = reference.states[run.cut_after - 1 if is_end else number]
        found = compare(expected, facts.normal_state(number), unstable=reference.unstable)
        differences = [each for each in found if _counts(each, facts, reference)]
        if differences:
            yield _problem(differences, "at the end" if is_end else f"at rest after step {number + 1}")
            return


def _counts(difference: ObjectDifference, facts: RunFacts, reference: Reference) -> bool:
    """Return whether a difference is the operator's.

    A state has the objects of the resources in which something changed. So an object that neither run touched may be
    in one of them only.
    """
    if excuses_difference(facts.run, difference):
        return False
    if difference.expected is None and difference.found is not None:
        return facts.has_changed(difference.found.object_id)
    if difference.found is None and difference.expected is not None:
        return reference.facts[0].has_changed(difference.expected.object_id)
    return True


def _problem(differences: Sequence[ObjectDifference], when: str) -> RunProblem:
    named = [_named(each) for each in differences[:_NAMED]]
    if len(differences) > _NAMED:
        named.append(f"and {len(differences) - _NAMED} more")
    message = f"{when}, the world differs from the reference: {', '.join(named)}"
    objects = tuple(each.object_id for each in differences)
    return RunProblem(ProblemKind.END_STATE, message, objects, to_text(differences))


def _named(difference: ObjectDifference) -> str:
    if difference.found is None:
        return f"{difference.object_id} is missing"
    if difference.expected is None:
        return f"{difference.object_id} is surplus"
    kind = "has another state" if difference.object_id.resource == EXTERNAL else "is different"
    return f"{difference.object_id} {kind}"


def is_end_comparable(run: Run) -> bool:
    """Return whether the end must be as in the reference: not if hours passed at a step where the reference went on."""
    ended = max((entry.at for entry in run.history), default=0.0)
    return not run.cut_after or shortest_requeue(run) > ended - run.quiet_from


def _is_step_comparable(run: Run, step: int) -> bool:
    """Return whether the world after a step must be as in the reference: it was at rest, and no work was left.

    A fault that still lasts, a reconcile that waits for its retry, or a process that is down, will change the world. A
    foreign object stays until the scenario has ended.
    """
    rested = [entry for entry in run.history.of(Rested) if entry.number == step + 1]
    if not rested or not rested[-1].is_quiet:
        return False
    at = rested[-1].at
    if _waited(run, step, at) > shortest_requeue(run):
        return False
    has_foreign = any(entry.fault.kind is FaultKind.REPLACE_CHILD for entry in run.history.of(FaultApplied))
    return not has_foreign and lasts_until(run, at) <= at and not _unfinished(run, at)


def _waited(run: Run, step: int, at: float) -> float:
    """Return how long a step took."""
    before = [entry.at for entry in run.history.of(Rested) if entry.number <= step]
    return at - max(before, default=0.0)


def _unfinished(run: Run, at: float) -> bool:
    """Return whether a replica was down at a time, or a reconcile ran or waited for its retry."""
    down: set[str] = set()
    waiting: set[tuple[str, str, str]] = set()
    for entry in run.history:
        if entry.at > at:
            break
        if isinstance(entry, ProcessChanged):
            (down.add if entry.state in _DOWN else down.discard)(entry.process)
            if entry.state in _DOWN and entry.state != "frozen":
                waiting = {each for each in waiting if each[0] != entry.process}
        elif isinstance(entry, ReconcileStarted):
            waiting.add((entry.process, entry.controller, entry.request))
        elif isinstance(entry, Reconciled) and not entry.error:
            waiting.discard((entry.process, entry.controller, entry.request))
    return bool(down or waiting)
