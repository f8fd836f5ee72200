"""Live view of a session as rows of text. `view_of` is a pure function of a `Snapshot` and a `Journal`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyctrl.api import GroupVersionKind
from pyctrl.controller import ReconcileCause, Request, RetryCause, TimerCause
from pyctrl.dev._durations import ago, duration_text
from pyctrl.dev._journal import Journal, LastRun, RunResult
from pyctrl.dev._snapshot import ControllerSnapshot, Snapshot
from pyctrl.dev._state import Problem, SessionState

__all__ = ["ControllerRow", "ErrorRow", "ObjectRow", "Table", "View", "conditions_text", "result_text", "view_of"]

MOST_CAUSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRow:
    """An object: its columns as kubectl prints them, and its last reconcile. ``detections`` are titles."""

    request: Request
    cells: tuple[str, ...]
    last: str
    result: str
    causes: str
    is_failed: bool = False
    detections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The objects of one kind. ``more`` is the number of objects not listed."""

    controller: str
    kind: GroupVersionKind
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
    mean: str
    errors: int
    queued: int
    delayed: int
    causes: str
    detections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """A current error, or a detection, of one or more objects.

    Attributes:
        requests: the objects, the latest first.
        title: "error", or what was found.
        place: the line of the program: ``operator.py, line 21``.
        result: the duration, and when the first of the objects is tried again.
        fix: what to do about a detection.
        times: how often it occurred for the first of the objects.
    """

    controller: str
    kind: str
    requests: tuple[Request, ...]
    title: str
    message: str
    place: str
    result: str
    last: str
    times: int
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The whole live view."""

    name: str
    state: SessionState
    reloads: int
    problems: tuple[Problem, ...]
    errors: tuple[ErrorRow, ...]
    controllers: tuple[ControllerRow, ...]
    tables: tuple[Table, ...]


def view_of(snapshot: Snapshot, journal: Journal) -> View:
    """Return the rows for a snapshot and the journal of reconciles."""
    return View(
        name=snapshot.name,
        state=snapshot.state,
        reloads=snapshot.reloads,
        problems=tuple(snapshot.problems),
        errors=(*_detections(snapshot, journal), *_errors(snapshot, journal)),
        controllers=tuple(_controller(*each, journal, snapshot.now) for each in snapshot.controllers.items()),
        tables=tuple(_table(*each, snapshot, journal) for each in snapshot.tables),
    )


# --- errors ---


def _errors(snapshot: Snapshot, journal: Journal) -> Iterator[ErrorRow]:
    """Yield the errors of objects whose last reconcile failed, the latest first; objects with one error share a row."""
    groups: dict[tuple[str, str], list[tuple[Request, LastRun]]] = {}
    for (controller, request), run in journal.failures.items():
        if _is_current(snapshot, controller, request):
            message = run.error.message if run.error is not None else run.result.value
            groups.setdefault((controller, message), []).append((request, run))
    for (controller, message), found in groups.items():
        request, run = found[0]
        yield ErrorRow(
            controller=controller,
            kind=_kind_of(snapshot, controller),
            requests=tuple(each for each, _ in found),
            title="error",
            message=message,
            place=run.error.place if run.error is not None else "",
            result=result_text(run, _due(snapshot, controller, request)),
            last=ago(snapshot.now - run.at),
            times=run.failures,
        )


def _detections(snapshot: Snapshot, journal: Journal) -> Iterator[ErrorRow]:
    for each in journal.detections:
        if _exists(snapshot, each.controller, each.request):
            yield ErrorRow(
                controller=each.controller,
                kind=_kind_of(snapshot, each.controller),
                requests=(each.request,) if each.request.name else (),
                title=each.title,
                message=each.message,
                place=each.place,
                result="",
                last=ago(snapshot.now - each.at),
                times=each.times,
                fix=each.fix,
            )


def _is_current(snapshot: Snapshot, controller: str, request: Request) -> bool:
    """Return whether an error still matters: its object exists, or its retry is pending after the deletion."""
    return _exists(snapshot, controller, request) or _due(snapshot, controller, request) is not None


def _exists(snapshot: Snapshot, controller: str, request: Request) -> bool:
    """Return whether an object exists, as far as the snapshot shows it."""
    found = [table for name, _, table in snapshot.tables if name == controller]
    if not found or not request.name or request.cluster or _more(found[0]):
        return True
    return any(_request_of(row) == request for row in found[0].get("rows") or ())


def _due(snapshot: Snapshot, controller: str, request: Request) -> float | None:
    seen = snapshot.controllers.get(controller)
    return seen.due.get(request) if seen is not None else None


def _kind_of(snapshot: Snapshot, controller: str) -> str:
    return next((kind.kind for name, kind, _ in snapshot.tables if name == controller), "")


def result_text(run: LastRun | None, due: float | None) -> str:
    """Return the result of an object's last reconcile, and when the next one is due.

    Args:
        run: the last reconcile; None if there was none.
        due: the seconds until the next reconcile that is pending; None if none is.
    """
    if run is None:
        return "" if due is None else "queued"
    took, wait = duration_text(run.took), duration_text(due) if due is not None and due > 0 else ""
    match run.result:
        case RunResult.DONE:
            return f"done, again in {wait}" if run.requeue_after is not None and wait else f"done ({took})"
        case RunResult.FAILED:
            return f"failed after {took}, " + (f"retry in {wait}" if wait else "retrying")
        case RunResult.GAVE_UP:
            return f"failed after {took}, not retried"
        case RunResult.INTERRUPTED:
            return "interrupted by a reload"


# --- controllers ---


def _controller(name: str, seen: ControllerSnapshot, journal: Journal, now: float) -> ControllerRow:
    done, queue = seen.statistics.reconciles, seen.statistics.queue
    total = done.success + done.requeue + done.requeue_after + done.error + done.terminal_error
    often = sorted(done.causes.items(), key=lambda item: -item[1])[:MOST_CAUSES]
    return ControllerRow(
        name=name,
        state=seen.why_not_ready or seen.state,
        is_ready=not seen.why_not_ready,
        reconciles=total,
        rate=journal.rate(name, now),
        mean=duration_text(done.took / total) if total else "",
        errors=done.error + done.terminal_error,
        queued=queue.ready,
        delayed=queue.waiting,
        causes=", ".join(f"{count} {cause}" for cause, count in often),
        detections=tuple(dict.fromkeys(each.title for each in journal.detections if each.controller == name)),
    )


# --- objects ---


def _table(
    controller: str, kind: GroupVersionKind, table: Mapping[str, Any], snapshot: Snapshot, journal: Journal
) -> Table:
    """Return rows with kubectl's columns. A kind with no column but its age shows its conditions."""
    shown = [
        (place, str(column["name"]))
        for place, column in enumerate(table.get("columnDefinitions") or ())
        if column["name"] != "Name" and not column.get("priority")
    ]
    rows = table.get("rows") or ()
    with_conditions = len(shown) < 2 and any(conditions_text(row["object"]) for row in rows)
    made = []
    for row in rows:
        cells = [_cell(row["cells"][place]) for place, _ in shown]
        conditions = [conditions_text(row["object"])] if with_conditions else []
        made.append(_object(controller, _request_of(row), (*conditions, *cells), snapshot, journal))
    columns = (*(["Conditions"] if with_conditions else []), *(name for _, name in shown))
    return Table(controller=controller, kind=kind, columns=columns, rows=tuple(made), more=_more(table))


def _object(
    controller: str, request: Request, cells: tuple[str, ...], snapshot: Snapshot, journal: Journal
) -> ObjectRow:
    run = journal.last(controller, request)
    return ObjectRow(
        request=request,
        cells=cells,
        last="" if run is None else ago(snapshot.now - run.at),
        result=result_text(run, _due(snapshot, controller, request)),
        causes="" if run is None else _causes(run.causes),
        is_failed=run is not None and run.is_failed,
        detections=tuple(each.title for each in journal.detections_of(controller, request)),
    )


def _request_of(row: Mapping[str, Any]) -> Request:
    metadata = row["object"]["metadata"]
    return Request(metadata.get("namespace", ""), metadata["name"])


def _more(table: Mapping[str, Any]) -> int:
    return int((table.get("metadata") or {}).get("remainingItemCount") or 0)


def conditions_text(obj: Mapping[str, Any]) -> str:
    """Return the conditions of an object: ``Ready``, or ``not Ready: Pulling``."""
    found = (obj.get("status") or {}).get("conditions")
    if not isinstance(found, list):
        return ""
    words = []
    for each in (each for each in found if isinstance(each, dict) and each.get("type")):
        reason = f": {each['reason']}" if each.get("reason") else ""
        words.append(str(each["type"]) if each.get("status") == "True" else f"not {each['type']}{reason}")
    return ", ".join(words)


def _causes(causes: Sequence[ReconcileCause]) -> str:
    """Return the newest causes of a reconcile, without error messages, which are shown elsewhere."""
    words = [cause_text(cause) for cause in reversed(causes)]
    rest = f" and {len(words) - 2} more" if len(words) > 2 else ""
    return ", ".join(words[:2]) + rest


def cause_text(cause: ReconcileCause) -> str:
    """Return a cause without its error message and resource version."""
    if isinstance(cause, RetryCause):
        return f"retry {cause.failures}"
    if isinstance(cause, TimerCause):
        return f"requeued after {duration_text(cause.after)}"
    before, found, after = str(cause).partition(" (version")
    return before + after.partition(")")[2] if found else before


def _cell(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
