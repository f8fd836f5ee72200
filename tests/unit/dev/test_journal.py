"""Tests of the journal of reconciles: outcomes and errors."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pyctrl._stack_frames import CodeLine
from pyctrl.controller import Request, WorkItem
from pyctrl.dev import Journal, Snapshot, view_of
from pyctrl.manager import Blockage

BOX = Request("default", "a")


def item(request: Request = BOX, *causes: Any) -> WorkItem:
    return WorkItem(request=request, priority=0, causes=causes, failures=0)


async def test_a_call_that_blocked_the_loop_is_an_error_of_its_object() -> None:
    """A call that blocks the event loop is an error with the line and the duration."""
    journal, line = Journal(), CodeLine("operator.py", 7, "slow_helper", "operator")
    work = {"controller": "box", "namespace": "default", "name": "a", "reconcileID": "993fcadd"}
    for _ in range(2):
        journal.record_blockage(Blockage(took=timedelta(seconds=3.01), line=line, work=work))
    journal.record_blockage(Blockage(took=timedelta(seconds=1), line=None, work={}))
    other, row = view_of(Snapshot(now=0.0, name="box"), journal).errors
    assert (row.where, row.times) == ("box default/a", 2)
    assert row.error == "blocked the event loop for 3.0 s: run it with asyncio.to_thread (operator.py, line 7)"
    assert other.where.startswith("event loop")


async def test_a_reconcile_loop_is_an_error_of_its_object() -> None:
    """A reconcile loop is one counted error, which names the fields that each run writes."""
    journal = Journal()
    for _ in range(2):
        journal.loop_recorder("box")(BOX, "each run writes status.seen of Box default/a")
    (row,) = view_of(Snapshot(now=0.0, name="box"), journal).errors
    assert (row.where, row.times) == ("box default/a", 2)
    assert row.error.startswith("reconcile loop: each run writes status.seen of Box default/a; write only when")


@pytest.mark.parametrize(
    ("after", "shown"),
    [
        (timedelta(seconds=-62), "requeue now (negative delay)"),
        (timedelta(0), "requeue now"),
        (timedelta(milliseconds=2), "requeue in 0.002s"),
        (timedelta(seconds=47.2734), "requeue in 47.3s"),
        (timedelta(seconds=287.275342), "requeue in 4m47s"),
        (timedelta(hours=26, seconds=5), "requeue in 26h0m5s"),
    ],
)
async def test_requeue_delays_are_short(after: timedelta, shown: str) -> None:
    """Requeue delays have at most three digits or three units."""
    journal, done = Journal(), item()
    done.succeed(requeue_after=after)
    journal.reconcile_recorder("box")(done, timedelta(milliseconds=1))
    last = journal.last("box", BOX)
    assert last is not None
    assert last.outcome == shown


async def test_control_characters_are_escaped() -> None:
    """Control characters of an error message do not reach the terminal."""
    journal, failed = Journal(), item()
    failed.fail(ValueError("no\x1b[2J\u2028 boxes"))
    journal.reconcile_recorder("box")(failed, timedelta(0))
    (row,) = view_of(Snapshot(now=0.0, name="box"), journal).errors
    assert row.error.startswith("ValueError: no\\x1b[2J boxes")
