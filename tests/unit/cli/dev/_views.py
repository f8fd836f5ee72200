"""Views of a session, for tests of their drawing."""

from __future__ import annotations

from typing import Any

from pyctrl.api import GroupVersionKind
from pyctrl.controller import Request
from pyctrl.dev import ControllerRow, ErrorRow, ObjectRow, SessionState, Table, View

KIND = GroupVersionKind("dev.example.com", "v1", "Box")


def object_row(name: str, *cells: str, namespace: str = "default", **changes: Any) -> ObjectRow:
    """Return the row of an object that was reconciled."""
    fields = {"last": "3 s ago", "result": "done (1 ms)", "causes": f"Box {namespace}/{name} updated"}
    return ObjectRow(request=Request(namespace, name), cells=cells, **fields | changes)


def table(*rows: ObjectRow, columns: tuple[str, ...] = (), more: int = 0) -> Table:
    """Return the objects of a kind."""
    return Table(controller="box", kind=KIND, columns=columns, rows=rows, more=more)


def error_row(*names: str, **changes: Any) -> ErrorRow:
    """Return an error of objects."""
    fields: dict[str, Any] = {
        "controller": "box",
        "kind": "Box",
        "title": "error",
        "message": "OSError: no disk",
        "last": "3 s ago",
        "place": "boxes.py, line 7",
        "result": "failed after 1 ms, retry in 3 s",
        "times": 1,
    }
    return ErrorRow(requests=tuple(Request("default", name) for name in names), **fields | changes)


def controller_row(**changes: Any) -> ControllerRow:
    """Return the row of a controller that runs."""
    fields: dict[str, Any] = {
        "name": "box",
        "state": "runs",
        "is_ready": True,
        "reconciles": 7,
        "rate": 0.94,
        "mean": "12 ms",
        "errors": 0,
        "queued": 1,
        "delayed": 2,
        "causes": "4 updated, 3 created",
    }
    return ControllerRow(**fields | changes)


def view(*tables: Table, **changes: Any) -> View:
    """Return a view of a session."""
    fields: dict[str, Any] = {"name": "boxes", "state": SessionState.RUNNING, "reloads": 0}
    return View(tables=tables, **fields | {"problems": (), "errors": (), "controllers": ()} | changes)
