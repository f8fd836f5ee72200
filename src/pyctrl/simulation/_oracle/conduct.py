"""Conduct: finalizers, leadership, permissions, and errors that only a mistake in the program raises."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pyctrl.simulation._history import ObjectId, Reconciled, Sent
from pyctrl.simulation._oracle.excuses import excuses_leadership, is_honest_failure
from pyctrl.simulation._oracle.facts import FinalizerRemoval, RunFacts
from pyctrl.simulation._oracle.reference import Reference, waits_for_retry
from pyctrl.simulation._oracle.transitions import is_operator
from pyctrl.simulation._run import ProblemKind, Run, RunProblem

__all__ = ["error_problems", "finalizer_problems", "leader_problems", "never_works", "run_problems"]

_LOOP_ERRORS = ("Deadlock", "Runaway", "TimeoutError")
# Errors that no input of a user explains.
_CODE_ERRORS = frozenset(
    (
        "AttributeError",
        "ImportError",
        "ModuleNotFoundError",
        "NameError",
        "OutsideWorld",
        "TypeError",
        "UnboundLocalError",
    )
)
# The resources that a replica writes to learn whether it leads, and Events, which are sent late and harm nothing.
_NOT_GATED = frozenset(("leases.coordination.k8s.io", "events", "events.events.k8s.io"))


def finalizer_problems(facts: RunFacts, reference: Reference) -> Iterator[RunProblem]:
    """Yield objects that are stuck in their deletion, and finalizers that were removed before the work was done."""
    usual = frozenset[ObjectId]().union(*(each.usual_terminating for each in reference.facts))
    for object_id, canonical in sorted(facts.terminating.items()):
        if canonical not in usual and not waits_for_retry(facts, reference):
            left = facts.run.end.objects[object_id]["metadata"].get("finalizers") or ()
            message = f"{object_id} is still being deleted; it waits for {', '.join(left) or 'nothing'}"
            yield RunProblem(ProblemKind.FINALIZER, message, (object_id,))
    needed = _needed_calls(reference.facts)
    for key, removal in sorted(facts.removals.items()):
        missing = needed.get(key, frozenset()) - removal.before
        if late := missing and sorted(missing & _outstanding(removal, facts, reference)):
            message = (
                f"the finalizer {removal.finalizer} of {removal.target} was removed before {', '.join(late)} was done"
            )
            yield RunProblem(ProblemKind.FINALIZER, message, (removal.target,))


def _needed_calls(references: Collection[RunFacts]) -> dict[tuple[ObjectId, str], frozenset[str]]:
    """Return the calls that every run without faults does before it removes a finalizer."""
    first, *others = [each.removals for each in references]
    return {
        key: frozenset.intersection(removal.before, *(other[key].before for other in others if key in other))
        for key, removal in first.items()
    }


def _outstanding(removal: FinalizerRemoval, facts: RunFacts, reference: Reference) -> frozenset[str]:
    """Return the calls that were really still to do: done later, or missed in the external system at the end."""
    if facts.externals != reference.externals_after(facts.run.cut_after):
        return reference.facts[0].removals[facts.canonical(removal.target), removal.finalizer].before
    return removal.after


def leader_problems(run: Run) -> Iterator[RunProblem]:
    """Yield writes of replicas that did not lead."""
    for entry in run.history.of(Sent):
        is_write = entry.has_effect and not entry.is_dry_run and entry.target.resource not in _NOT_GATED
        if is_write and entry.leads is False and is_operator(entry.process) and not excuses_leadership(run, entry.at):
            where = f" at {entry.line}" if entry.line else ""
            message = f"{entry.process} did not lead when it sent {entry.verb} {entry.target}{where}"
            yield RunProblem(ProblemKind.NOT_LEADING, message, (entry.target,))


def never_works(facts: RunFacts) -> Iterator[RunProblem]:
    """Yield what shows that an operator does not work at all: mistakes in code, or reconciles that all fail.

    It is asked about runs without faults, which are otherwise the measure of what is usual.
    """
    for text, error in facts.errors.items():
        if text.partition(":")[0].rpartition(".")[2] in _CODE_ERRORS:
            yield RunProblem(ProblemKind.DEFECT, f"without any fault, the operator raised {error}")
    ended = facts.run.history.of(Reconciled)
    if ended and all(entry.error for entry in ended):
        yield RunProblem(ProblemKind.DEFECT, f"without any fault, every reconcile fails: {ended[-1].error}")


def error_problems(facts: RunFacts, references: Collection[RunFacts]) -> Iterator[RunProblem]:
    """Yield errors that only a mistake in the program raises, and processes that ended."""
    usual = {text for each in references for text in each.errors}
    for text, error in facts.errors.items():
        if text not in usual:
            yield RunProblem(ProblemKind.DEFECT, f"the operator raised {error}")
    usual = {text for each in references for text in each.failures}
    for text, failure in facts.failures.items():
        if text not in usual and not is_honest_failure(text):
            yield RunProblem(ProblemKind.DEFECT, f"a process of the operator ended without being stopped: {failure}")


def run_problems(run: Run) -> Iterator[RunProblem]:
    """Yield what the run itself reports: its end before time, requests outside of the role, and broken invariants."""
    name, _, message = run.error.partition(":")
    name = name.rpartition(".")[2]
    if name == "Spinning":
        yield RunProblem(ProblemKind.NOT_QUIET, message.strip())
    elif run.error:
        kind = ProblemKind.HANGS if name in _LOOP_ERRORS else ProblemKind.SCENARIO
        yield RunProblem(kind, f"the scenario did not come to its end: {run.error}")
    for request in dict.fromkeys(run.undeclared):
        yield RunProblem(ProblemKind.UNDECLARED, f"the declared role of the operator does not allow it to {request}")
    for name, message in dict.fromkeys(run.custom):
        yield RunProblem(ProblemKind.INVARIANT, f"{name}: {message}" if message else name)
