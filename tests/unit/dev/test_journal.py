"""Tests of the journal of reconciles: outcomes, errors and detections."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pyctrl._stack_frames import CodeLine
from pyctrl.api import GroupVersionKind
from pyctrl.controller import Request, UndeclaredRead
from pyctrl.dev import Journal, RunResult
from pyctrl.manager import Blockage
from tests.unit.dev._views import BOX, item

MILLISECOND = timedelta(milliseconds=1)


async def test_an_error_is_gone_after_a_success() -> None:
    """A failed object is among the failures until it succeeds, and counts its failures in a row."""
    journal = Journal()
    note = journal.reconcile_recorder("box")
    for _ in range(2):
        failed = item()
        failed.fail(OSError("no disk"))
        note(failed, MILLISECOND)
    ((key, run),) = journal.failures.items()
    assert key == ("box", BOX)
    assert (run.result, run.failures, run.error and run.error.message) == (RunResult.FAILED, 2, "OSError: no disk")
    done = item()
    done.succeed()
    note(done, MILLISECOND)
    assert journal.failures == {}


async def test_a_terminal_error_is_a_failure_without_a_retry() -> None:
    """A terminal error, even one without an exception, is a failure."""
    journal, failed = Journal(), item()
    failed.give_up()
    journal.reconcile_recorder("box")(failed, MILLISECOND)
    ((_, run),) = journal.failures.items()
    assert (run.result, run.error, run.failures) == (RunResult.GAVE_UP, None, 1)


async def test_a_call_that_blocked_the_loop_is_a_finding_about_its_object() -> None:
    """A call that blocks the event loop is a counted detection with the line, the duration and what to do."""
    journal, line = Journal(), CodeLine("operator.py", 7, "slow_helper", "operator")
    work = {"controller": "box", "namespace": "default", "name": "a", "reconcileID": "993fcadd"}
    for _ in range(2):
        journal.record_blockage(Blockage(took=timedelta(seconds=3.01), line=line, work=work))
    journal.record_blockage(Blockage(took=timedelta(seconds=1), line=line, work={}))
    library = CodeLine("site-packages/cyclopts/_run.py", 7, "run", "cyclopts")
    journal.record_blockage(Blockage(took=timedelta(seconds=1), line=library, work={}))
    other, found = journal.detections
    assert (found.controller, found.request, found.times) == ("box", BOX, 2)
    assert (found.message, found.place) == ("a call took 3 s", "operator.py, line 7")
    assert "asyncio.to_thread" in found.fix
    assert (other.controller, other.request.name) == ("", "")


async def test_a_reconcile_loop_is_a_finding_about_its_object() -> None:
    """A hot loop is one counted detection, which names the fields that each run writes."""
    journal = Journal()
    for _ in range(2):
        journal.loop_recorder("box")(BOX, "each run writes status.seen of Box default/a")
    (found,) = journal.detections
    assert (found.request, found.title, found.times) == (BOX, "hot loop", 2)
    assert found.message == "each run writes status.seen of Box default/a"


async def test_an_undeclared_read_is_a_finding_about_its_controller() -> None:
    """A read whose changes cause no reconcile is a detection with the line and what to do, one for each kind."""
    journal, line = Journal(), CodeLine("operator.py", 7, "reconcile", "operator")
    for kind in ("Secret", "Service"):
        journal.record_undeclared_read(UndeclaredRead("box", GroupVersionKind("", "v1", kind), line))
    other, found = journal.detections
    assert (found.controller, found.request.name, found.place) == ("box", "", "operator.py, line 7")
    assert (found.title, other.title) == ("undeclared read of Secret", "undeclared read of Service")
    assert "reads = (Secret,)" in found.fix


async def test_a_new_version_has_no_detections() -> None:
    """Detections are about code: a reload forgets them, and the runs of controllers that it no longer has."""
    journal = Journal()
    for controller in ("box", "old"):
        journal.loop_recorder(controller)(BOX, "each run writes something")
        failed = item()
        failed.fail(OSError("no disk"))
        journal.reconcile_recorder(controller)(failed, MILLISECOND)
    journal.forget_version(["box"])
    assert journal.detections == ()
    assert list(journal.failures) == [("box", BOX)]


async def test_the_newest_failure_is_first() -> None:
    """Failures are listed by the time of the last one."""
    journal = Journal()
    note = journal.reconcile_recorder("box")
    for name in ("a", "b", "a"):
        failed = item(Request("default", name))
        failed.fail(OSError("no disk"))
        note(failed, MILLISECOND)
        await asyncio.sleep(1)
    assert [request.name for _, request in journal.failures] == ["a", "b"]


async def test_control_characters_are_escaped() -> None:
    """Control characters of an error message do not reach the terminal."""
    journal, failed = Journal(), item()
    failed.fail(ValueError("no\x1b[2J\u2028 boxes"))
    journal.reconcile_recorder("box")(failed, timedelta(0))
    run = journal.last("box", BOX)
    assert run is not None
    assert run.error is not None
    assert run.error.message == "ValueError: no\\x1b[2J boxes"
    assert "\x1b" not in "".join(run.error.text)
