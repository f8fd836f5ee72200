"""Data and formatting of the live view, without a terminal."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl.api import Key
from pyctrl.controller import ChangeCause, Request, RetryCause, TimerCause
from pyctrl.dev import ControllerSnapshot, Journal, LastRun, RunResult, Snapshot, view_of
from pyctrl.dev._view import cause_text, result_text
from tests.unit.dev._views import BOX, KIND, box, item, numbers, table


def seen(**due: float) -> dict[str, ControllerSnapshot]:
    waiting = {Request("default", name): seconds for name, seconds in due.items()}
    return {"box": ControllerSnapshot(state="runs", why_not_ready="", statistics=numbers(), due=waiting)}


async def test_objects_have_their_columns_and_their_last_reconcile() -> None:
    """A row has kubectl's columns, and time, result and causes of the last reconcile."""
    journal, loop = Journal(), asyncio.get_running_loop()
    done = item(BOX, ChangeCause(KIND, Key("default", "a"), "created", "7"), TimerCause(timedelta(hours=24)))
    done.succeed(requeue_after=timedelta(seconds=200))
    journal.reconcile_recorder("box")(done, timedelta(milliseconds=12))
    await asyncio.sleep(150)
    shown = table(box("a", "5s", 3, True), box("b", "9s", 4, None), columns=("Name", "Age", "Size", "Ok"))
    view = view_of(
        Snapshot(now=loop.time(), name="boxes", tables=[("box", KIND, shown)], controllers=seen(a=50)), journal
    )
    (found,) = view.tables
    assert found.columns == ("Age", "Size", "Ok")
    first, second = found.rows
    assert (first.request, first.cells) == (BOX, ("5s", "3", "true"))
    assert (first.last, first.result) == ("2 m ago", "done, again in 50 s")
    assert first.causes == "requeued after 24 h, Box default/a created"
    assert (second.cells, second.last, second.result) == (("9s", "4", ""), "", "")


@pytest.mark.parametrize(
    ("result", "requeue_after", "due", "text"),
    [
        (RunResult.DONE, None, None, "done (1 ms)"),
        (RunResult.DONE, None, 3.0, "done (1 ms)"),
        (RunResult.DONE, timedelta(hours=24), 86_399.469708, "done, again in 24 h"),
        (RunResult.DONE, timedelta(0), 0.0, "done (1 ms)"),
        (RunResult.FAILED, None, 3.0, "failed after 1 ms, retry in 3 s"),
        (RunResult.FAILED, None, 0.0, "failed after 1 ms, retrying"),
        (RunResult.FAILED, None, None, "failed after 1 ms, retrying"),
        (RunResult.GAVE_UP, None, None, "failed after 1 ms, not retried"),
        (RunResult.INTERRUPTED, None, None, "interrupted by a reload"),
    ],
)
def test_a_result_has_the_duration_and_the_delay(
    result: RunResult, requeue_after: timedelta | None, due: float | None, text: str
) -> None:
    """The result of a reconcile says how long it took, and when the next one is due."""
    took = timedelta(milliseconds=1)
    run = LastRun(at=0.0, took=took, result=result, causes=(), requeue_after=requeue_after)
    assert result_text(run, due) == text


def test_an_object_that_was_not_reconciled_yet_may_be_queued() -> None:
    """Before its first reconcile an object is queued, or has no result."""
    assert (result_text(None, 0.0), result_text(None, None)) == ("queued", "")


def test_a_kind_without_columns_shows_its_conditions() -> None:
    """Without columns a row lists the true conditions by type, and the others with their reasons."""
    ready = {"type": "Ready", "status": "True"}
    late = {"type": "Ready", "status": "False", "reason": "Pulling"}
    shown = table(box("a", "5s", conditions=[ready]), box("b", "5s", conditions=[late, ready]), remainingItemCount=3)
    (found,) = view_of(Snapshot(now=0, name="boxes", tables=[("box", KIND, shown)]), Journal()).tables
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
    controllers = {
        "box": ControllerSnapshot(state="runs", why_not_ready="", statistics=statistics),
        "late": ControllerSnapshot(state="waits", why_not_ready="waits for rights: no", statistics=numbers()),
    }
    journal.loop_recorder("box")(BOX, "each run writes something")
    box_row, late = view_of(Snapshot(now=loop.time(), name="boxes", controllers=controllers), journal).controllers
    assert (box_row.reconciles, box_row.errors, box_row.delayed) == (20, 5, 4)
    assert box_row.rate == pytest.approx(0.9, abs=0.11)
    assert (box_row.mean, box_row.causes) == ("50 ms", "14 updated, 5 retry, 1 listed")
    assert box_row.detections == ("hot loop",)
    assert (late.state, late.is_ready, late.mean) == ("waits for rights: no", False, "")


async def fail(journal: Journal, name: str, message: str) -> None:
    failed = item(Request("default", name), RetryCause(1, "x"))
    failed.fail(OSError(message))
    journal.reconcile_recorder("box")(failed, timedelta(milliseconds=1))
    await asyncio.sleep(1)


async def test_objects_with_the_same_error_share_a_row() -> None:
    """An error row has the objects that fail with it, the latest first, and when the first one is retried."""
    journal, loop = Journal(), asyncio.get_running_loop()
    for name, error in (("a", "no disk"), ("b", "no net"), ("c", "no disk"), ("c", "no disk")):
        await fail(journal, name, error)
    shown = table(box("a", "5s"), box("b", "5s"), box("c", "5s"))
    look = Snapshot(now=loop.time(), name="boxes", tables=[("box", KIND, shown)], controllers=seen(c=3))
    rows = view_of(look, journal).errors
    assert [([each.name for each in row.requests], row.message, row.times, row.result) for row in rows] == [
        (["c", "a"], "OSError: no disk", 2, "failed after 1 ms, retry in 3 s"),
        (["b"], "OSError: no net", 1, "failed after 1 ms, retrying"),
    ]
    assert (rows[0].kind, rows[0].last, rows[1].last) == ("Box", "1 s ago", "3 s ago")
    (found,) = view_of(look, journal).tables
    assert [row.is_failed for row in found.rows] == [True, True, True]


async def test_the_error_of_a_deleted_object_is_gone_unless_it_is_retried() -> None:
    """An error disappears with its object. If the reconcile of the deletion fails, too, it stays until it succeeds."""
    journal = Journal()
    await fail(journal, "a", "no disk")
    gone = Snapshot(now=0.0, name="boxes", tables=[("box", KIND, table(box("b", "5s")))], controllers=seen())
    retried = Snapshot(now=0.0, name="boxes", tables=gone.tables, controllers=seen(a=3))
    assert view_of(gone, journal).errors == ()
    assert [row.message for row in view_of(retried, journal).errors] == ["OSError: no disk"]


async def test_an_object_that_is_not_listed_may_exist() -> None:
    """If the server has more objects than are listed, an error of one that is not listed is shown."""
    journal = Journal()
    await fail(journal, "a", "no disk")
    shown = table(box("b", "5s"), remainingItemCount=7)
    assert view_of(Snapshot(now=0.0, name="boxes", tables=[("box", KIND, shown)]), journal).errors


async def test_findings_are_shown_at_their_object() -> None:
    """A hot loop is the first of the errors, with its remedy, and marks the row of its object."""
    journal = Journal()
    await fail(journal, "a", "no disk")
    journal.loop_recorder("box")(BOX, "each run writes spec.size of Box default/a")
    view = view_of(Snapshot(now=9.0, name="boxes", tables=[("box", KIND, table(box("a", "5s")))]), journal)
    first, second = view.errors
    assert (first.title, first.requests, first.kind) == ("hot loop", (BOX,), "Box")
    assert first.fix.startswith("write only when something differs")
    assert second.title == "error"
    assert view.tables[0].rows[0].detections == ("hot loop",)


def test_a_cause_has_no_version_and_says_that_the_object_was_read() -> None:
    """Causes are shown without resource versions, and with what follows them."""
    cause = ChangeCause(KIND, Key("default", "a"), "updated", "7", was_read=True)
    assert cause_text(cause) == "Box default/a updated, which this reconcile read"
    assert cause_text(ChangeCause(KIND, Key("default", "a"), "created", "7")) == "Box default/a created"
