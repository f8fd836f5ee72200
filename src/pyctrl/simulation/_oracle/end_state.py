"""End state: the world at rest after each step and at the end, compared with the reference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from pyctrl.simulation._history import ObjectId, Phase, ProcessChanged, Reconciled, ReconcileStarted, Rested
from pyctrl.simulation._oracle.difference import Difference, compare, to_text
from pyctrl.simulation._oracle.excuses import excuses_difference
from pyctrl.simulation._oracle.normal_form import EXTERNAL, NormalObject
from pyctrl.simulation._run import Problem, ProblemKind, Run

__all__ = ["end_state_problems", "is_comparable"]

_UP = frozenset(("started", "led", "leads", "no longer led", "thawed", "went on"))
_ENDED = frozenset(("stopped", "killed", "failed", "ended"))
_NAMED = 3  # objects in a message; the diff has all


def end_state_problems(
    run: Run,
    expected: Sequence[Sequence[NormalObject]],
    normal_form: Callable[[int], Sequence[NormalObject]],
    unstable: Collection[ObjectId],
) -> Iterator[Problem]:
    """Yield the first difference to the reference: at the end, or else after a step.

    Args:
        run: The run.
        expected: The states of the reference: after each step, and the end.
        normal_form: Returns a state of this run, by its number.
        unstable: Objects that are not compared.
    """
    last = len(run.steps)
    for number in (last, *range(last)):
        is_end = number == last
        if not is_end and (number >= len(expected) - 1 or not is_comparable(run, number)):
            continue
        found = compare(expected[-1 if is_end else number], normal_form(number), unstable=unstable)
        differences = [each for each in found if not excuses_difference(run, each)]
        if differences:
            yield _problem(differences, "at the end" if is_end else f"at rest after step {number + 1}")
            return


def _problem(differences: Sequence[Difference], when: str) -> Problem:
    named = [_named(each) for each in differences[:_NAMED]]
    if len(differences) > _NAMED:
        named.append(f"and {len(differences) - _NAMED} more")
    message = f"{when}, the world differs from the reference: {', '.join(named)}"
    objects = tuple(each.object_id for each in differences)
    return Problem(ProblemKind.END_STATE, message, objects, to_text(differences))


def _named(difference: Difference) -> str:
    if difference.found is None:
        return f"{difference.object_id} is missing"
    if difference.expected is None:
        return f"{difference.object_id} is surplus"
    kind = "has another state" if difference.object_id.resource == EXTERNAL else "is different"
    return f"{difference.object_id} {kind}"


def is_comparable(run: Run, step: int) -> bool:
    """Return whether the world after a step must be as in the reference: all faults were over, and no work was left.

    A reconcile that waits for its retry, or a process that is down, will still change the world.
    """
    rested = [entry for entry in run.history.of(Rested) if entry.phase == Phase.STEP]
    if step >= len(rested) or not rested[step].is_quiet or rested[step].at < run.faults_over_at:
        return False
    return not _unfinished(run, rested[step].at)


def _unfinished(run: Run, at: float) -> bool:
    """Return whether a replica was down at a time, or a reconcile ran or waited for its retry."""
    down: set[str] = set()
    waiting: set[tuple[str, str, str]] = set()
    for entry in run.history:
        if entry.at > at:
            break
        if isinstance(entry, ProcessChanged):
            (down.discard if entry.state in _UP else down.add)(entry.process)
            if entry.state in _ENDED:
                waiting = {each for each in waiting if each[0] != entry.process}
        elif isinstance(entry, ReconcileStarted):
            waiting.add((entry.process, entry.controller, entry.request))
        elif isinstance(entry, Reconciled) and not entry.error:
            waiting.discard((entry.process, entry.controller, entry.request))
    return bool(down or waiting)
