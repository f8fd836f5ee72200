"""Sites: the points of a reference run with what the run shows about them, so that only plans that matter are made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pyctrl.simulation._history import Called, Delivered, Entry, Sent
from pyctrl.simulation._run import Run
from pyctrl.simulation._schedule import Occasion, Point

__all__ = ["HANDLES", "REPETITIONS", "Site", "idle_steps", "sites"]

REPETITIONS = 8  # of one name in one step of the scenario; the first of them, and the last
HANDLES = 64  # evenly spread; a run has thousands

VERSION = "/metadata/resourceVersion"
ELECTION = "leases.coordination.k8s.io"  # the Lease has faults of its own: leadership


@dataclass(frozen=True, slots=True)
class Site:
    """A point of the reference run, and what happened there.

    Attributes:
        point: The point.
        step: The number of steps of the scenario that had ended.
        rank: 0 if nothing like it came before; sites of a low rank are tried first.
        entry: What the history says about it, if anything; of several tries the last.
        has_successor: For an event: whether another event of the same object follows before the end.
    """

    point: Point
    step: int
    rank: int
    entry: Entry | None = None
    has_successor: bool = False

    @property
    def has_effect(self) -> bool:
        """Whether it changed the server or the external system."""
        if isinstance(self.entry, Called):
            return self.entry.effects > 0
        return not isinstance(self.entry, Sent) or (self.entry.has_effect and not self.entry.is_dry_run)

    @property
    def expects_version(self) -> bool:
        """Whether it is a write that the server refuses with Conflict if the object has changed."""
        verb = self.point.what.partition(" ")[0]
        if not isinstance(self.entry, Sent):
            return verb == "update"
        return verb in {"update", "patch", "apply", "delete"} and _has_version(self.entry.body)


def _has_version(body: Any) -> bool:
    """Return whether an object, a patch or DeleteOptions have a version to compare; DeleteOptions, or a uid.

    A JSON patch that tests a version is refused as Invalid, not with Conflict.
    """
    if isinstance(body, list):
        return any(isinstance(each, dict) and each.get("path") == VERSION and each.get("op") != "test" for each in body)
    if not isinstance(body, dict):
        return False
    metadata, preconditions = body.get("metadata"), body.get("preconditions")
    return (isinstance(metadata, dict) and bool(metadata.get("resourceVersion"))) or bool(preconditions)


def sites(run: Run) -> list[Site]:
    """Return the sites of a run in order, without repetitions beyond a limit.

    Of points of one name in one step of the scenario the first `REPETITIONS` and the last are kept. Of the steps of the
    event loop `HANDLES` are kept, evenly spread. Points of the Lease of leader election are left out, and rests at
    which nothing has happened since the rest before.
    """
    entries = _entries(run)
    successors = _with_successor(run)
    idle = idle_steps(run)
    seen = _Shapes()
    found = []
    for step, point in _limited(run.points):
        if point in idle:
            continue
        entry = entries.get(point)
        found.append(Site(point, step, seen.rank(point, step), entry, point in successors))
    return found


def _entries(run: Run) -> dict[Point, Entry]:
    found: dict[Point, Entry] = {}
    for entry in run.history:
        point = getattr(entry, "point", None)
        if isinstance(point, Point):
            found[point] = entry
    return found


def _with_successor(run: Run) -> set[Point]:
    """Return the points of events after which the same process receives another event of the same object."""
    events = run.history.of(Delivered)
    last = {(event.process, event.target): event for event in events}
    return {event.point for event in events if last[event.process, event.target] is not event}


def idle_steps(run: Run) -> set[Point]:
    """Return the rests that differ in nothing from the rest before."""
    found: set[Point] = set()
    before: Point | None = None
    number = 0
    for point in run.points:
        if point.occasion is Occasion.HANDLE:
            continue  # also a process that does nothing hears bookmarks
        if point.occasion is Occasion.STEP:
            number += 1
            states = run.steps[number - 2 : number]
            if before is not None and before.occasion is Occasion.STEP and len(states) == 2 and states[0] == states[1]:
                found.add(point)
        before = point
    return found


def _limited(points: Iterable[Point]) -> list[tuple[int, Point]]:
    """Return points with the number of steps before them, without repetitions beyond the limit, in order."""
    groups: dict[tuple[int, Occasion, str], list[tuple[int, Point]]] = defaultdict(list)
    step = 0
    for number, point in enumerate(dict.fromkeys(points)):
        if ELECTION not in point.what.split():
            key = (0 if point.occasion is Occasion.HANDLE else step, point.occasion, point.what)
            groups[key].append((number, point))
            step += point.occasion is Occasion.STEP
    kept = [each for (_, occasion, _), group in groups.items() for each in _some(group, occasion)]
    return _with_steps([point for _, point in sorted(kept, key=lambda each: each[0])])


def _some(group: Sequence[tuple[int, Point]], occasion: Occasion) -> Sequence[tuple[int, Point]]:
    if occasion is Occasion.HANDLE:
        return group[:: -(-len(group) // HANDLES)]
    if occasion is Occasion.STEP or len(group) <= REPETITIONS:
        return group
    return [*group[:REPETITIONS], group[-1]]


def _with_steps(points: Sequence[Point]) -> list[tuple[int, Point]]:
    found, step = [], 0
    for point in points:
        step += point.occasion is Occasion.STEP
        found.append((step, point))
    return found


class _Shapes:
    """Counts points that are alike but for the names of objects: in this step, and the steps before that had some."""

    def __init__(self) -> None:
        self._in_step: dict[tuple[str, int], int] = defaultdict(int)
        self._steps: dict[str, set[int]] = defaultdict(set)

    def rank(self, point: Point, step: int) -> int:
        """Return the rank of the next point of a run."""
        shape = _shape(point)
        before = self._in_step[shape, step]
        self._in_step[shape, step] += 1
        self._steps[shape].add(step)
        return before + len(self._steps[shape]) - 1


def _shape(point: Point) -> str:
    words = point.what.split(" ")
    match point.occasion:
        case Occasion.WRITE:
            kept = words[:2]
        case Occasion.EVENT:
            kept = [words[0], words[-1]]
        case _:
            kept = words[:1]
    return " ".join((point.occasion, *kept))
