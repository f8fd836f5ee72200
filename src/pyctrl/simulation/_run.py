"""What a run was and what it ended in: the data that plans are made from and that the oracle judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyctrl.simulation._history import History, ObjectId
from pyctrl.simulation._schedule import Point, Schedule

__all__ = ["ProblemKind", "Run", "RunProblem", "State"]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class State:
    """The world at rest: all objects of the server, and the state of every external system.

    Attributes:
        objects: By name, as the server stores them; without Events, Leases and what the cluster keeps for itself.
        externals: By the class's name, the public attributes of each `External`.
    """

    objects: Mapping[ObjectId, Json]
    externals: Mapping[str, Json] = field(default_factory=dict)


@dataclass(slots=True)
class Run:
    """A run that ended.

    Attributes:
        schedule: Its faults.
        history: What happened.
        initial: The world before the operator started.
        steps: The world after each step of the scenario, at rest.
        end: The world at its end, after faults are over and the world is at rest.
        faults_over_at: Seconds at which the last fault was over; 0.0 without faults.
        quiet_from: Seconds at which the time of quiet began; writes after it are judged.
        points: Every point at which a fault could have happened, in order.
        unused: The faults of the schedule whose point never came.
        error: The scenario's exception, or the loop's (`Deadlock`, `Runaway`, `Spinning`), with its message; or "".
        foreign: Objects that the world put in the place of a child (replace-child), with their uids.
        undeclared: Requests that the declared role of the operator does not allow, as text.
        custom: Broken invariants of the user: name and message.
        cut_after: The number of steps after which the scenario was cut short, because no fault was left and the world
            was as in the reference; 0 if it was not.
    """

    schedule: Schedule
    history: History
    initial: State
    steps: list[State] = field(default_factory=list)
    end: State = field(default_factory=lambda: State({}))
    faults_over_at: float = 0.0
    quiet_from: float = 0.0
    points: list[Point] = field(default_factory=list)
    unused: tuple[Any, ...] = ()
    error: str = ""
    foreign: dict[ObjectId, str] = field(default_factory=dict)
    undeclared: tuple[str, ...] = ()
    custom: tuple[tuple[str, str], ...] = ()
    cut_after: int = 0


class ProblemKind:
    """The kinds of problems that the oracle finds."""

    END_STATE = "end-state"
    NOT_QUIET = "not-quiet"
    ORPHAN = "orphan"
    FOREIGN = "foreign"
    FINALIZER = "finalizer"
    NOT_LEADING = "not-leading"
    UNDECLARED = "undeclared"
    DEFECT = "defect"
    INVARIANT = "invariant"
    SCENARIO = "scenario"
    HANGS = "hangs"


@dataclass(frozen=True, slots=True)
class RunProblem:
    """Something that must not be.

    Attributes:
        kind: One of `ProblemKind`.
        message: One sentence, with names.
        objects: The objects that it concerns.
        diff: The difference to the reference, as lines of a unified diff; or "".
    """

    kind: str
    message: str
    objects: tuple[ObjectId, ...] = ()
    diff: str = ""
