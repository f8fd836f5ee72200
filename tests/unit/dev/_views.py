"""Rows of the live view of a session."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pyctrl.api import GroupVersionKind
from pyctrl.controller import (
    ControllerStatistics,
    QueueStatistics,
    ReconcileStatistics,
    Request,
    WorkItem,
)

KIND = GroupVersionKind("dev.example.com", "v1", "Box")


BOX = Request("default", "a")


def item(request: Request = BOX, *causes: Any) -> WorkItem:
    return WorkItem(request=request, priority=0, causes=causes, failures=0)


def table(*objects: dict[str, Any], columns: tuple[str, ...] = ("Name", "Age"), **metadata: Any) -> dict[str, Any]:
    rows = [{"cells": each.pop("cells"), "object": each} for each in objects]
    return {"columnDefinitions": [{"name": name} for name in columns], "rows": rows, "metadata": metadata}


def box(name: str, *cells: object, **status: Any) -> dict[str, Any]:
    return {"cells": [name, *cells], "metadata": {"namespace": "default", "name": name}, "status": status}


def numbers(**changes: Any) -> ControllerStatistics:
    queue: dict[str, Any] = dict.fromkeys(("ready", "working", "adds", "placed", "retries"), 0)
    queue |= dict.fromkeys(("longest_ready", "longest_working", "unfinished"), timedelta(0))
    return ControllerStatistics(
        reconciles=ReconcileStatistics(**changes),
        queue=QueueStatistics(**queue, waiting=4, ready_by_priority={}, is_closed=False),
        workers=2,
        active_workers=0,
    )
