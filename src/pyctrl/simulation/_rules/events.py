"""Mistakes that show when the operator's view is late, old or has gaps."""

from __future__ import annotations

from pyctrl.simulation._act_words import act_noun, is_deleting
from pyctrl.simulation._evidence import OLD_VIEWS, Evidence
from pyctrl.simulation._history import Called, ObjectId, Sent
from pyctrl.simulation._leaves import value_at
from pyctrl.simulation._rules.rule import GuessRule, once, since
from pyctrl.simulation._run import ProblemKind
from pyctrl.simulation._schedule import FaultKind

__all__ = ["EVENTS", "LATE"]

_GAPS = (FaultKind.COALESCE, FaultKind.HIDE)


def _wrong_deletes(evidence: Evidence) -> list[Sent | Called]:
    """Return the deletions that the operator made on an old view, and the reference does not have."""
    fault = once(evidence)
    if fault is None or fault.kind not in OLD_VIEWS:
        return []
    sent = [entry for entry in evidence.extra if entry.verb.startswith("delete")]
    calls = [entry for entry in evidence.extra_calls if is_deleting(entry)]
    return [*evidence.later(sent), *evidence.later(calls)]


def _wrong_sibling(evidence: Evidence) -> str:
    """Recognise that all of several equal objects were deleted, each as the surplus of another list."""
    deleted = [entry for entry in evidence.later(evidence.extra) if entry.verb == "delete"]
    for entry in deleted:
        same = [each for each in evidence.missing if _siblings(evidence, each, entry.target)]
        if same and len({each.target for each in deleted}) > 1:
            return (
                f"{since(evidence)}, {evidence.name(entry.target)} was deleted as the surplus one, and the others, too"
            )
    return ""


def _siblings(evidence: Evidence, one: ObjectId, other: ObjectId) -> bool:
    prefix = value_at(evidence.reference.end.objects.get(one), "metadata", "generateName") or "\0"
    return (one.resource, one.namespace) == (other.resource, other.namespace) and other.name.startswith(prefix)


def _without_precondition(evidence: Evidence) -> str:
    for entry in _wrong_deletes(evidence):
        is_old = evidence.faults_of(FaultKind.TIME_TRAVEL, FaultKind.RESTORE_BACKUP)
        if is_old and isinstance(entry, Sent) and not value_at(entry.body, "preconditions", "uid"):
            name = evidence.name(entry.target)
            return f"{since(evidence)}, the operator deleted {name}, which was another object by then"
    return ""


def _not_found(evidence: Evidence) -> str:
    for entry in _wrong_deletes(evidence):
        what = f"deleted {evidence.name(entry.target)}" if isinstance(entry, Sent) else f"called {entry.call}"
        return f"{since(evidence)}, the operator did not see an object that exists, and {what}"
    return ""


def _is_wrong(evidence: Evidence) -> bool:
    return bool(evidence.problems_of(ProblemKind.END_STATE, ProblemKind.INVARIANT, ProblemKind.FINALIZER))


def _missed_deletion(evidence: Evidence) -> str:
    for fault in evidence.faults_of(*_GAPS, FaultKind.DELAY, FaultKind.CRASH):
        if _is_wrong(evidence) and fault.point.what.endswith(" DELETED"):
            gone = f"the operator did not notice that {fault.point.what.removesuffix(' DELETED')} was gone"
            return f"{since(evidence)}, {gone}{_lost(evidence)}"
    return ""


def _intermediate(evidence: Evidence) -> str:
    for fault in evidence.faults_of(*_GAPS):
        if _is_wrong(evidence) and fault.point.what.endswith((" MODIFIED", " ADDED")):
            what, _, kind = fault.point.what.rpartition(" ")
            state = "first state" if kind == "ADDED" else "state in between"
            missed = f"and did not make up for the {state}{_lost(evidence)}"
            return f"the operator saw {what} only after the next change, {missed}"
    return ""


def _lost(evidence: Evidence) -> str:
    return f": {act_noun(evidence, evidence.never[-1])} never followed" if evidence.never else ""


def _late(evidence: Evidence) -> str:
    fault = once(evidence)
    if fault is None or fault.kind not in OLD_VIEWS or not evidence.never or not _is_wrong(evidence):
        return ""
    return f"{since(evidence)}, {act_noun(evidence, evidence.never[-1])} never followed"


EVENTS = (
    GuessRule(
        "duplicates are removed by their order in a list",
        _wrong_sibling,
        "always keep the same one, such as the oldest by creation time and name",
    ),
    GuessRule(
        "a delete has no precondition",
        _without_precondition,
        "send the uid of the object that you decided about as a precondition",
    ),
    GuessRule(
        "a stale NotFound is taken for a deletion",
        _not_found,
        "delete what belongs to an object in its finalizer, or read past the cache before you delete",
    ),
    GuessRule(
        "the operator acts on deletion events",
        _missed_deletion,
        "compare what is with what should be in every reconcile, and use a finalizer for work after a deletion",
    ),
    GuessRule(
        "the operator needs every intermediate state",
        _intermediate,
        "compare the last state with what is; states in between may never be seen",
    ),
)

#: Less certain than a write that only follows another one.
LATE = (
    GuessRule(
        "the operator acts on events and not on the state",
        _late,
        "compare what is with what should be in every reconcile, and requeue while something is missing",
    ),
)
