"""Groups of runnables: shared grace period, cancellation, log lines."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import cast

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Config, WriteGate
from pyctrl.errors import GracePeriodExceeded
from pyctrl.manager import Manager
from pyctrl.manager._runnables.runnable_group import Group
from tests.unit.manager.runnables._lifecycles import Life, Worker, make, now, run_until


class Open:
    """A gate that permits every write."""

    def check(self, request: object) -> None: ...

    def sent(self, answer: object) -> None: ...


async def test_one_grace_period_is_for_all_groups_together() -> None:
    """Runnables that run beyond the shared grace period are cancelled and named; later groups get no more time."""
    lifecycle, journal = make(grace=30), list[str]()
    lifecycle.add(Worker("slow", journal, work=20), Group.ELECTED)
    lifecycle.add(Worker("slower", journal, work=20), Group.OTHERS)
    with pytest.raises(GracePeriodExceeded, match=r"grace period of 0:00:30: others/slower"):
        await run_until(lifecycle, 10)

    assert journal == ["slower starts", "slow starts", "slow ends", "slower is cancelled"]
    assert now() == 40


async def test_who_comes_after_the_grace_period_and_ends_at_once_is_not_blamed() -> None:
    """The error names only runnables that were requested to stop and did not, not those that had no time."""
    lifecycle = make(grace=30)
    lifecycle.add(Worker("slow", [], work=60), Group.ELECTED)
    lifecycle.add(Life("cache", []), Group.CACHES)
    with pytest.raises(GracePeriodExceeded, match=r"0:00:30: elected/slow$"):
        await run_until(lifecycle, 10)


async def test_who_ignores_cancellation_is_left_behind_with_a_message(caplog: pytest.LogCaptureFixture) -> None:
    """Stopping ends even if a runnable swallows CancelledError; the log names the runnable."""
    lifecycle, let_go = make(grace=1), asyncio.Event()

    async def stubborn() -> None:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue

    lifecycle.add(stubborn, Group.OTHERS)
    with pytest.raises(GracePeriodExceeded):
        await run_until(lifecycle, 10)

    assert now() == 10 + 1 + 5
    assert "Runnable did not end when cancelled, abandoning it" in caplog.messages
    let_go.set()
    await asyncio.sleep(0)


async def test_no_farewell_to_servers_where_there_are_none(caplog: pytest.LogCaptureFixture) -> None:
    """Without HTTP servers no log line about stopping servers appears, although every manager writes events."""
    caplog.set_level("INFO", logger="pyctrl.manager")
    async with Manager(Config.in_process(ApiServer())) as manager:
        manager.add(Life("worker", []))
        async with manager.running():
            pass

    assert [text for text in caplog.messages if text.startswith("Stopping")] == [
        "Stopping and waiting for leader election runnables",
        "Stopping and waiting for caches",
    ]


async def test_elected_work_that_has_ended_is_not_asked_to_stop() -> None:
    """Elected work that has ended is not stopped: it would stop at once when run again in the next term."""
    lifecycle, journal = make(), list[str]()
    worker = Worker("worker", journal, work=0)

    async def elect() -> None:
        await asyncio.Event().wait()

    lifecycle.elect(elect, cast(WriteGate, Open()), restarts=True)
    lifecycle.add(worker, Group.ELECTED)
    running = asyncio.create_task(run_until(lifecycle, 60))
    await asyncio.sleep(5)
    worker.asked.set()  # the work ends without a request
    await asyncio.sleep(1)
    worker.asked.clear()
    await lifecycle.stop_elected(timedelta(seconds=1))
    lifecycle.restart_elected()
    await asyncio.sleep(1)
    assert journal == ["worker starts", "worker ends", "worker starts"]
    await running


async def test_a_stop_after_a_stop_does_not_interrupt_cleanup() -> None:
    """Elected work that cleans up because the lease was lost is not cancelled again when the manager stops, too."""
    lifecycle, journal = make(), list[str]()
    lifecycle.elect(asyncio.Event().wait, cast(WriteGate, Open()), restarts=True)  # type: ignore[arg-type]
    lifecycle.add(Life("work", journal, cleanup=3), Group.ELECTED)
    running = asyncio.create_task(run_until(lifecycle, 6))
    await asyncio.sleep(5)
    await asyncio.gather(lifecycle.stop_elected(timedelta(seconds=10)), running)
    assert journal == ["work starts", "work is ready", "work ends"]
    assert now() == 8


async def test_elected_work_that_is_added_while_a_term_ends_waits_for_the_next_term() -> None:
    """A runnable that is added while the elected ones stop is not started before this replica leads again."""
    lifecycle, journal = make(), list[str]()
    lifecycle.elect(asyncio.Event().wait, cast(WriteGate, Open()), restarts=True)  # type: ignore[arg-type]
    lifecycle.add(Life("slow", journal, cleanup=3), Group.ELECTED)
    running = asyncio.create_task(run_until(lifecycle, 60))
    await asyncio.sleep(5)
    stopping = asyncio.create_task(lifecycle.stop_elected(timedelta(seconds=10)))
    await asyncio.sleep(1)
    lifecycle.add(Life("late", journal), Group.ELECTED)
    await stopping
    await asyncio.sleep(5)
    assert "late starts" not in journal
    lifecycle.restart_elected()
    await asyncio.sleep(1)
    assert journal.count("late starts") == 1
    await running
