"""History of a run: what happened, in order, as data. The same schedule gives the same bytes."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pyctrl.simulation._schedule import Fault, Point

__all__ = [
    "Called",
    "Changed",
    "Delivered",
    "Entry",
    "FaultApplied",
    "History",
    "Listed",
    "Logged",
    "ObjectId",
    "ProcessChanged",
    "Read",
    "ReconcileStarted",
    "Reconciled",
    "RestPhase",
    "Rested",
    "Sent",
    "WebhookCalled",
]


@dataclass(frozen=True, slots=True, order=True)
class ObjectId:
    """An object on the server, by resource and name.

    Attributes:
        resource: Plural and group, such as ``configmaps`` or ``deployments.apps``.
        namespace: "" for cluster-wide objects.
        name: Its name.
    """

    resource: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.resource} {self.namespace}/{self.name}" if self.namespace else f"{self.resource} {self.name}"

    @classmethod
    def parse(cls, text: str) -> ObjectId:
        """Return the object of a text such as ``configmaps default/web``.

        Raises:
            ValueError: The text has another form.
        """
        resource, space, key = text.partition(" ")
        namespace, _, name = key.rpartition("/")
        if not (space and name):
            raise ValueError(f"expected RESOURCE NAMESPACE/NAME, such as 'configmaps default/web', got {text!r}")
        return cls(resource, namespace, name)


@dataclass(slots=True, kw_only=True)
class Entry:
    """Something that happened.

    Attributes:
        at: Seconds of virtual time since the begin of the run.
        process: The replica of the operator, such as ``operator-1``; "user"; or "" for the cluster.
    """

    at: float = 0.0
    process: str = ""


@dataclass(slots=True, kw_only=True)
class Sent(Entry):
    """A request that changes objects, when its answer came back or was lost.

    Attributes:
        point: Its point; only the operator's writes have one.
        verb: create, update, patch, apply, delete or deletecollection.
        target: The object; its name is the one that the server generated, if it did.
        subresource: Such as status; "" for the object itself.
        status: The HTTP status; 0 without an answer.
        reason: The reason of a Status, or the exception's name without an answer.
        body: The object that was sent.
        answer: The object that was returned.
        has_effect: Whether the server's storage changed.
        reconcile: The controller and the request ``NAMESPACE/NAME`` during which it was sent, or "".
        line: The line of the operator that sent it, ``FILE:LINE``, or "".
        leads: Whether the replica held the Lease when the server executed it; None without leader election.
        is_dry_run: Whether it was a dry run.
    """

    point: Point | None = None
    verb: str
    target: ObjectId
    subresource: str = ""
    status: int = 0
    reason: str = ""
    body: Any = None
    answer: Any = None
    has_effect: bool = False
    reconcile: str = ""
    line: str = ""
    leads: bool | None = None
    is_dry_run: bool = False


@dataclass(slots=True, kw_only=True)
class Read(Entry):
    """A request of the operator that reads, past the cache."""

    target: ObjectId
    status: int = 0
    reconcile: str = ""
    line: str = ""


@dataclass(slots=True, kw_only=True)
class Listed(Entry):
    """A list or a watch that the operator's cache begins."""

    point: Point
    resource: str
    namespace: str = ""
    status: int = 0
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class Delivered(Entry):
    """An event of a watch that reached the operator.

    Attributes:
        point: Its point.
        type: ADDED, MODIFIED or DELETED.
        target: The object.
        uid: Its uid.
        version: Its resource version.
    """

    point: Point
    type: str
    target: ObjectId
    uid: str = ""
    version: str = ""


@dataclass(slots=True, kw_only=True)
class Changed(Entry):
    """A change of an object in the server's storage, of the user, the operator, or the cluster.

    Attributes:
        type: ADDED, MODIFIED or DELETED.
        target: The object.
        uid: Its uid.
        version: The version of the change.
        by: The process whose request made it: a replica, "user", or "" for the cluster's controllers.
        obj: The new object; the last one if it was deleted.
    """

    type: str
    target: ObjectId
    uid: str
    version: int
    by: str = ""
    obj: Any = field(default=None, repr=False)


@dataclass(slots=True, kw_only=True)
class ReconcileStarted(Entry):
    """A reconcile began. ``controller`` is its name, ``request`` ``NAMESPACE/NAME``."""

    point: Point
    controller: str
    request: str
    causes: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Reconciled(Entry):
    """A reconcile ended.

    Attributes:
        controller: Its controller.
        request: ``NAMESPACE/NAME``.
        result: ``done``, ``requeue after 5 s``, or ``error: …``.
        error: The exception's name and message, or "".
        reads: What it read from the cache: objects with versions, names that were not found, lists.
    """

    controller: str
    request: str
    result: str = ""
    error: str = ""
    reads: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Called(Entry):
    """A call of an `External` ended.

    Attributes:
        point: Its point.
        call: ``Buckets.create('a')``.
        effects: How often it had its effect: 0, 1, or 2.
        error: What was raised to the caller, or "".
        reconcile: The controller and the request during which it was called.
        line: The line of the operator that called.
    """

    point: Point
    call: str
    effects: int = 1
    error: str = ""
    reconcile: str = ""
    line: str = ""


@dataclass(slots=True, kw_only=True)
class WebhookCalled(Entry):
    """The API server called a webhook of the operator. ``status`` is 0 and ``error`` says why if it had no answer."""

    point: Point
    path: str
    status: int = 0
    error: str = ""


@dataclass(slots=True, kw_only=True)
class FaultApplied(Entry):
    """A fault of the schedule took place."""

    fault: Fault
    text: str = ""


@dataclass(slots=True, kw_only=True)
class ProcessChanged(Entry):
    """A replica of the operator started, stopped, was killed, froze, went on, led, no longer led, or failed."""

    state: str
    text: str = ""


@dataclass(slots=True, kw_only=True)
class Logged(Entry):
    """A record of the operator's log at WARNING or above. ``error`` is the exception's name and message."""

    level: str
    logger: str
    message: str
    error: str = ""


class RestPhase:
    """What a `Rested` ends: a step of the scenario, the time of faults, or the time of quiet at the end."""

    STEP = "step"
    FAULTS_OVER = "faults-over"
    END = "end"


@dataclass(slots=True, kw_only=True)
class Rested(Entry):
    """The world was at rest, or was given up waiting for (``is_quiet`` is False). ``text`` says what the step was."""

    phase: str
    number: int = 0
    is_quiet: bool = True
    text: str = ""


E = TypeVar("E", bound=Entry)


class History:
    """The entries of a run."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._is_closed = False

    def close(self) -> None:
        """Ignore what happens from now on: the run has ended."""
        self._is_closed = True

    def add(self, entry: Entry) -> None:
        """Append an entry that happens now."""
        if self._is_closed:
            return
        entry.at = round(asyncio.get_running_loop().time(), 6)
        self.entries.append(entry)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def of(self, kind: type[E], *, since: float = 0.0) -> list[E]:
        """Return the entries of a type, from a time on."""
        return [entry for entry in self.entries if isinstance(entry, kind) and entry.at >= since]

    def lines(self) -> Iterator[str]:
        """Return each entry as a line of JSON."""
        for entry in self.entries:
            yield json.dumps({"entry": type(entry).__name__, **_plain(entry)}, sort_keys=True, default=str)


def _plain(entry: Entry) -> dict[str, Any]:
    return {f.name: getattr(entry, f.name) for f in dataclasses.fields(entry)}
