"""Ownership: objects without an owner, objects left behind, and objects of others that the operator took."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from pyctrl.simulation._history import ObjectId
from pyctrl.simulation._oracle.end_state import is_end_comparable
from pyctrl.simulation._oracle.excuses import excuses_number
from pyctrl.simulation._oracle.facts import RunFacts
from pyctrl.simulation._oracle.reference import Reference, waits_for_retry
from pyctrl.simulation._oracle.transitions import Transition, is_operator, metadata
from pyctrl.simulation._run import ProblemKind, RunProblem

__all__ = ["foreign_problems", "orphan_problems"]

Json = dict[str, Any]

# What the server sets on every write.
_SERVERS = frozenset(("resourceVersion", "managedFields", "generation"))


def orphan_problems(facts: RunFacts, reference: Reference) -> Iterator[RunProblem]:
    """Yield objects at the end that lost their owners, and objects of the operator that the reference does not have."""
    usual = frozenset[ObjectId]().union(*(each.usual_orphans for each in reference.facts))
    lost = {object_id for object_id, canonical in facts.orphans.items() if canonical not in usual}
    for object_id in sorted(lost):
        owners = metadata(facts.run.end.objects[object_id]).get("ownerReferences") or ()
        names = ", ".join(f"{owner.get('kind')} {owner.get('name')}" for owner in owners)
        yield RunProblem(ProblemKind.ORPHAN, f"{object_id} is left although its owner {names} is gone", (object_id,))
    if is_end_comparable(facts.run) and not waits_for_retry(facts, reference):
        yield from _left_behind(facts, reference, lost)


def _left_behind(facts: RunFacts, reference: Reference, lost: Collection[ObjectId]) -> Iterator[RunProblem]:
    expected = reference.left_after(facts.run.cut_after)
    for object_id, obj in sorted(facts.run.end.objects.items()):
        is_operators = is_operator(facts.creators.get(metadata(obj).get("uid", ""), ""))
        is_new = is_operators and facts.canonical(object_id) not in expected
        if is_new and object_id not in lost and not excuses_number(facts.run, object_id):
            message = f"{object_id}, which the operator created, is left; without faults there is none of its name"
            yield RunProblem(ProblemKind.ORPHAN, message, (object_id,))


def foreign_problems(facts: RunFacts, references: Collection[RunFacts]) -> Iterator[RunProblem]:
    """Yield objects of others that the operator changed, and objects of the user that it deleted or adopted."""
    reported: set[tuple[str, str]] = set()
    foreign = set(facts.run.foreign.values())
    for each in facts.transitions:
        deed = _deed(each) if each.is_operators and each.change.uid in foreign else ""
        if deed and (deed, each.change.uid) not in reported:
            reported.add((deed, each.change.uid))
            message = f"the operator {deed} {each.target}, which is not its own: another user had taken the name"
            yield RunProblem(ProblemKind.FOREIGN, message, (each.target,))
    usual = {key for each in references for key in each.deeds}
    for key, transition in facts.deeds.items():
        if key not in usual and transition.change.uid not in foreign:
            message = f"the operator {key[0]} {transition.target}, which the user created; without faults it does not"
            yield RunProblem(ProblemKind.FOREIGN, message, (transition.target,))


def _deed(transition: Transition) -> str:
    if transition.deletes:
        return "deleted"
    if transition.added_owners:
        return "adopted"
    if transition.before is None or transition.after is None:
        return ""
    return "changed" if _of_users(transition.before) != _of_users(transition.after) else ""


def _of_users(obj: Json) -> Json:
    """Return an object without what the server sets."""
    return {**obj, "metadata": {key: value for key, value in metadata(obj).items() if key not in _SERVERS}}
