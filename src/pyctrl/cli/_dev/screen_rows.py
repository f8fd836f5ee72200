"""Rows of the screen of `pyctrl dev`: a view as styled lines of a given width. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from textual.content import Content

from pyctrl.cli._dev.layout import GAP, SHORTEST, Column, fit, shortened
from pyctrl.controller import Request
from pyctrl.dev import ControllerRow, ErrorRow, ObjectRow, Problem, SessionState, Table, View

__all__ = ["Row", "RowTarget", "filtered", "header", "rows_of"]

NARROW = 60  # columns of a terminal below which a row takes two lines
MOST_ERRORS = 8  # the objects of others are marked in their tables
MARK = 2  # columns before each row: ✗ an error, ! a detection
DIM, ERROR, WARNING, HEADING = "$foreground 60%", "bold $text-error", "$text-warning", "bold $text-primary"
FAILED, FOUND, BLANK = "✗ ", "! ", "  "
#: Counters of a controller and when they are left out: the highest first.
COUNTERS = (
    *(Column("RECONCILES", 2), Column("PER SECOND", 6), Column("MEAN", 7), Column("ERRORS", 1)),
    *(Column("QUEUED", 4), Column("DELAYED", 5), Column("CAUSES", 8, shrinks=True)),
)


@dataclass(frozen=True, slots=True)
class RowTarget:
    """An object whose details can be opened, and its controller."""

    controller: str
    request: Request


@dataclass(frozen=True, slots=True)
class Row:
    """A row. Without a target it cannot be selected. The id is stable while its numbers change."""

    id: str
    content: Content
    target: RowTarget | None = None


def header(view: View, commands: Sequence[str], width: int, *, is_paused: bool, query: str) -> Content:
    """Return the lines at the top: the program, its state, and how to reach its cluster."""
    dot, style = _STATES[view.state]
    times = f", reloaded {view.reloads} times" if view.reloads > 1 else ", reloaded" if view.reloads else ""
    first = Content.assemble((view.name, "bold"), "  ", (f"{dot} {view.state.value}", style), (times, DIM))
    if is_paused:
        note = "  the screen is frozen, the program runs" if width >= NARROW else ""
        first += Content.assemble("  ", (" PAUSED ", "reverse bold"), (note, DIM))
    parts = [first, *(Content.styled(shortened(line, width, keep_end=True), DIM) for line in commands)]
    if query:
        parts.append(Content.assemble(("filter ", DIM), (query, "bold"), ("  escape clears it", DIM)))
    return Content("\n").join(parts)


_STATES = {
    SessionState.STARTING: ("○", DIM),
    SessionState.RUNNING: ("●", "$text-success"),
    SessionState.RELOADING: ("◌", "$text-warning"),
    SessionState.OUTDATED: ("▲", "bold $text-error"),
    SessionState.STOPPED: ("■", "bold $text-error"),
}


def filtered(view: View, query: str) -> View:
    """Return the view with the errors and objects that contain a text, in any case."""
    words = query.casefold()
    if not words:
        return view
    errors = [each for each in view.errors if words in _error_text(each)]
    tables = [
        replace(table, rows=tuple(row for row in table.rows if words in _object_text(table, row)))
        for table in view.tables
    ]
    return replace(view, errors=tuple(errors), tables=tuple(table for table in tables if table.rows))


def _error_text(row: ErrorRow) -> str:
    return " ".join((row.kind, row.title, row.message, *map(str, row.requests))).casefold()


def _object_text(table: Table, row: ObjectRow) -> str:
    return " ".join((table.kind.kind, str(row.request), *row.cells, *row.detections, row.result, row.causes)).casefold()


def rows_of(view: View, width: int) -> list[Row]:
    """Return the rows: problems of the files, errors, controllers, and the objects of each kind."""
    sections = [
        *(list(_problem(each, number)) for number, each in enumerate(view.problems)),
        list(_errors(view.errors, width)),
        list(_controllers(view.controllers, width)),
        *(list(_objects(table, width)) for table in view.tables),
    ]
    rows: list[Row] = []
    for section in filter(None, sections):
        if rows:
            rows.append(Row(f"gap {len(rows)}", Content("")))
        rows += section
    return rows


def _problem(problem: Problem, number: int) -> Iterator[Row]:
    place = [Content.styled(f"  at {problem.place}", "bold")] if problem.place else []
    excerpt = [Content.styled(f"  {line}", WARNING if "^" in line else "") for line in problem.excerpt]
    message = Content.styled(f"{FAILED}{problem.message}", ERROR)
    yield Row(f"problem {number}", Content("\n").join([message, *place, *excerpt]))


# --- errors ---


def _errors(errors: Sequence[ErrorRow], width: int) -> Iterator[Row]:
    if errors:
        yield Row("errors", Content.styled(f"{BLANK}ERRORS", HEADING))
    for error in errors[:MOST_ERRORS]:
        target = RowTarget(error.controller, error.requests[0]) if error.requests else None
        row_id = f"error {error.controller} {error.title} {error.requests[:1]} {error.message}"
        yield Row(row_id, Content("\n").join(_error(error, width)), target)
    if len(errors) > MOST_ERRORS:
        yield Row("more errors", Content.styled(f"{BLANK}and {len(errors) - MOST_ERRORS} more errors", DIM))


def _error(error: ErrorRow, width: int) -> Iterator[Content]:
    """Yield the lines of an error: its object, its message with the line of the program, and what happens next."""
    more = f" and {len(error.requests) - 1} more" if len(error.requests) > 1 else ""
    times = f"  ×{error.times}" if error.times > 1 else ""
    kind = error.kind or error.controller or "the event loop"
    name = str(error.requests[0]) if error.requests else ""
    room = width - MARK - len(f"{kind} {more}  {error.last}{times}")
    mark = FAILED if error.title == "error" else FOUND
    style = ERROR if error.title == "error" else f"bold {WARNING}"
    title = f"{kind} {shortened(name, max(8, room), keep_end=True)}{more}"
    yield Content.assemble((mark, style), (title, "bold"), (f"  {error.last}{times}", DIM))
    label = "" if error.title == "error" else f"{error.title}: "
    message, plain = f"{label}{error.message}", style.removeprefix("bold ")
    if error.place and len(message) + len(error.place) + 3 <= width - MARK:
        yield Content.assemble(BLANK, (message, plain), (f" ({error.place})", "bold"))
    else:
        yield from (*_wrapped(message, width, plain), *_wrapped(error.place, width, "bold"))
    yield from _wrapped(error.result or error.fix, width, DIM)


def _wrapped(text: str, width: int, style: str, *, indent: int = MARK) -> Iterator[Content]:
    for line in wrap(text, max(SHORTEST, width - indent)):
        yield Content.styled(" " * indent + line, style)


# --- controllers ---


def _controllers(controllers: Sequence[ControllerRow], width: int) -> Iterator[Row]:
    if not controllers:
        return
    columns = [Column("CONTROLLER", shrinks=True), Column("STATE", 0, shrinks=True), *COUNTERS]
    cells = [
        (
            *(
                each.name,
                ", ".join((each.state, *each.detections)),
                str(each.reconciles),
                f"{each.rate:.1f}",
                each.mean,
            ),
            *(str(each.errors), str(each.queued), str(each.delayed), each.causes),
        )
        for each in controllers
    ]
    widths = fit(columns, cells, width - MARK)
    yield Row("controllers", _line(BLANK, [each.title for each in columns], widths, [HEADING] * len(columns)))
    for row, texts in zip(controllers, cells, strict=True):
        state = "" if row.is_ready and not row.detections else WARNING
        styles = ["", state, "", "", "", ERROR if row.errors else "", "", "", DIM]
        yield Row(f"controller {row.name}", _line(FOUND if state else BLANK, texts, widths, styles))


# --- objects ---


def _objects(table: Table, width: int) -> Iterator[Row]:
    has_namespaces = any(row.request.namespace not in ("", "default") for row in table.rows)
    cells = [_cells(row, has_namespaces=has_namespaces) for row in table.rows]
    kind, after = table.kind.kind.upper(), len(table.columns)
    columns = [
        Column(kind, shrinks=True),
        *(Column(title.upper(), 6 + after - place) for place, title in enumerate(table.columns)),
        *(Column("LAST RUN", 5), Column("RESULT", shrinks=True), Column("CAUSES", 99, shrinks=True)),
    ]
    is_narrow = width < NARROW
    if is_narrow:  # the result has a line of its own
        columns[-2:] = [Column("RESULT", 98), Column("CAUSES", 99)]
        cells = [(*texts[:-2], "", "") for texts in cells]
    widths = fit(columns, cells, width - MARK)
    if is_narrow:
        widths[-2:] = [0, 0]
    yield Row(f"kind {kind}", _line(BLANK, [each.title for each in columns], widths, [HEADING] * len(columns)))
    for row, texts in zip(table.rows, cells, strict=True):
        lines = [_object(row, texts, widths)]
        if is_narrow and row.result:
            lines += _wrapped(_result(row), width, _style(row), indent=2 * MARK)
        yield Row(f"object {table.controller} {row.request}", Content("\n").join(lines), _target(table, row))
    if note := "" if table.rows and not table.more else f"and {table.more} more" if table.more else "none":
        yield Row(f"more {kind}", Content.styled(BLANK + note, DIM))


def _target(table: Table, row: ObjectRow) -> RowTarget:
    return RowTarget(table.controller, row.request)


def _cells(row: ObjectRow, *, has_namespaces: bool) -> tuple[str, ...]:
    name = str(row.request) if has_namespaces or row.request.cluster else row.request.name
    return (name, *row.cells, row.last, _result(row), row.causes)


def _result(row: ObjectRow) -> str:
    return ", ".join(filter(None, (*row.detections, row.result)))


def _object(row: ObjectRow, texts: Sequence[str], widths: Sequence[int]) -> Content:
    styles = ["bold" if row.is_failed else "", *[""] * len(row.cells), DIM, _style(row), DIM]
    mark = FAILED if row.is_failed else FOUND if row.detections else BLANK
    return _line(mark, texts, widths, styles)


def _style(row: ObjectRow) -> str:
    return ERROR if row.is_failed else WARNING if row.detections else ""


def _line(mark: str, texts: Sequence[str], widths: Sequence[int], styles: Sequence[str]) -> Content:
    """Return cells side by side. The first one, a name, keeps its end when it is shortened."""
    mark_style = ERROR if mark == FAILED else WARNING
    parts: list[str | tuple[str, str]] = [(mark, mark_style)]
    for place, (text, width, style) in enumerate(zip(texts, widths, styles, strict=True)):
        if width:
            parts.append((shortened(text, width, keep_end=not place).ljust(width), style))
            parts.append(" " * GAP)
    return Content.assemble(*parts[:-1])
