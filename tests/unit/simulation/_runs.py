"""Hand-made runs: their points and what happened there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyctrl.simulation._history import Changed, Entry, History, ObjectId, Sent
from pyctrl.simulation._run import Run, State
from pyctrl.simulation._schedule import Occasion, Point, Schedule

Json = dict[str, Any]


def run_of(points: Iterable[str], *entries: Entry, steps: Iterable[Mapping[str, Json]] = (), **attributes: Any) -> Run:
    """Return a run with these points, entries, and objects at the end of each step."""
    history = History()
    history.entries.extend(entries)
    states = [State({ObjectId.parse(name): obj for name, obj in step.items()}) for step in steps]
    return Run(
        schedule=Schedule(),
        history=history,
        initial=State({}),
        points=[Point.parse(point) for point in points],
        steps=states,
        **attributes,
    )


def sent(point: str, *, has_effect: bool = True, body: Any = None, **attributes: Any) -> Sent:
    """Return a write of the operator."""
    parsed = Point.parse(point)
    assert parsed.occasion is Occasion.WRITE
    verb, _, target = parsed.what.partition(" ")
    return Sent(
        process="operator-1",
        point=parsed,
        verb=verb,
        target=ObjectId.parse(target),
        has_effect=has_effect,
        body=body,
        **attributes,
    )


def created(target: str, uid: str, *, by: str) -> Changed:
    """Return the change of a creation."""
    return Changed(type="ADDED", target=ObjectId.parse(target), uid=uid, version=1, by=by)


def obj_of(uid: str, *owners: str, generated: str = "") -> Json:
    """Return an object with a uid and the uids of its owners."""
    metadata: Json = {"uid": uid}
    if owners:
        metadata["ownerReferences"] = [{"uid": owner} for owner in owners]
    if generated:
        metadata["generateName"] = generated
    return {"metadata": metadata}
