"""Live view of a session as rows of text. `take_snapshot` reads the server; `view_of` is a pure function."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pyctrl._json import decode_json
from pyctrl.api import GroupVersionKind
from pyctrl.client import HttpRequest, path_for
from pyctrl.controller import ControllerStatistics, ReconcileCause, Request, RetryCause
from pyctrl.dev._journal import Journal
from pyctrl.dev._requirements import controllers_of
from pyctrl.errors import DecodeError, PyctrlError

if TYPE_CHECKING:
    from pyctrl.dev._session import DevSession

__all__ = ["ControllerRow", "ErrorRow", "ObjectRow", "Snapshot", "Table", "View", "take_snapshot", "view_of"]

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
MOST_OBJECTS = 200  # requested of each kind; a terminal shows fewer
MOST_CAUSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRow:
    """An object: its columns as kubectl prints them, and its last reconcile."""

    name: str
    cells: tuple[str, ...]
    last: str
    outcome: str
    causes: str
    is_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The objects of one kind. ``more`` is the number of objects not listed."""

    kind: str
    columns: tuple[str, ...]
    rows: tuple[ObjectRow, ...]
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerRow:
    """A controller: its state and statistics."""

    name: str
    state: str
    is_ready: bool
    reconciles: int
    rate: float  # per second, over the last ten
    took: timedelta  # on average
    errors: int
    queued: int
    waiting: int
    causes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """An error of ``times`` reconciles."""

    ago: str
    where: str
    error: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The whole live view."""

    name: str
    reloads: int
    problem: str
    tables: tuple[Table, ...]
    controllers: tuple[ControllerRow, ...]
    errors: tuple[ErrorRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The state of a session at one moment.

    Attributes:
        now: the time of the event loop.
        controllers: of each, its state, why it is not ready ("" if it is), and its statistics.
        tables: for each kind the name of its controller, the kind, and the server's ``meta.k8s.io/v1`` Table.
    """

    now: float
    name: str
    reloads: int = 0
    problem: str = ""
    controllers: Mapping[str, tuple[str, str, ControllerStatistics]] = field(default_factory=dict)
    tables: Sequence[tuple[str, str, Mapping[str, Any]]] = ()


async def take_snapshot(session: DevSession) -> Snapshot:
    """Return the statistics of a session's controllers, and Tables of the kinds that they reconcile."""
    manager, requirements = session.manager, session.requirements
    tables = []
    for controller, kind in requirements.kinds.items() if requirements is not None else ():
        if (table := await _table(session, kind)) is not None:
            tables.append((controller, kind.kind, table))
    running = controllers_of(manager) if manager is not None else []
    return Snapshot(
        now=asyncio.get_running_loop().time(),
        name=session.name,
        reloads=session.reloads,
        problem=session.problem,
        controllers={each.name: (each.state.value, each.why_not_ready, each.statistics()) for each in running},
        tables=tables,
    )


async def _table(session: DevSession, kind: GroupVersionKind) -> Mapping[str, Any] | None:
    """Request the objects of a kind as kubectl does; None if it is not served, or a webhook fails."""
    try:
        path = path_for(await session.admin.discovery.mapping(kind), "")
        query = (("limit", str(MOST_OBJECTS)),)
        answer = await session.admin.transport.request(
            HttpRequest(method="GET", path=path, query=query, headers={"Accept": TABLE})
        )
    except PyctrlError:
        return None
    try:
        found = decode_json(answer.body)
    except DecodeError:
        return None
    return found if answer.status == 200 and isinstance(found, dict) else None


def view_of(snapshot: Snapshot, journal: Journal) -> View:
    """Return the rows for a snapshot and the journal of reconciles."""
    return View(
        name=snapshot.name,
        reloads=snapshot.reloads,
        problem=snapshot.problem,
        tables=tuple(
            _objects(controller, kind, table, journal, snapshot.now) for controller, kind, table in snapshot.tables
        ),
        controllers=tuple(
            _controller(name, *seen, journal, snapshot.now) for name, seen in snapshot.controllers.items()
        ),
        errors=tuple(
            ErrorRow(
                ago=ago(snapshot.now - each.at),
                where=f"{each.controller} {each.request}",
                error=each.error,
                times=each.times,
            )
            for each in journal.failures
        ),
    )


def _objects(controller: str, kind: str, table: Mapping[str, Any], journal: Journal, now: float) -> Table:
    """Return rows with kubectl's columns. A kind with no column but its age shows its conditions."""
    shown = [
        (place, str(column["name"]))
        for place, column in enumerate(table.get("columnDefinitions") or ())
        if column["name"] != "Name" and not column.get("priority")
    ]
    rows = table.get("rows") or ()
    with_conditions = len(shown) < 2 and any(_conditions(row["object"]) for row in rows)
    made = []
    for row in rows:
        cells = [_cell(row["cells"][place]) for place, _ in shown]
        conditions = [_conditions(row["object"])] if with_conditions else []
        made.append(_object(row["object"]["metadata"], (*conditions, *cells), controller, journal, now))
    columns = (*(["Conditions"] if with_conditions else []), *(name for _, name in shown))
    more = int((table.get("metadata") or {}).get("remainingItemCount") or 0)
    return Table(kind=kind, columns=columns, rows=tuple(made), more=more)


def _object(
    metadata: Mapping[str, Any], cells: tuple[str, ...], controller: str, journal: Journal, now: float
) -> ObjectRow:
    request = Request(metadata.get("namespace", ""), metadata["name"])
    run = journal.last(controller, request)
    return ObjectRow(
        name=str(request),
        cells=cells,
        last="" if run is None else f"{ago(now - run.at)} ago",
        outcome="" if run is None else f"{run.outcome} ({_milliseconds(run.took)})",
        causes="" if run is None else _causes(run.causes),
        is_failed=run is not None and run.is_failed,
    )


def _conditions(obj: Mapping[str, Any]) -> str:
    """Return the conditions of an object: ``Ready``, or ``not Ready: Pulling``."""
    found = (obj.get("status") or {}).get("conditions")
    if not isinstance(found, list):
        return ""
    words = []
    for each in (each for each in found if isinstance(each, dict) and each.get("type")):
        reason = f": {each['reason']}" if each.get("reason") else ""
        words.append(str(each["type"]) if each.get("status") == "True" else f"not {each['type']}{reason}")
    return ", ".join(words)


def _controller(
    name: str, state: str, why_not: str, numbers: ControllerStatistics, journal: Journal, now: float
) -> ControllerRow:
    done = numbers.reconciles
    total = done.success + done.requeue_after + done.error + done.terminal_error
    often = sorted(done.causes.items(), key=lambda item: -item[1])[:MOST_CAUSES]
    return ControllerRow(
        name=name,
        state=why_not or state,
        is_ready=not why_not,
        reconciles=total,
        rate=journal.rate(name, now),
        took=done.took / total if total else timedelta(0),
        errors=done.error + done.terminal_error,
        queued=numbers.queue.ready,
        waiting=numbers.queue.waiting,
        causes=", ".join(f"{count} {cause}" for cause, count in often),
    )


def ago(seconds: float) -> str:
    """Return a duration in kubectl's units: ``0s``, ``12s``, ``4m``, ``3h``, ``2d``."""
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)}{unit}"
    return f"{int(seconds)}s"


def _causes(causes: Sequence[ReconcileCause]) -> str:
    """Return the newest causes of a reconcile, without error messages, which are shown elsewhere."""
    words = [
        f"retry {cause.failures}" if isinstance(cause, RetryCause) else str(cause).partition(" (version")[0]
        for cause in reversed(causes)
    ]
    rest = f" and {len(words) - 2} more" if len(words) > 2 else ""
    return ", ".join(words[:2]) + rest


def _milliseconds(took: timedelta) -> str:
    return f"{took.total_seconds() * 1000:.0f} ms"


def _cell(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
