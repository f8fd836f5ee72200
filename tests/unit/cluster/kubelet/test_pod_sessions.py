"""Sessions of clients in a pod."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.cluster._kubelet.pod_sessions import PodSessions


async def test_a_session_has_its_times_and_exit_code() -> None:
    """A command that ended has its exit code; an attached client has none."""
    sessions = PodSessions()
    began = asyncio.get_running_loop().time()
    assert await sessions.record("exec", "a", asyncio.sleep(2, 7), command=["ls", "-l"]) == 7
    await sessions.record("attach", "a", asyncio.sleep(0, 0))
    ran, attached = sessions.latest
    assert (ran.command, ran.began, ran.ended, ran.exit_code) == (("ls", "-l"), began, began + 2, 7)
    assert (attached.exit_code, attached.error) == (None, "")


async def test_a_failed_session_has_its_error() -> None:
    """An exception is recorded and raised; one without a message by its type. A cancelled session has ended."""
    sessions = PodSessions()
    with pytest.raises(OSError, match="no database"):
        await sessions.record("exec", "a", _fail(OSError("no database")))
    with pytest.raises(TimeoutError):
        await sessions.record("exec", "a", _fail(TimeoutError()))
    with pytest.raises(asyncio.CancelledError):
        await sessions.record("exec", "a", _fail(asyncio.CancelledError()))
    assert [each.error for each in sessions.latest] == ["no database", "TimeoutError", ""]
    assert all(each.ended is not None for each in sessions.latest)


async def test_the_latest_fifty_are_kept() -> None:
    """Older sessions are forgotten."""
    sessions = PodSessions()
    for number in range(60):
        await sessions.record("exec", "a", asyncio.sleep(0, number))
    assert [each.exit_code for each in sessions.latest] == list(range(10, 60))


async def _fail(error: BaseException) -> int:
    raise error
