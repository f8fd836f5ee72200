"""Mistakes about whose an object is: foreign objects taken or deleted, and owner references."""

from __future__ import annotations

from typing import Any

from pyctrl.simulation._act_words import act_noun, is_deleting
from pyctrl.simulation._evidence import Evidence
from pyctrl.simulation._history import Changed, Sent
from pyctrl.simulation._leaves import value_at
from pyctrl.simulation._rules.rule import GuessRule, since
from pyctrl.simulation._run import ProblemKind
from pyctrl.simulation._schedule import FaultKind

__all__ = ["OWNERS"]


def _foreign_writes(evidence: Evidence) -> list[Sent]:
    """Return the operator's effective writes to objects that are not its own, from the fault on."""
    if not evidence.problems_of(ProblemKind.FOREIGN):
        return []
    foreign = {*evidence.run.foreign, *(o for p in evidence.problems_of(ProblemKind.FOREIGN) for o in p.objects)}
    return [entry for entry in evidence.later(evidence.writes) if entry.target in foreign and entry.has_effect]


def _foreign_deleted(evidence: Evidence) -> str:
    for entry in _foreign_writes(evidence):
        if entry.verb.startswith("delete"):
            return f"{evidence.name(entry.target)} was deleted, although someone else had created it"
    return ""


def _exists_taken(evidence: Evidence) -> str:
    for wrote in _foreign_writes(evidence):
        for tried in evidence.later(evidence.writes):
            if _already_exists(tried) and tried.target == wrote.target and tried.at <= wrote.at:
                return (
                    f"create {evidence.name(wrote.target)} was answered with AlreadyExists, and the operator then sent "
                    f"{wrote.verb} for the object of someone else"
                )
    return ""


def _foreign_adopted(evidence: Evidence) -> str:
    for entry in _foreign_writes(evidence):
        return f"{evidence.name(entry.target)} belongs to someone else, and the operator sent {entry.verb} for it"
    for problem in evidence.problems_of(ProblemKind.FOREIGN):
        return (
            ", ".join(map(evidence.name, problem.objects))
            + " belongs to someone else, and is treated as the operator's own"
        )
    return ""


def _exists_ignored(evidence: Evidence) -> str:
    missing = {*evidence.missing, *evidence.concerned}
    for tried in evidence.later(evidence.writes):
        if not _already_exists(tried) or tried.target not in missing or tried.target in evidence.added:
            continue
        retried = [e for e in evidence.later(evidence.writes) if e.target == tried.target and e.at > tried.at]
        ended = [each for each in evidence.reconciles_later() if each.at >= tried.at]
        if not retried and ended and not ended[0].error:
            name = evidence.name(tried.target)
            return f"{since(evidence)}, create {name} was answered with AlreadyExists, and not tried again"
    return ""


def _already_exists(entry: Sent) -> bool:
    return entry.verb == "create" and entry.status == 409 and entry.reason != "Conflict"


def _old_parent(evidence: Evidence) -> str:
    recreated = evidence.faults_of(FaultKind.RECREATE_PARENT, FaultKind.RESTORE_BACKUP)
    if not (recreated or evidence.problems_of(ProblemKind.ORPHAN)):
        return ""
    uids = {value_at(obj, "metadata", "uid") for obj in evidence.run.end.objects.values()}
    for target in sorted(evidence.concerned):
        for owner in _owners(evidence.run.end.objects.get(target)):
            if owner.get("uid") not in uids:
                parent = f"{owner.get('kind')} {owner.get('name')}"
                return (
                    f"{evidence.name(target)} is taken for the child of {parent}, but its owner reference has the uid "
                    "of a deleted one"
                )
    return _collected(evidence) if evidence.faults_of(FaultKind.RECREATE_PARENT) else ""


def _collected(evidence: Evidence) -> str:
    """Return which child was deleted with its old parent, and not made again."""
    for entry in evidence.later(evidence.run.history.of(Changed)):
        if entry.type == "DELETED" and entry.target in evidence.missing and not entry.by:
            return (
                f"{evidence.name(entry.target)} of the deleted parent was taken for the child of the new one, and was "
                "not made again after the garbage collector had deleted it"
            )
    return ""


def _done_by_name(evidence: Evidence) -> str:
    if not evidence.faults_of(FaultKind.RECREATE_PARENT):
        return ""
    more = evidence.later((*evidence.extra_calls, *evidence.extra))
    if evidence.unmade:
        return f"{act_noun(evidence, evidence.unmade[-1])} was not made for the new one"
    deleted = [entry for entry in more if is_deleting(entry)]
    return f"{act_noun(evidence, deleted[-1])} hit what belongs to the new one" if deleted else ""


def _no_owner(evidence: Evidence) -> str:
    if not evidence.problems_of(ProblemKind.ORPHAN, ProblemKind.END_STATE):
        return ""
    orphans = {o for p in evidence.problems_of(ProblemKind.ORPHAN) for o in p.objects}
    for entry in evidence.writes:
        is_made = entry.verb in ("create", "apply") and entry.has_effect and not entry.subresource
        if is_made and entry.target in orphans and not _owners(entry.body) and not _owners(entry.answer):
            return f"{evidence.name(entry.target)} was created without one, and stays when its parent is deleted"
    return ""


def _owners(obj: Any) -> list[dict[str, Any]]:
    return value_at(obj, "metadata", "ownerReferences") or []


OWNERS = (
    GuessRule(
        "a foreign object is deleted",
        _foreign_deleted,
        "delete only what has a controller reference with the uid of the parent, and send that object's uid as a "
        "precondition",
    ),
    GuessRule(
        "AlreadyExists is taken for success",
        _exists_taken,
        "read the object that exists, and go on only if the uid of its controller reference is the parent's",
    ),
    GuessRule(
        "a foreign object is adopted",
        _foreign_adopted,
        "compare the uid of its controller reference with the parent's before you change it, and report the collision",
    ),
    GuessRule(
        "AlreadyExists is ignored",
        _exists_ignored,
        "raise it, or request a requeue, unless the object that exists has a controller reference to the parent",
    ),
    GuessRule(
        "a child of the old parent is kept",
        _old_parent,
        "compare the uid of the owner reference with the parent's, not only the name",
    ),
    GuessRule(
        "a recreated parent is taken for the old one",
        _done_by_name,
        "remember what was done by the uid of the parent, not by its name",
    ),
    GuessRule(
        "an owner reference is missing",
        _no_owner,
        "call set_controller_reference(parent, child) before you create it",
    ),
)
