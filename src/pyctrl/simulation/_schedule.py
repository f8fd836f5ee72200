"""Schedules: the faults of one run as plain data, which has a one-line text to replay it.

    crash-during create configmaps default/web-*#1; delay event configmaps default/web-* ADDED#2 by 30

A fault is bound to a point: the nth time that the operator does, sees or calls something. A point names objects by
what stays the same from run to run: an object with a generated name is ``PREFIX*``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

__all__ = ["Fault", "FaultKind", "Occasion", "Point", "Schedule"]


class Occasion(StrEnum):
    """What a point counts."""

    WRITE = "write"
    """A request of the operator that changes objects; written as its verb: create, update, patch, apply, delete."""

    LIST = "list"
    """A list or a watch of a collection that the operator's cache begins."""

    EVENT = "event"
    """An event of a watch, on its way to the operator."""

    RECONCILE = "reconcile"
    """The begin of a reconcile."""

    CALL = "call"
    """A call of an `External`."""

    STEP = "step"
    """The world is at rest after a step of the scenario."""

    WEBHOOK = "webhook"
    """A request of the API server to a webhook of the operator."""

    HANDLE = "handle"
    """A step of the operator between two awaits: the nth of its process."""


WRITE_VERBS = ("create", "update", "patch", "apply", "delete", "deletecollection")


@dataclass(frozen=True, slots=True)
class Point:
    """The nth time that something happens in a run.

    Attributes:
        occasion: What is counted.
        what: Its object, such as ``configmaps default/web-*``, ``configmaps/status default/web`` or ``Buckets.create``.
            A write begins with its verb.
        nth: Counted from 1 among points that are equal otherwise.
    """

    occasion: Occasion
    what: str
    nth: int = 1

    def __str__(self) -> str:
        if self.occasion is Occasion.WRITE:
            return f"{self.what}#{self.nth}"
        return f"{self.occasion} {self.what}#{self.nth}" if self.what else f"{self.occasion}#{self.nth}"

    @classmethod
    def parse(cls, text: str) -> Point:
        """Return the point of a text.

        Raises:
            ValueError: The text is no point.
        """
        match = re.fullmatch(r"(\w+)(?: (.*?))?#([1-9]\d*)", text.strip())
        if match is None:
            raise ValueError(f"expected a point such as 'create configmaps default/web-*#1', got {text!r}")
        first, rest, nth = match[1], match[2] or "", int(match[3])
        if first in WRITE_VERBS:
            return cls(Occasion.WRITE, f"{first} {rest}", nth)
        if first not in set(Occasion):
            known = ", ".join((*WRITE_VERBS, *(o for o in Occasion if o is not Occasion.WRITE)))
            raise ValueError(f"a point begins with one of {known}; got {text!r}")
        return cls(Occasion(first), rest, nth)


class FaultKind(StrEnum):
    """What is done to the operator at a point. The comment names the occasions that it fits."""

    CRASH_BEFORE = "crash-before"  # write, call: the process dies before it sends the request
    CRASH_DURING = "crash-during"  # write, call: it dies while the request has its effect; the answer is lost
    CRASH_AFTER = "crash-after"  # write, call: it dies as soon as it has the answer
    CRASH = "crash"  # step, reconcile, handle, event
    ANSWER_LOST = "answer-lost"  # write, call: the effect is kept, the connection breaks
    CONFLICT = "conflict"  # write
    TOO_MANY_REQUESTS = "too-many-requests"  # write, list
    INTERNAL_ERROR = "internal-error"  # write, list
    TIMEOUT = "timeout"  # write, list: no answer, and no effect
    DELAY = "delay"  # event: this event and what follows on its watch; argument: seconds
    COALESCE = "coalesce"  # event: held until the next event of the same object
    HIDE = "hide"  # event: the watch breaks before it; the operator lists again after the next change of the object
    STALE = "stale"  # reconcile: no event reaches the cache from the end of the previous rest on; argument: seconds
    TIME_TRAVEL = "time-travel"  # write, step: the process dies; the next one reads from a server that is behind
    LOSE_LEADERSHIP = "lose-leadership"  # write: the Lease cannot be renewed, until another replica has led
    FREEZE = "freeze"  # write, call, reconcile: the process stands still and goes on later; argument: seconds
    DELETE_CHILD = "delete-child"  # step; argument: the child
    CHANGE_CHILD = "change-child"  # step; argument: the child
    REPLACE_CHILD = "replace-child"  # step; argument: the child: a foreign object takes its name for a while
    RECREATE_PARENT = "recreate-parent"  # step; argument: the parent: deleted, and created again at once
    CALL_FAILS = "call-fails"  # call: without effect
    CALL_SLOW = "call-slow"  # call; argument: seconds
    CALL_TWICE = "call-twice"  # call: a proxy repeats it
    RESTART_SERVER = "restart-server"  # write, step: connections break; nothing is lost
    COMPACT = "compact"  # write, step: connections break; watches cannot resume
    RESTORE_BACKUP = "restore-backup"  # step: the server's state goes back to the end of the last user action
    JUMP_CLOCK = "jump-clock"  # write, step; argument: seconds of wall time, may be negative
    WEBHOOK_FAILS = "webhook-fails"  # webhook
    WEBHOOK_SLOW = "webhook-slow"  # webhook; argument: seconds
    TEAR = "tear"  # step, write: all watches of the operator break


@dataclass(frozen=True, slots=True)
class Fault:
    """What is done at a point.

    Attributes:
        kind: What is done.
        point: When.
        argument: Seconds for faults that last, an object ``RESOURCE NAMESPACE/NAME`` for meddling; else "".
    """

    kind: FaultKind
    point: Point
    argument: str = ""

    @property
    def seconds(self) -> float:
        """The argument as seconds."""
        return float(self.argument)

    def __str__(self) -> str:
        return f"{self.kind} {self.point}" + (f" by {self.argument}" if self.argument else "")

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Return the fault of a text.

        Raises:
            ValueError: The text is no fault.
        """
        kind, _, rest = text.strip().partition(" ")
        if kind not in set(FaultKind):
            raise ValueError(f"a fault begins with one of {', '.join(FaultKind)}; got {text!r}")
        match = re.fullmatch(r"(.*#\d+)(?: by (.+))?", rest)
        if match is None:
            raise ValueError(f"expected 'FAULT POINT#N' or 'FAULT POINT#N by ARGUMENT', got {text!r}")
        return cls(FaultKind(kind), Point.parse(match[1]), match[2] or "")


@dataclass(frozen=True, slots=True)
class Schedule:
    """The faults of a run, and the seed of everything that is drawn in it: latencies, names, the order of tasks.

    Attributes:
        faults: Each happens at most once, at its point.
        seed: The same schedule and seed give the same history.
        shuffle: Whether the order of ready tasks is drawn; without, it is asyncio's.
    """

    faults: tuple[Fault, ...] = ()
    seed: int = 0
    shuffle: bool = False

    def __str__(self) -> str:
        head = [f"seed={self.seed}"] * bool(self.seed) + ["shuffle"] * self.shuffle
        return "; ".join((*head, *map(str, self.faults)))

    def __len__(self) -> int:
        return len(self.faults)

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.faults)

    def with_faults(self, faults: Iterable[Fault]) -> Schedule:
        """Return this schedule with other faults."""
        return replace(self, faults=tuple(faults))

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """Return the schedule of a text.

        Raises:
            ValueError: The text is no schedule.
        """
        seed, shuffle, faults = 0, False, []
        for part in filter(None, (part.strip() for part in text.split(";"))):
            if part == "shuffle":
                shuffle = True
            elif match := re.fullmatch(r"seed=(\d+)", part):
                seed = int(match[1])
            else:
                faults.append(Fault.parse(part))
        return cls(tuple(faults), seed, shuffle)
