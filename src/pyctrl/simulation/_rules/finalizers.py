"""Mistakes about finalizers: added too late, removed too early, or never removed."""

from __future__ import annotations

from typing import Any

from pyctrl.simulation._act_words import is_read
from pyctrl.simulation._evidence import Evidence, without_uuids
from pyctrl.simulation._history import Called, Changed, ObjectId, ReconcileStarted
from pyctrl.simulation._leaves import value_at
from pyctrl.simulation._rules.rule import GuessRule, since
from pyctrl.simulation._run import ProblemKind

__all__ = ["FINALIZERS"]


def _never(evidence: Evidence) -> str:
    for target in _concerned(evidence):
        obj = evidence.run.end.objects.get(target)
        if value_at(obj, "metadata", "deletionTimestamp") and _finalizers(obj):
            return (
                f"{since(evidence)}, {evidence.name(target)} is never deleted, because it keeps {_finalizers(obj)[0]}"
            )
    return ""


def _too_late(evidence: Evidence) -> str:
    if not evidence.externals_differ:
        return ""
    for deleted in _deletions(evidence):
        lives = [each for each in evidence.run.history.of(Changed) if each.uid == deleted.uid]
        first = next((each for each in lives if _finalizers(each.obj)), deleted)
        calls = [
            each
            for each in evidence.run.history.of(Called)
            if each.effects
            and not is_read(each)
            and _is_for(each, deleted.target)
            and _begins_before(evidence, each, first)
        ]
        if calls and _is_held_at_last(evidence, deleted.target):
            return (
                f"{without_uuids(calls[0].call)} took effect before {evidence.name(deleted.target)} had a finalizer, "
                "so that the deletion left it behind"
            )
    return ""


def _begins_before(evidence: Evidence, call: Called, change: Changed) -> bool:
    """Return whether a call began before a change: before a finalizer was stored, or the object was deleted without."""
    if change.type != "DELETED":
        return evidence.is_before(call, change)
    begins = [
        entry
        for entry in evidence.run.history.of(ReconcileStarted)
        if f"{entry.controller} {entry.request}" == call.reconcile and evidence.is_before(entry, call)
    ]
    return evidence.is_before(begins[-1] if begins else call, change)


def _is_for(call: Called, target: ObjectId) -> bool:
    """Return whether a call was made by the reconcile of an object."""
    return call.reconcile.rpartition(" ")[2] in (f"{target.namespace}/{target.name}", target.name)


def _is_held_at_last(evidence: Evidence, target: ObjectId) -> bool:
    """Return whether the operator gives an object a finalizer when nothing goes wrong."""
    return any(_finalizers(each.obj) for each in evidence.reference.history.of(Changed) if each.target == target)


def _too_early(evidence: Evidence) -> str:
    if not (evidence.externals_differ or evidence.problems_of(ProblemKind.FINALIZER)):
        return ""
    for deleted in _deletions(evidence):
        removed = _removal(evidence, deleted)
        if removed is None:
            continue
        failed = [c for c in evidence.run.history.of(Called) if not c.effects and c.at <= removed.at]
        if failed:
            return f"{evidence.name(deleted.target)} lost its finalizer although {failed[-1].call} had failed"
        if evidence.lost_calls:
            return f"{evidence.name(deleted.target)} lost its finalizer before {evidence.lost_calls[-1].call}"
    return ""


def _removal(evidence: Evidence, deleted: Changed) -> Changed | None:
    """Return the change by which an object lost its last finalizer."""
    lives = [change for change in evidence.run.history.of(Changed) if change.uid == deleted.uid]
    before: Changed | None = None
    for change in lives:
        gone = change is deleted or not _finalizers(change.obj)
        if before is not None and _finalizers(before.obj) and gone:
            return change
        before = change
    return None


def _deletions(evidence: Evidence) -> list[Changed]:
    """Return the deletions of objects that are not children."""
    changes = [change for change in evidence.run.history.of(Changed) if change.type == "DELETED"]
    return [change for change in changes if not value_at(change.obj, "metadata", "ownerReferences")]


def _concerned(evidence: Evidence) -> list[ObjectId]:
    kinds = (ProblemKind.FINALIZER, ProblemKind.END_STATE)
    return sorted({each for problem in evidence.problems_of(*kinds) for each in problem.objects})


def _finalizers(obj: Any) -> list[str]:
    return value_at(obj, "metadata", "finalizers") or []


FINALIZERS = (
    GuessRule(
        "a finalizer is never removed",
        _never,
        'do the external work in every reconcile of a deleted object, take "not found" for success, and remove the '
        "finalizer afterwards",
    ),
    GuessRule(
        "the finalizer is added too late",
        _too_late,
        "add it in a write of its own, before the first external call",
    ),
    GuessRule(
        "the finalizer is removed too early",
        _too_early,
        "remove it only after the external work has succeeded, and let its error fail the reconcile",
    ),
)
