"""Applies the faults of a schedule at their points, and notes every point that a run reaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from pyctrl.simulation._history import FaultApplied, History
from pyctrl.simulation._schedule import Fault, Occasion, Point, Schedule

__all__ = ["Branch", "Injector"]

#: Called at each point of a run. In a forked child it returns the schedule that begins there; else None.
Branch = Callable[[Point], Schedule | None]


class Injector:
    """The faults that a run has still to meet.

    Args:
        schedule: The faults.
        history: Gets an entry for each fault.
        branch: Forks at points, see `Branch`.
    """

    def __init__(self, schedule: Schedule, history: History, branch: Branch | None = None) -> None:
        self._history, self._branch = history, branch
        self._counts: Counter[tuple[Occasion, str]] = Counter()
        self._pending: dict[Point, list[Fault]] = {}
        #: Every point that was reached, in order.
        self.points: list[Point] = []
        #: Whether points count; not before the operator starts, and not after the faults are over.
        self.is_armed: bool = False
        #: What the run does: the schedule of `__init__`, or that of the branch.
        self.schedule: Schedule = schedule
        self._load(schedule)

    def _load(self, schedule: Schedule) -> None:
        self.schedule = schedule
        for fault in schedule:
            self._pending.setdefault(fault.point, []).append(fault)

    @property
    def unused(self) -> tuple[Fault, ...]:
        """The faults whose point has not come."""
        return tuple(fault for faults in self._pending.values() for fault in faults)

    @property
    def is_through(self) -> bool:
        """Whether the run had faults, and none is left."""
        return bool(self.schedule.faults) and not self._pending

    def reached(self, occasion: Occasion, what: str, process: str = "") -> tuple[Point, tuple[Fault, ...]]:
        """Count a point, and return it with the faults that happen there."""
        if not self.is_armed:
            return Point(occasion, what, 0), ()
        key = occasion, what
        self._counts[key] += 1
        point = Point(occasion, what, self._counts[key])
        self.points.append(point)
        if self._branch is not None:
            schedule = self._branch(point)
            if schedule is not None:  # this process is a child of the one that goes on without faults
                self._branch = None
                self._load(schedule)
        faults = tuple(self._pending.pop(point, ()))
        for fault in faults:
            self._history.add(FaultApplied(process=process, fault=fault))
        return point, faults

    @property
    def wants_handles(self) -> bool:
        """Whether points between two awaits count: in a run without faults, or if a fault is at such a point."""
        if not self.is_armed:
            return False
        return not self.schedule.faults or any(point.occasion is Occasion.HANDLE for point in self._pending)
