"""The live view as data: rows made of numbers, without a terminal; and how it is drawn."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from rich.console import Console

from pyctrl.api import GroupVersionKind, Key
from pyctrl.cli._dev.screen import LogLines, Screen, render
from pyctrl.controller import (
    ChangeCause,
    ControllerStatistics,
    QueueStatistics,
    ReconcileStatistics,
    Request,
    RetryCause,
    WorkItem,
)
from pyctrl.dev import Journal, Snapshot, View, view_of
from pyctrl.dev._view import ago

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


async def test_objects_have_their_columns_and_their_last_reconcile() -> None:
    """kubectl's columns without the name; how long ago it ran, what came of it, and why."""
    journal, loop = Journal(), asyncio.get_running_loop()
    done = item(BOX, ChangeCause(KIND, Key("default", "a"), "created", "7"))
    done.succeed(requeue_after=timedelta(seconds=30))
    journal.reconcile_recorder("box")(done, timedelta(milliseconds=12))
    await asyncio.sleep(150)
    shown = table(box("a", "5s", 3, True), box("b", "9s", 4, None), columns=("Name", "Age", "Size", "Ok"))
    view = view_of(Snapshot(now=loop.time(), name="boxes", tables=[("box", "Box", shown)]), journal)
    (found,) = view.tables
    assert found.columns == ("Age", "Size", "Ok")
    first, second = found.rows
    assert (first.name, first.cells) == ("default/a", ("5s", "3", "true"))
    assert (first.last, first.outcome, first.causes) == ("2m ago", "requeue in 30s (12 ms)", "Box default/a created")
    assert (second.cells, second.last, second.outcome) == (("9s", "4", ""), "", "")


def test_a_kind_without_columns_shows_its_conditions() -> None:
    """Those that hold by their names, the others with their reasons."""
    ready = {"type": "Ready", "status": "True"}
    late = {"type": "Ready", "status": "False", "reason": "Pulling"}
    shown = table(box("a", "5s", conditions=[ready]), box("b", "5s", conditions=[late, ready]), remainingItemCount=3)
    (found,) = view_of(Snapshot(now=0, name="boxes", tables=[("box", "Box", shown)]), Journal()).tables
    assert found.columns == ("Conditions", "Age")
    assert [row.cells for row in found.rows] == [("Ready", "5s"), ("not Ready: Pulling, Ready", "5s")]
    assert found.more == 3


async def test_controllers_have_rates_means_and_causes() -> None:
    """The rate is that of the last ten seconds, the mean and the causes those of all reconciles."""
    journal, loop = Journal(), asyncio.get_running_loop()
    note = journal.reconcile_recorder("box")
    for _ in range(20):
        note(item(), timedelta(0))
        await asyncio.sleep(1)
    statistics = numbers(
        success=15, error=5, took=timedelta(seconds=1), causes={"retry": 5, "updated": 14, "listed": 1}
    )
    seen = {"box": ("runs", "", statistics), "late": ("waits", "waits for rights: no", numbers())}
    box_row, late = view_of(Snapshot(now=loop.time(), name="boxes", controllers=seen), journal).controllers
    assert (box_row.reconciles, box_row.errors, box_row.waiting) == (20, 5, 4)
    assert box_row.rate == pytest.approx(0.9, abs=0.11)
    assert box_row.took == timedelta(milliseconds=50)
    assert box_row.causes == "14 updated, 5 retry, 1 listed"
    assert (late.state, late.is_ready, late.took) == ("waits for rights: no", False, timedelta(0))


async def test_errors_are_counted_and_the_newest_is_first() -> None:
    """The same error of the same object is one row; an object that succeeds later keeps its row, as history."""
    journal, loop = Journal(), asyncio.get_running_loop()
    note = journal.reconcile_recorder("box")
    for name, error in (("a", "no disk"), ("b", "no net"), ("a", "no disk")):
        failed = item(Request("default", name), RetryCause(1, "x"))
        failed.fail(OSError(error))
        note(failed, timedelta(0))
        await asyncio.sleep(1)
    rows = view_of(Snapshot(now=loop.time(), name="boxes"), journal).errors
    assert [(row.where, row.error, row.times, row.ago) for row in rows] == [
        ("box default/a", "OSError: no disk", 2, "1s"),
        ("box default/b", "OSError: no net", 1, "2s"),
    ]
    shown = table(box("a", "5s"))
    (found,) = view_of(Snapshot(now=loop.time(), name="boxes", tables=[("box", "Box", shown)]), journal).tables
    assert found.rows[0].is_failed


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0s"), (119, "119s"), (120, "2m"), (7300, "2h"), (200000, "2d")])
def test_ages_have_one_unit(seconds: float, text: str) -> None:
    """Two of a unit are the least of it."""
    assert ago(seconds) == text


def drawn(view: View, *, lines: list[str] | None = None, height: int = 40) -> str:
    console = Console(width=140, height=height, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(render(view, header=["export KUBECONFIG=x"], lines=lines or [], height=height))
    return captured.get()


def test_a_terminal_shows_it_all() -> None:
    """Title, how to reach the cluster, problem, controllers, objects, log and keys; what does not fit is counted."""
    many = table(*(box(f"n{number}", "5s") for number in range(50)))
    look = Snapshot(
        now=0,
        name="boxes",
        reloads=2,
        problem="SyntaxError: no",
        controllers={"box": ("runs", "", numbers(success=3))},
        tables=[("box", "Box", many)],
    )
    text = drawn(view_of(look, Journal()), lines=["a line"])
    for part in (
        "boxes  reloaded 2 times  previous version",
        "export KUBECONFIG=x",
        "SyntaxError: no",
        "BOX",
        "a line",
    ):
        assert part in text
    assert "default/n0" in text
    assert "and 27 more" in text
    assert "q quit" in text


async def test_a_long_reason_takes_no_room_from_the_columns() -> None:
    """What an object has is shown whole; why it was reconciled is what is cut off, on a terminal of any width."""
    journal, loop = Journal(), asyncio.get_running_loop()
    failed = item(
        BOX, ChangeCause(KIND, Key("default", "x" * 200), "created", "7"), RetryCause(3, "ValueError: no disk")
    )
    failed.fail(ValueError("no disk"))
    journal.reconcile_recorder("box")(failed, timedelta(milliseconds=12))
    shown = table(box("a", 3, "5s"), columns=("Name", "Size", "Age"))
    seen = {"box": ("runs", "", numbers(error=1, causes={"c" * 200: 1}))}
    text = drawn(
        view_of(Snapshot(now=loop.time(), name="boxes", tables=[("box", "Box", shown)], controllers=seen), journal)
    )
    assert "BOX        SIZE  AGE  LAST RUN  RESULT                    CAUSES" in text
    assert "default/a  3     5s   0s ago    failed, retrying (12 ms)  retry 3, Box default/xxx" in text
    assert "CONTROLLER  STATE  RECONCILES  PER SECOND  MEAN" in text


async def test_keys() -> None:
    """p pauses and resumes, l shows and hides the log, q quits."""
    screen = Screen(None, [], LogLines())  # type: ignore[arg-type]  # keys have nothing to do with the session
    for key in "pllq":
        screen.press(key)
    assert (screen._is_paused, screen._shows_log, screen._is_quit) == (True, False, True)
