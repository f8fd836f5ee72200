"""Lifecycle: start order, stop order, grace period, signals and failures, in virtual time."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import nullcontext

import pytest

from pyctrl.errors import GracePeriodExceeded, ManagerError
from pyctrl.manager._runnables.runnable_group import Group
from tests.unit.manager.runnables._lifecycles import Life, Worker, make, now, run_until, send


async def test_groups_start_in_order_and_stop_in_reverse() -> None:
    """Each group starts once the previous one is ready, and stops once the next one has ended."""
    lifecycle, journal = make(), list[str]()
    for group in reversed(Group):
        lifecycle.add(Life(group, journal, ready_after=1, cleanup=1), group)
    await run_until(lifecycle, 60)

    ups = [f"{group} {what}" for group in Group for what in ("starts", "is ready")]
    assert journal == ups + [f"{group} ends" for group in reversed(Group)]
    assert now() == 60 + len(Group)


async def test_started_and_elected_tell_how_far_it_is() -> None:
    """A standby is started; it is elected once the election is ready and the elected groups have started."""
    lifecycle = make()
    lifecycle.add(Life("election", [], ready_after=10), Group.ELECTION)
    running = asyncio.create_task(run_until(lifecycle, 20))

    await lifecycle.started.wait()
    assert (now(), lifecycle.elected.is_set()) == (0, False)
    await lifecycle.elected.wait()
    assert now() == 10
    await running


async def test_a_runnable_added_while_running_starts_at_once() -> None:
    """A runnable added at run time starts at once, and stops with its group."""
    lifecycle, journal = make(), list[str]()
    running = asyncio.create_task(run_until(lifecycle, 10))
    await asyncio.sleep(5)
    lifecycle.add(Life("late", journal), Group.OTHERS)
    await asyncio.sleep(1)
    assert journal == ["late starts"]

    await running
    assert journal == ["late starts", "late ends"]


async def test_nothing_can_be_added_once_stopping_has_begun() -> None:
    """A runnable that is added during shutdown is refused."""
    lifecycle = make()
    await run_until(lifecycle, 1)
    with pytest.raises(ManagerError, match="can't accept new runnable"):
        lifecycle.add(Life("too late", []), Group.OTHERS)


async def test_it_runs_once() -> None:
    """A second call of run is an error."""
    lifecycle = make()
    await run_until(lifecycle, 1)
    with pytest.raises(ManagerError, match="runs only once"):
        await lifecycle.run(handle_signals=False)


async def test_the_first_failure_stops_everything_and_is_raised(caplog: pytest.LogCaptureFixture) -> None:
    """The first failure stops all groups in order and is raised unchanged; later failures are logged."""
    lifecycle, journal = make(), list[str]()

    async def fail() -> None:
        await asyncio.sleep(3)
        async with asyncio.TaskGroup() as group:
            group.create_task(raise_error(KeyError("first")))

    async def fail_while_stopping() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("second")

    lifecycle.add(Life("server", journal), Group.SERVERS)
    lifecycle.add(fail, Group.ELECTED)
    lifecycle.add(fail_while_stopping, Group.OTHERS)
    with pytest.raises(KeyError, match="first"):
        await lifecycle.run(handle_signals=False)

    assert journal[-1] == "server ends"
    assert now() == 3
    assert "error received after stop sequence was engaged" in caplog.messages


async def raise_error(error: Exception) -> None:
    raise error


async def test_a_failure_to_become_ready_stops_everything() -> None:
    """A cache that does not sync ends the manager with the cache's error; later groups never start."""
    lifecycle, journal = make(), list[str]()

    class NeverReady(Life):
        async def wait_until_ready(self) -> None:
            await asyncio.sleep(120)
            raise TimeoutError("the first list")

    lifecycle.add(NeverReady("cache", journal), Group.CACHES)
    lifecycle.add(Life("controller", journal), Group.ELECTED)
    with pytest.raises(TimeoutError, match="the first list"):
        await lifecycle.run(handle_signals=False)

    assert journal == ["cache starts", "cache ends"]


async def test_work_is_finished_within_the_grace_period() -> None:
    """Stoppable runnables are stopped within the grace period, and not cancelled."""
    lifecycle, journal = make(), list[str]()
    lifecycle.add(Worker("worker", journal, work=29), Group.ELECTED)
    await run_until(lifecycle, 10)

    assert journal == ["worker starts", "worker ends"]
    assert now() == 39


async def test_no_grace_cancels_at_once_and_is_no_error() -> None:
    """A grace period of zero cancels runnables at once, without an error."""
    lifecycle, journal = make(grace=0), list[str]()
    lifecycle.add(Worker("worker", journal, work=20), Group.ELECTED)
    await run_until(lifecycle, 10)

    assert journal[-1] == "worker is cancelled"
    assert now() == 10


async def test_the_first_signal_drains() -> None:
    """After SIGTERM, work in progress is finished."""
    lifecycle, journal = make(), list[str]()
    lifecycle.add(Worker("worker", journal, work=10), Group.ELECTED)
    asyncio.get_running_loop().call_at(5, send, signal.SIGTERM)
    await lifecycle.run(handle_signals=True)

    assert journal == ["worker starts", "worker ends"]
    assert now() == 15


async def test_the_second_signal_cancels_what_is_left(caplog: pytest.LogCaptureFixture) -> None:
    """A second SIGINT cancels all tasks; the error names slow runnables, the log those that had no time."""
    lifecycle, journal = make(), list[str]()
    lifecycle.add(Worker("worker", journal, work=25), Group.ELECTED)
    lifecycle.add(Worker("other", journal, work=25), Group.OTHERS)
    for moment in (5, 6):
        asyncio.get_running_loop().call_at(moment, send, signal.SIGINT)
    with pytest.raises(GracePeriodExceeded, match=r"asked a second time: elected/worker$"):
        await lifecycle.run(handle_signals=True)

    told = {record.getMessage(): record.__dict__ for record in caplog.records}
    assert told["Grace period is over, cancelling remaining runnables"]["runnables"] == ["others/other"]
    assert sorted(journal[-2:]) == ["other is cancelled", "worker is cancelled"]
    assert now() == 6


@pytest.mark.parametrize("again", ["signal", "ask", "cancel"])
async def test_a_second_stop_does_not_interrupt_cleanup(again: str, caplog: pytest.LogCaptureFixture) -> None:
    """A `finally` that runs since the first stop is finished after a second one, and is interrupted 5 s later."""
    lifecycle, journal = make(), list[str]()
    lifecycle.add(Life("quick", journal, cleanup=4), Group.ELECTED)
    lifecycle.add(Life("slow", journal, cleanup=20), Group.ELECTED)
    running = asyncio.create_task(lifecycle.run(handle_signals=True))
    await asyncio.sleep(5)
    lifecycle.ask_to_stop()
    await asyncio.sleep(1)
    stops: dict[str, Callable[[], object]] = {
        "signal": lambda: send(signal.SIGTERM),
        "ask": lifecycle.ask_to_stop,
        "cancel": running.cancel,
    }
    stops[again]()
    await asyncio.wait([running])

    assert journal[-1] == "quick ends"
    assert now() == 6 + 5
    slow = "cancelled runnables that had not stopped when asked a second time: elected/slow"
    if again == "cancel":
        assert running.cancelled()
        assert f"error dropped during shutdown: {slow}" in caplog.messages
    else:
        with pytest.raises(GracePeriodExceeded, match=slow):
            await running
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_two_stops_at_the_same_moment_are_urgent() -> None:
    """A second stop that comes before the manager has noticed the first one cancels the runnables at once."""
    lifecycle, journal = make(), list[str]()
    lifecycle.add(Worker("worker", journal, work=25), Group.ELECTED)
    running = asyncio.create_task(lifecycle.run(handle_signals=False))
    await asyncio.sleep(5)
    lifecycle.ask_to_stop()
    lifecycle.ask_to_stop()
    await asyncio.wait([running])

    assert journal == ["worker starts", "worker is cancelled"]
    assert now() == 5
    assert running.exception() is None  # it had no time, so nothing was exceeded


async def test_the_first_failure_is_the_one_that_is_raised(caplog: pytest.LogCaptureFixture) -> None:
    """Of two runnables that fail, the first error is raised, and the second one, during the stop, is logged."""
    lifecycle = make()

    def fails(at: float, text: str) -> Callable[[], Coroutine[None, None, None]]:
        async def run() -> None:
            try:
                await asyncio.sleep(at)
            finally:
                raise ValueError(text)

        return run

    lifecycle.add(fails(5, "first"), Group.ELECTED)
    lifecycle.add(Worker("slow", [], work=10), Group.ELECTED)
    lifecycle.add(fails(10, "second"), Group.OTHERS)  # before its group is asked to stop
    with pytest.raises(ValueError, match="first"):
        await lifecycle.run(handle_signals=False)
    assert "error received after stop sequence was engaged" in caplog.messages


async def test_cancelling_stops_in_order() -> None:
    """A cancelled run stops all groups with their grace period, then raises CancelledError."""
    lifecycle, journal = make(), list[str]()
    lifecycle.add(Worker("worker", journal, work=10), Group.ELECTED)
    refused = asyncio.get_running_loop().create_future()

    def add_late() -> None:
        with pytest.raises(ManagerError):
            lifecycle.add(Life("late", journal), Group.OTHERS)
        refused.set_result(None)

    asyncio.get_running_loop().call_at(7, add_late)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(5):
            await lifecycle.run(handle_signals=False)

    assert refused.done()
    assert journal == ["worker starts", "worker ends"]
    assert now() == 15


async def test_cancelling_twice_leaves_nothing_behind() -> None:
    """A second cancel during the grace period cancels every group at once; no task is leaked."""
    lifecycle, journal = make(), list[str]()
    for group in (Group.ELECTED, Group.CACHES, Group.SERVERS):
        lifecycle.add(Worker(group, journal, work=25), group)
    running = asyncio.create_task(lifecycle.run(handle_signals=False))
    await asyncio.sleep(5)
    running.cancel()
    await asyncio.sleep(1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert journal[3:] == ["elected is cancelled", "caches is cancelled", "servers is cancelled"]
    assert now() == 6
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_signal_while_starting_stops_what_has_started() -> None:
    """A manager that waits for its caches can be stopped; groups that have not started never start."""
    lifecycle, journal = make(), list[str]()
    lifecycle.add(Life("cache", journal, ready_after=100), Group.CACHES)
    lifecycle.add(Life("controller", journal), Group.ELECTED)
    await run_until(lifecycle, 10)

    assert journal == ["cache starts", "cache ends"]


async def test_a_signal_is_for_every_manager_of_the_loop() -> None:
    """Signals reach every running manager of the loop, and each manager counts its own first and second signal."""
    journal = list[str]()
    works = {"short": 1.0, "long": 25.0, "longer": 25.0}
    lifecycles = {name: make() for name in works}
    for name, lifecycle in lifecycles.items():
        lifecycle.add(Worker(name, journal, work=works[name]), Group.ELECTED)
    running = {name: asyncio.create_task(each.run(handle_signals=True)) for name, each in lifecycles.items()}
    await asyncio.sleep(10)
    lifecycles["short"].ask_to_stop()
    await running["short"]
    assert journal == ["short starts", "long starts", "longer starts", "short ends"]

    send(signal.SIGTERM)
    await asyncio.sleep(5)
    lifecycles["long"].ask_to_stop()  # the second signal, for this manager alone
    with pytest.raises(GracePeriodExceeded, match="asked a second time: elected/long"):
        await running["long"]
    assert now() == 16
    await running["longer"]
    assert (now(), journal[-1]) == (36, "longer ends")
    with pytest.raises(AssertionError, match="it has no handler"):
        send(signal.SIGTERM)


@pytest.mark.parametrize(("later", "error"), [(0, None), (0.09, None), (0.2, GracePeriodExceeded)])
async def test_a_signal_that_is_sent_twice_at_once_is_one(later: float, error: type[Exception] | None) -> None:
    """A signal sent twice at once, as by `timeout -s TERM`, counts once; a signal a moment later cancels the work."""
    lifecycle, journal = make(), list[str]()
    lifecycle.add(Worker("worker", journal, work=15.0), Group.ELECTED)
    running = asyncio.create_task(lifecycle.run(handle_signals=True))
    await asyncio.sleep(10)
    send(signal.SIGTERM)
    asyncio.get_running_loop().call_later(later, send, signal.SIGTERM)
    with pytest.raises(error) if error else nullcontext():
        await running
    assert (now(), journal[-1] == "worker ends") == ((10.2, False) if error else (25, True))


async def test_a_failure_while_it_is_being_cancelled_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """If run is cancelled while it stops after a failure, it raises the cancellation; the log has the failure."""
    lifecycle = make()

    async def fail() -> None:
        await asyncio.sleep(3)
        raise KeyError("the reason")

    lifecycle.add(fail, Group.OTHERS)
    lifecycle.add(Worker("worker", [], work=60), Group.ELECTED)
    running = asyncio.create_task(lifecycle.run(handle_signals=False))
    await asyncio.sleep(5)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    told = [text for text in caplog.messages if text.startswith("error dropped during shutdown")]
    assert ["the reason" in told[0], "asked a second time: elected/worker" in told[1]] == [True, True]


async def test_what_becomes_ready_while_stopping_starts_nothing() -> None:
    """A cache that syncs during shutdown does not start the controllers."""

    class LastMoment(Worker):
        async def wait_until_ready(self) -> None:
            await self.asked.wait()

    lifecycle, journal = make(), list[str]()
    lifecycle.add(LastMoment("cache", journal, work=5), Group.CACHES)
    lifecycle.add(Life("controller", journal), Group.ELECTED)
    await run_until(lifecycle, 10)

    assert journal == ["cache starts", "cache ends"]
    assert not lifecycle.started.is_set()
