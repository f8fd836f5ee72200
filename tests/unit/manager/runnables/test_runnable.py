"""Runnables and their handles: kinds, names, and failures to stop."""

from __future__ import annotations

from typing import cast

import pytest

from pyctrl.errors import ManagerError
from pyctrl.manager._runnables.runnable_group import Group
from tests.unit.manager.runnables._lifecycles import Life, make, now, run_until


async def test_a_runnable_may_be_an_async_function_and_may_return_early() -> None:
    """A function that returns is done: the manager neither restarts it nor stops."""
    lifecycle, done = make(), list[float]()

    async def once() -> None:
        done.append(now())

    lifecycle.add(once, Group.OTHERS)
    await run_until(lifecycle, 5)

    assert done == [0]
    assert now() == 5


async def test_what_is_not_a_runnable_is_refused() -> None:
    """`add` raises an error with the expected types."""
    with pytest.raises(ManagerError, match="async def run"):
        make().add(cast(Life, 5), Group.OTHERS)


async def test_a_runnable_that_fails_when_asked_is_cancelled(caplog: pytest.LogCaptureFixture) -> None:
    """If stopping a runnable fails, the error is logged and the runnable is cancelled."""

    class Rude(Life):
        def ask_to_stop(self) -> None:
            raise ValueError("no")

    lifecycle, journal = make(), list[str]()
    lifecycle.add(Rude("rude", journal), Group.OTHERS)
    await run_until(lifecycle, 10)

    assert journal[-1] == "rude ends"
    assert "Failed to ask a runnable to stop, cancelling it" in caplog.messages
