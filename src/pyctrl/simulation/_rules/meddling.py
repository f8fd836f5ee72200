"""Mistakes that show when someone else changes an object: drift, and lost updates."""

from __future__ import annotations

from itertools import pairwise

from pyctrl.simulation._evidence import Evidence, is_like
from pyctrl.simulation._history import Changed, ObjectId, ReconcileStarted, Sent
from pyctrl.simulation._leaves import leaves, value_at
from pyctrl.simulation._rules.rule import GuessRule
from pyctrl.simulation._run import ProblemKind
from pyctrl.simulation._schedule import Fault, FaultKind

__all__ = ["MEDDLING"]

_DRIFT = (FaultKind.DELETE_CHILD, FaultKind.CHANGE_CHILD, FaultKind.REPLACE_CHILD)


def _drift(evidence: Evidence) -> tuple[Fault, ObjectId] | None:
    """Return the meddling that was not repaired, and its object."""
    for fault in evidence.faults_of(*_DRIFT):
        target = ObjectId.parse(fault.argument)
        hurt = {*evidence.missing, *evidence.concerned}
        repaired = [e for e in evidence.later(evidence.writes) if is_like(e.target, target) and e.has_effect]
        if any(is_like(each, target) for each in hurt) and not repaired:
            return fault, evidence.actual(target)
    return _rolled_back(evidence)


def _rolled_back(evidence: Evidence) -> tuple[Fault, ObjectId] | None:
    """Return the restore of a backup after which an object was not written again."""
    written = {entry.target for entry in evidence.later(evidence.writes) if entry.has_effect}
    for fault in evidence.faults_of(FaultKind.RESTORE_BACKUP):
        for target in sorted({*evidence.missing, *evidence.concerned} - written):
            if evidence.problems_of(ProblemKind.END_STATE):
                return fault, target
    return None


def _not_watched(evidence: Evidence) -> str:
    drift = _drift(evidence)
    if drift is None or evidence.later(evidence.run.history.of(ReconcileStarted)):
        return ""
    return f"nothing was reconciled after {evidence.name(drift[1])} was {_done(drift[0])}"


def _not_compared(evidence: Evidence) -> str:
    drift = _drift(evidence)
    if drift is None:
        return ""
    return f"{evidence.name(drift[1])} was {_done(drift[0])}, and the reconciles after it did not correct it"


def _done(fault: Fault) -> str:
    words = {
        FaultKind.DELETE_CHILD: "deleted",
        FaultKind.CHANGE_CHILD: "changed",
        FaultKind.RESTORE_BACKUP: "taken back by the restore of a backup",
    }
    return words.get(fault.kind, "replaced by an object of someone else, which is gone by now")


def _lost_update(evidence: Evidence) -> tuple[Sent, str] | None:
    """Return the write that took back a change of someone else, and the path of the change."""
    for target in sorted(evidence.concerned):
        end = dict(leaves(evidence.run.end.objects.get(target, {})))
        wanted = dict(leaves(evidence.reference.end.objects.get(target, {})))
        wrong = {path for path in {*end, *wanted} if end.get(path) != wanted.get(path)}
        changes = [change for change in evidence.run.history.of(Changed) if change.target == target]
        for before, change in pairwise(changes):
            old, new = dict(leaves(before.obj)), dict(leaves(change.obj))
            made = {path for path in wrong if old.get(path) != new.get(path)}
            for wrote in evidence.writes:
                is_after = wrote.target == target and wrote.has_effect and wrote.at > change.at
                if not is_after or change.by == wrote.process or wrote.verb not in ("update", "patch", "apply"):
                    continue
                now = dict(leaves(wrote.answer))
                undone = sorted(path for path in made if now.get(path) == old.get(path))
                if undone and wrote.answer is not None:
                    return wrote, undone[0]
    return None


def _blind(evidence: Evidence) -> str:
    found = _lost_update(evidence)
    if found is None:
        return ""
    wrote, path = found
    sent = value_at(wrote.body, "metadata", "resourceVersion")
    how = "" if sent else ", without a resourceVersion,"
    return f"{wrote.verb} of {evidence.name(wrote.target)}{how} took back what someone else had written to {path}"


MEDDLING = (
    GuessRule(
        "an update of someone else is lost",
        _blind,
        "send the resourceVersion of the object that you read and try again on Conflict, or apply only your own fields",
    ),
    GuessRule("drift is not noticed", _not_watched, "watch the child: add its kind to `owns`"),
    GuessRule("drift is not repaired", _not_compared, "compare the child with what it should be in every reconcile"),
)
