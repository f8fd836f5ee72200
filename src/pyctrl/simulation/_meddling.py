"""Meddling: what a user could do to the operator's objects in each step of a reference run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pyctrl.simulation._history import Changed, ObjectId, ReconcileStarted, Rested, Sent
from pyctrl.simulation._run import Run, State
from pyctrl.simulation._schedule import Fault, FaultKind, Occasion
from pyctrl.simulation._sites import idle_steps

__all__ = ["Meddling", "meddlings", "stable_id"]

USER = "user"

OF_CHILDREN = (FaultKind.DELETE_CHILD, FaultKind.CHANGE_CHILD, FaultKind.REPLACE_CHILD)


@dataclass(frozen=True, slots=True)
class Meddling:
    """A fault of a user, and how much was alike before it: the same kind of fault on the same kind of object."""

    fault: Fault
    rank: int


def stable_id(target: ObjectId, obj: Mapping[str, Any]) -> ObjectId:
    """Return the name by which a schedule knows an object: ``PREFIX*`` if the server generated its name."""
    prefix = obj.get("metadata", {}).get("generateName", "")
    return replace(target, name=f"{prefix}*") if prefix and target.name.startswith(prefix) else target


def meddlings(run: Run) -> list[Meddling]:
    """Return each fault of meddling that is possible at the rests of a run, in order.

    A child is an object that the operator created; it is deleted, changed, and replaced by a foreign object. An object
    that the cluster made for it, such as a Pod of its Deployment, is only deleted. A parent is an object that the user
    created and that the operator reconciles or owns objects for; it is deleted and created again.

    A child is left alone in steps in which the operator does not write it: it may be of the past, such as the Job of an
    earlier generation.
    """
    relatives, idle = _Relatives.of(run), idle_steps(run)
    points = [point for point in run.points if point.occasion is Occasion.STEP]
    counts: dict[tuple[FaultKind, str], int] = {}
    found = []
    for number, (point, state) in enumerate(zip(points, run.steps, strict=False)):
        for kind, target in dict.fromkeys(() if point in idle else _possible(relatives, state, number)):
            rank = counts.get((kind, target.resource), 0)
            counts[kind, target.resource] = rank + 1
            found.append(Meddling(Fault(kind, point, str(target)), rank))
    return found


def _possible(relatives: _Relatives, state: State, step: int) -> Iterator[tuple[FaultKind, ObjectId]]:
    family = relatives.family(state)
    for target, obj in state.objects.items():
        uid = _uid(obj)
        if uid in relatives.of_operator:
            if (uid, step) in relatives.written:
                yield from ((kind, stable_id(target, obj)) for kind in OF_CHILDREN)
        elif uid in relatives.of_user:
            if target in relatives.held:
                continue
            if uid in family.owners or f"{target.namespace}/{target.name}" in relatives.requests:
                yield FaultKind.RECREATE_PARENT, stable_id(target, obj)
        elif uid in family.descendants and not _has_ended(obj):
            yield FaultKind.DELETE_CHILD, stable_id(target, obj)


@dataclass(frozen=True, slots=True)
class _Family:
    owners: frozenset[str]  # uids of objects that others refer to as their owner
    descendants: frozenset[str]  # uids of objects that are owned, directly or not, by objects of user or operator


@dataclass(frozen=True, slots=True)
class _Relatives:
    """Who made which objects, by uid, and what was reconciled."""

    of_operator: set[str] = field(default_factory=set)
    of_user: set[str] = field(default_factory=set)
    requests: set[str] = field(default_factory=set)
    written: set[tuple[str, int]] = field(default_factory=set)
    """The objects that the operator wrote, each with the number of the step, from 0."""
    held: set[ObjectId] = field(default_factory=set)
    """Objects with finalizers of the user, which may never go."""

    @classmethod
    def of(cls, run: Run) -> _Relatives:
        """Return the relatives in a run."""
        found = cls()
        step = 0
        for entry in run.history:
            if isinstance(entry, Rested):
                step += 1
            elif isinstance(entry, Changed) and entry.by:
                found._note(entry, step)
            elif isinstance(entry, Sent) and entry.process == USER and _finalizers(entry.body):
                found.held.add(entry.target)
        for started in run.history.of(ReconcileStarted):
            found.requests.add(started.request if "/" in started.request else f"/{started.request}")
        return found

    def _note(self, change: Changed, step: int) -> None:
        if change.type == "ADDED":
            (self.of_user if change.by == USER else self.of_operator).add(change.uid)
        if change.by != USER:
            self.written.add((change.uid, step))

    def family(self, state: State) -> _Family:
        """Return who owns whom in a state."""
        owners = {_uid(obj): _owners(obj) for obj in state.objects.values()}
        known = self.of_operator | self.of_user
        while True:
            more = {uid for uid, above in owners.items() if uid not in known and above & known}
            if not more:
                break
            known = known | more
        return _Family(
            owners=frozenset().union(*owners.values()), descendants=frozenset(known - self.of_operator - self.of_user)
        )


def _finalizers(body: Any) -> bool:
    """Return whether an object that was sent has finalizers."""
    return isinstance(body, dict) and bool((body.get("metadata") or {}).get("finalizers"))


def _uid(obj: Mapping[str, Any]) -> str:
    return str(obj.get("metadata", {}).get("uid", ""))


def _has_ended(obj: Mapping[str, Any]) -> bool:
    """Return whether an object is a pod that has ended: its Job does not make it again."""
    return bool((obj.get("status") or {}).get("phase") in ("Succeeded", "Failed"))


def _owners(obj: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(str(each.get("uid", "")) for each in obj.get("metadata", {}).get("ownerReferences") or ())
