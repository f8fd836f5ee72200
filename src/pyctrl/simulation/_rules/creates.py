"""Mistakes that make an object, or a change, twice."""

from __future__ import annotations

from collections.abc import Iterable

from pyctrl.simulation._evidence import CRASHES, OLD_VIEWS, Evidence, object_of
from pyctrl.simulation._history import History, ObjectId, Reconciled, Sent
from pyctrl.simulation._leaves import leaves, value_at
from pyctrl.simulation._rules.rule import GuessRule, once, since
from pyctrl.simulation._schedule import FaultKind, Occasion

__all__ = ["CREATES"]

LEAST_REFUSALS = 3  # of the same write; a retry or two may meet an old view


def _duplicate(evidence: Evidence) -> Sent | None:
    """Return the last create of an object that there are more of than in the reference."""
    made, wanted = _creates(evidence.run.history), _creates(evidence.reference.history)
    for entry in reversed(made):
        resource = entry.target.resource
        is_more = _count((each.target for each in made), resource) > _count((each.target for each in wanted), resource)
        ends_with_more = _count(evidence.run.end.objects, resource) > _count(evidence.reference.end.objects, resource)
        if is_more and ends_with_more and entry.target in evidence.run.end.objects:
            return entry
    return None


def _creates(history: History) -> list[Sent]:
    """Return the operator's writes that made objects."""
    sent = [entry for entry in history.of(Sent) if entry.point is not None and entry.has_effect]
    return [entry for entry in sent if entry.verb in ("create", "apply") and not entry.subresource]


def _count(objects: Iterable[ObjectId], resource: str) -> int:
    return sum(each.resource == resource for each in objects)


def _only_in_status(evidence: Evidence) -> str:
    again, fault = _duplicate(evidence), once(evidence)
    if again is None or fault is None or fault.kind is FaultKind.CRASH:
        return ""
    hit = object_of(fault)
    if fault.point.occasion is not Occasion.WRITE or hit is None or hit[1] != "status":
        return ""
    lost = evidence.hit(fault) or evidence.planned(fault)
    if lost is None or not isinstance(lost, Sent) or not _names(evidence, lost, again.target.resource):
        return ""
    return (
        f"{since(evidence)}, the status of {evidence.name(lost.target)} did not have the name of the "
        f"{evidence.kind(again.target)} that was made, and {_another(evidence, again)}"
    )


def _names(evidence: Evidence, wrote: Sent, resource: str) -> bool:
    """Return whether a status that was written has the name of an object."""
    made = {
        entry.target.name
        for run in (evidence.run, evidence.reference)
        for entry in run.history.of(Sent)
        if entry.point is not None and entry.verb == "create" and entry.target.resource == resource
    }
    return any(value in made for _, value in (*leaves(wrote.body), *leaves(wrote.answer)) if isinstance(value, str))


def _in_memory(evidence: Evidence) -> str:
    again, fault = _duplicate(evidence), once(evidence)
    if again is None or again.point is None or fault is None or fault.kind not in CRASHES:
        return ""
    crash = evidence.faults[0]
    same = [each for each in evidence.writes if each.has_effect and each.point and each.point.what == again.point.what]
    done = [
        each
        for each in same
        if any(
            f"{ended.controller} {ended.request}" == each.reconcile and evidence.is_before(each, ended)
            for ended in evidence.run.history.of(Reconciled)
            if evidence.is_before(ended, crash)
        )
    ]
    if not done or done[0] is again:
        return ""
    only = f"because only the old process knew of {evidence.name(evidence.target(done[0]))}"
    return f"after the restart {_another(evidence, again)}, {only}"


def _on_an_old_view(evidence: Evidence) -> str:
    again, fault = _duplicate(evidence), once(evidence)
    if again is None or fault is None or fault.kind not in OLD_VIEWS:
        return ""
    return f"{since(evidence)}, the cache did not show what had been made, and {_another(evidence, again)}"


def _not_idempotent(evidence: Evidence) -> str:
    again = _duplicate(evidence)
    return f"{since(evidence)}, {_another(evidence, again)}" if again is not None else ""


def _another(evidence: Evidence, again: Sent) -> str:
    resource = again.target.resource
    number = _count((each.target for each in _creates(evidence.reference.history)), resource)
    return f"{'a second' if number == 1 else 'another'} {evidence.kind(again.target)} was made"


def _changed_again(evidence: Evidence) -> str:
    """Recognise a change that starts from the current value, and is made again after the first one took effect."""
    for again in reversed(evidence.later(evidence.extra)):
        wanted = dict(leaves(evidence.reference.end.objects.get(again.target, {})))
        end = dict(leaves(evidence.run.end.objects.get(again.target, {})))
        found = evidence.effect(again)
        if found is None:
            continue
        before, after = (dict(leaves(obj)) for obj in found)
        for path, value in sorted(after.items(), key=lambda item: item[0]):
            is_wrong = path in wanted and before.get(path) != value == end.get(path) != wanted[path]
            if is_wrong and _is_number(value) and before.get(path) == wanted[path]:
                field = f"{path.removeprefix('.')} of {evidence.name(again.target)}"
                return f"{since(evidence)}, {field} was changed once more, from {before.get(path)} to {value}"
    return ""


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return not isinstance(value, bool)


def _fails_forever(evidence: Evidence) -> str:
    refused = [
        entry
        for entry in evidence.later(evidence.writes)
        if entry.verb == "create" and entry.status == 409 and entry.reason == "AlreadyExists"
    ]
    same = [entry for entry in refused if entry.target == refused[-1].target]
    failed = [entry for entry in evidence.reconciles_later() if entry.error]
    if len(same) < LEAST_REFUSALS or not failed or refused[-1].at > failed[-1].at:
        return ""
    return (
        f"{since(evidence)}, {evidence.name(same[-1].target)} exists, and create was answered with AlreadyExists "
        f"{len(same)} times"
    )


def _gives_way(evidence: Evidence) -> str:
    """Recognise an apply that conflicts with another field manager each time."""
    refused = [
        entry
        for entry in evidence.later(evidence.writes)
        if entry.verb == "apply"
        and entry.status == 409
        and "conflict" in str(value_at(entry.answer, "message")).lower()
    ]
    if len(refused) < LEAST_REFUSALS or refused[-1] is not [e for e in evidence.writes if e.verb == "apply"][-1]:
        return ""
    name = evidence.name(refused[-1].target)
    why = "because someone else has set one of its fields"
    return f"{since(evidence)}, apply {name} was answered with Conflict {len(refused)} times, {why}"


CREATES = (
    GuessRule(
        "apply gives way to another field manager",
        _gives_way,
        "apply with force=True: the fields that a controller applies are its own",
    ),
    GuessRule(
        "the only record is in the status",
        _only_in_status,
        "give it a deterministic name, or look for it by its owner; a status can be lost",
    ),
    GuessRule(
        "memory of the process is lost",
        _in_memory,
        "look at the objects on the server, by a deterministic name or by their owner",
    ),
    GuessRule(
        "create relies on a cache that may be behind",
        _on_an_old_view,
        "give it a deterministic name, so that the server refuses the second one",
    ),
    GuessRule(
        "create is not idempotent",
        _not_idempotent,
        "give it a deterministic name or adopt by owner",
    ),
    GuessRule(
        "a change is not idempotent",
        _changed_again,
        "compute the new value from the parent, not from the current value",
    ),
    GuessRule(
        "create does not expect that its object exists",
        _fails_forever,
        "take AlreadyExists for success if the object has a controller reference with the uid of the parent",
    ),
)
