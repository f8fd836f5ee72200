"""Data and formatting of the live view, without a terminal."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl.api import Key
from pyctrl.controller import (
    ChangeCause,
    Request,
    RetryCause,
)
from pyctrl.dev import Journal, Snapshot, view_of
from pyctrl.dev._view import ago
from tests.unit.dev._views import BOX, KIND, box, item, numbers, table


async def test_objects_have_their_columns_and_their_last_reconcile() -> None:
    """A row has kubectl's columns, and time, outcome and causes of the last reconcile."""
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
    """Without columns a row lists the true conditions by type, and the others with their reasons."""
    ready = {"type": "Ready", "status": "True"}
    late = {"type": "Ready", "status": "False", "reason": "Pulling"}
    shown = table(box("a", "5s", conditions=[ready]), box("b", "5s", conditions=[late, ready]), remainingItemCount=3)
    (found,) = view_of(Snapshot(now=0, name="boxes", tables=[("box", "Box", shown)]), Journal()).tables
    assert found.columns == ("Conditions", "Age")
    assert [row.cells for row in found.rows] == [("Ready", "5s"), ("not Ready: Pulling, Ready", "5s")]
    assert found.more == 3


async def test_controllers_have_rates_means_and_causes() -> None:
    """The rate covers the last ten seconds; mean and causes cover all reconciles."""
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
    """Repeated errors of an object share one row, which stays after a later success."""
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
    """An age has one unit, of which there are at least two."""
    assert ago(seconds) == text
