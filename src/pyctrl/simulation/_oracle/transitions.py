"""Changes of objects during a run, each with the object before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyctrl.simulation._history import Changed, ObjectId
from pyctrl.simulation._run import Run, State

__all__ = ["Transition", "is_operator", "objects_ever", "states_of", "transitions"]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Transition:
    """A change of an object.

    Attributes:
        change: The change.
        before: The object before it; None if the change created it.
    """

    change: Changed
    before: Json | None

    @property
    def target(self) -> ObjectId:
        """The object."""
        return self.change.target

    @property
    def after(self) -> Json | None:
        """The object after the change; None if it is gone."""
        return None if self.change.type == "DELETED" else self.change.obj

    @property
    def is_operators(self) -> bool:
        """Whether the operator made the change."""
        return is_operator(self.change.by)

    @property
    def deletes(self) -> bool:
        """Whether it deletes the object, or begins to: not the end of a deletion that has begun before."""
        if self.before is None or is_terminating(self.before):
            return False
        return self.after is None or is_terminating(self.after)

    @property
    def removed_finalizers(self) -> frozenset[str]:
        """The finalizers that the change removed. The last state of a deleted object shows what it still had."""
        if self.before is None:
            return frozenset()
        left = metadata(self.after).get("finalizers") or () if self.after is not None else ()
        return frozenset(metadata(self.before).get("finalizers") or ()) - frozenset(left)

    @property
    def added_owners(self) -> frozenset[str]:
        """The uids of the owners that the change added to an object that existed."""
        if self.before is None or self.after is None:
            return frozenset()
        return owner_uids(self.after) - owner_uids(self.before)


def transitions(run: Run) -> Iterator[Transition]:
    """Yield the changes of a run in order."""
    last = {metadata(obj).get("uid", ""): obj for obj in run.initial.objects.values()}
    for entry in run.history:
        if isinstance(entry, Changed):
            yield Transition(entry, last.get(entry.uid))
            if entry.type == "DELETED":
                last.pop(entry.uid, None)
            else:
                last[entry.uid] = entry.obj


def objects_ever(run: Run) -> Iterator[tuple[ObjectId, Json]]:
    """Yield every object that existed at some time of a run, as it was created."""
    yield from run.initial.objects.items()
    yield from (
        (each.target, each.after) for each in transitions(run) if each.before is None and each.after is not None
    )


def states_of(run: Run) -> list[State]:
    """Return the states of a run that are compared: at rest after each step, and the end."""
    return [*run.steps, run.end]


def is_operator(process: str) -> bool:
    """Return whether a process is a replica of the operator."""
    return process not in ("", "user")


def metadata(obj: Json) -> Json:
    """Return the metadata of an object."""
    found: Json = obj.get("metadata") or {}
    return found


def is_terminating(obj: Json) -> bool:
    """Return whether an object is being deleted."""
    return bool(metadata(obj).get("deletionTimestamp"))


def owner_uids(obj: Json) -> frozenset[str]:
    """Return the uids of an object's owners."""
    return frozenset(owner.get("uid", "") for owner in metadata(obj).get("ownerReferences") or ())
