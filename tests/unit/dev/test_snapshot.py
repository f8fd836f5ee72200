"""Snapshots of a session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pyctrl.controller import Request
from pyctrl.dev import SessionState, take_snapshot, view_of
from tests.unit.dev._programs import PROGRAM
from tests.unit.dev._sessions import box_session

pytestmark = pytest.mark.usefixtures("imports_as_before")

FAILS = PROGRAM.replace("if box is None:", "raise OSError('no disk')\n        if box is None:")


async def test_a_snapshot_has_the_objects_and_the_queue(tmp_path: Path) -> None:
    """A snapshot has kubectl's table of each kind, and the time until a failed object is retried."""
    async with box_session(tmp_path, FAILS) as session:
        await asyncio.sleep(3)
        snapshot = await take_snapshot(session)
        assert (snapshot.name, snapshot.state, snapshot.reloads) == ("boxes", SessionState.RUNNING, 0)
        ((controller, kind, table),) = snapshot.tables
        assert (controller, kind.kind, len(table["rows"])) == ("box", "Box", 1)
        assert 0 < snapshot.controllers["box"].due[Request("default", "sample")] < 6
        (error,) = view_of(snapshot, session.journal).errors
        assert error.message == "OSError: no disk"
        assert ", retry in " in error.result


async def test_a_corrected_error_is_gone(tmp_path: Path) -> None:
    """After a save without the mistake the view has no errors."""
    async with box_session(tmp_path, FAILS) as session:
        await asyncio.sleep(3)
        assert view_of(await take_snapshot(session), session.journal).errors
        (tmp_path / "boxes.py").write_text(PROGRAM)
        await asyncio.sleep(3)
        view = view_of(await take_snapshot(session), session.journal)
        assert (view.errors, view.reloads) == ((), 1)
        assert view.tables[0].rows[0].result.startswith("done")


async def test_a_program_that_does_not_run_has_no_controllers(tmp_path: Path) -> None:
    """While no version of the program runs, objects are shown without controllers."""
    ends = (
        "\n\ndef add_boxes(manager):\n    async def ends():\n        raise OSError('no disk')\n    manager.add(ends)\n"
    )
    async with box_session(
        tmp_path,
        PROGRAM
        + ends.replace(
            "    manager", "    from pyctrl import Builder\n    Builder(manager).build(BoxReconciler())\n    manager"
        ),
    ) as session:
        await asyncio.sleep(3)
        snapshot = await take_snapshot(session)
        assert (snapshot.state, dict(snapshot.controllers)) == (SessionState.STOPPED, {})
        assert snapshot.problems[0].message == "boxes failed: OSError: no disk"
        assert snapshot.tables
