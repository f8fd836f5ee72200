"""Facts about one run, by names that are the same in every run, so that runs can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

from pyctrl.simulation._history import Called, Logged, ObjectId, ProcessChanged, Reconciled
from pyctrl.simulation._oracle.excuses import is_programming_error
from pyctrl.simulation._oracle.normal_form import EXTERNAL, Normaliser, NormalObject
from pyctrl.simulation._oracle.quiet import Activity, activity_of
from pyctrl.simulation._oracle.transitions import (
    Transition,
    is_operator,
    is_terminating,
    metadata,
    objects_ever,
    owner_uids,
    states_of,
    transitions,
)
from pyctrl.simulation._run import Run, State

__all__ = ["FinalizerRemoval", "RunFacts"]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FinalizerRemoval:
    """The operator removed a finalizer of an object that is being deleted.

    Attributes:
        target: The object.
        finalizer: The finalizer.
        at: When.
        before: The calls of its reconciles to external systems that had their effect since the deletion began.
        after: Those that had it later.
    """

    target: ObjectId
    finalizer: str
    at: float
    before: frozenset[str]
    after: frozenset[str]


class RunFacts:
    """What a run shows.

    Attributes:
        run: The run.
        names: The names of its end.
        transitions: Its changes.
        activity: What the operator did in the time of quiet.
    """

    def __init__(self, run: Run, normaliser: Normaliser) -> None:
        self.run = run
        self.names = normaliser.names(run.end)
        self.transitions = list(transitions(run))
        self._changed = {each.target for each in self.transitions}
        self._ever = normaliser.names_of(dict(objects_ever(run)))
        self.activity: Activity = activity_of(run, self._ever)
        self._normaliser = normaliser

    def canonical(self, object_id: ObjectId) -> ObjectId:
        """Return the name in every run of an object that existed at some time."""
        return self._ever.canonical(object_id)

    def normal_state(self, number: int) -> list[NormalObject]:
        """Return a state in normal form: that after a step, counted from 0, or the end."""
        states = states_of(self.run)
        names = self.names if number == len(self.run.steps) else None
        return list(self._normaliser.normalise(states[number], names))

    def has_changed(self, object_id: ObjectId) -> bool:
        """Return whether something changed in an object, or it is an external system."""
        return object_id in self._changed or object_id.resource == EXTERNAL

    def text(self, text: str) -> str:
        """Return a text with the names of every run."""
        return self._ever.text(text)

    @cached_property
    def orphans(self) -> dict[ObjectId, ObjectId]:
        """The objects at the end that have owners of which none exists, with their canonical names."""
        return {each: self.canonical(each) for each in _orphans(self.run.end)}

    @cached_property
    def terminating(self) -> dict[ObjectId, ObjectId]:
        """The objects at the end that are being deleted, with their canonical names."""
        return {each: self.canonical(each) for each in _terminating(self.run.end)}

    @cached_property
    def usual_orphans(self) -> frozenset[ObjectId]:
        """The canonical names of objects without their owners at any rest, which a run without faults may have."""
        return frozenset(self.canonical(each) for state in states_of(self.run) for each in _orphans(state))

    @cached_property
    def usual_terminating(self) -> frozenset[ObjectId]:
        """The canonical names of objects that are being deleted at any rest: what a run without faults may have."""
        return frozenset(self.canonical(each) for state in states_of(self.run) for each in _terminating(state))

    @cached_property
    def deeds(self) -> dict[tuple[str, ObjectId], Transition]:
        """The objects of the user that the operator deleted or adopted, with the first change that did so."""
        found: dict[tuple[str, ObjectId], Transition] = {}
        for each in self.transitions:
            if each.is_operators and self.creators.get(each.change.uid) == "user":
                deed = "deleted" if each.deletes else "adopted" if each.added_owners else ""
                if deed:
                    found.setdefault((deed, self.canonical(each.target)), each)
        return found

    @cached_property
    def externals(self) -> dict[ObjectId, bytes]:
        """The states of the external systems at the end, as far as they count."""
        state = State({}, self.run.end.externals)
        return {each.canonical: each.content for each in self._normaliser.normalise(state, self.names)}

    @cached_property
    def creators(self) -> dict[str, str]:
        """The processes that created objects, by uid. A restored backup creates an object once more."""
        found: dict[str, str] = {}
        for each in self.transitions:
            if each.before is None:
                found.setdefault(each.change.uid, each.change.by)
        return found

    @cached_property
    def errors(self) -> dict[str, str]:
        """The errors that only a mistake in the program raises: with the names of every run, and as raised."""
        found: dict[str, str] = {}
        for entry in self.run.history:
            if isinstance(entry, Reconciled | Logged) and entry.error and is_programming_error(entry.error):
                found.setdefault(self.text(entry.error), entry.error)
        return found

    @cached_property
    def failures(self) -> dict[str, str]:
        """Why processes of the operator ended without being stopped."""
        found: dict[str, str] = {}
        for entry in self.run.history.of(ProcessChanged):
            has_lost_lease = entry.state == "ended" and entry.text
            if is_operator(entry.process) and entry.state in ("failed", "ended") and not has_lost_lease:
                found.setdefault(self.text(entry.text), f"{entry.process} {entry.state}: {entry.text}".rstrip(": "))
        return found

    @cached_property
    def removals(self) -> dict[tuple[ObjectId, str], FinalizerRemoval]:
        """The finalizers that the operator removed; of several removals the first."""
        begun: dict[str, float] = {}
        found: dict[tuple[ObjectId, str], FinalizerRemoval] = {}
        for each in self.transitions:
            if is_terminating(each.change.obj):
                begun.setdefault(each.change.uid, each.change.at)
            if each.is_operators and each.before is not None and is_terminating(each.before):
                for finalizer in sorted(each.removed_finalizers):
                    key = self.canonical(each.target), finalizer
                    since = begun.get(each.change.uid, 0.0)
                    found.setdefault(key, self._removal(each, finalizer, since))
        return found

    def _removal(self, transition: Transition, finalizer: str, since: float) -> FinalizerRemoval:
        """Return a removal with the calls that reconciles of its object made before the next object of the name."""
        at, target = transition.change.at, transition.target
        request = f" {target.namespace}/{target.name}" if target.namespace else f" {target.name}"
        lives_again = (
            each.change.at
            for each in self.transitions
            if each.before is None and each.target == target and each.change.at > at
        )
        ends = min(lives_again, default=inf)
        calls = [
            (entry.at, self.text(entry.call))
            for entry in self.run.history.of(Called, since=since)
            if entry.effects and entry.reconcile.endswith(request)
        ]
        before = frozenset(call for when, call in calls if when <= at)
        after = frozenset(call for when, call in calls if at < when < ends)
        return FinalizerRemoval(target, finalizer, at, before, after)


def _orphans(state: State) -> Iterator[ObjectId]:
    uids = {metadata(obj).get("uid") for obj in state.objects.values()}
    for object_id, obj in state.objects.items():
        if (owners := owner_uids(obj)) and owners.isdisjoint(uids):
            yield object_id


def _terminating(state: State) -> Iterator[ObjectId]:
    return (object_id for object_id, obj in state.objects.items() if is_terminating(obj))
