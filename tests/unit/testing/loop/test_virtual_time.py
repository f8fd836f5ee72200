"""Virtual time: waiting takes no real time, and a hang is an error."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pyctrl import _clock
from pyctrl.testing import Deadlock, OutsideWorld, Runaway, Spinning, VirtualTimeError, VirtualTimeLoop, run_virtual


def test_hours_pass_at_once() -> None:
    """Three hours of ten-second ticks end at exactly three hours, on the monotonic and on the wall clock."""

    async def main() -> tuple[float, datetime]:
        for _ in range(3 * 360):
            await asyncio.sleep(10)
        return asyncio.get_running_loop().time(), _clock.now()

    start = datetime(2030, 5, 1, tzinfo=UTC)

    assert run_virtual(main(), start=start) == (10800.0, start + timedelta(hours=3))


def test_wall_time_is_given_back() -> None:
    """After a virtual run, wall time is the system's again."""

    async def main() -> None:
        assert _clock.now() == datetime(2026, 1, 1, tzinfo=UTC)

    run_virtual(main())

    assert abs(_clock.now() - datetime.now(UTC)) < timedelta(minutes=1)


def test_timers_ring_in_order() -> None:
    """Sleeping tasks wake in the order of their deadlines, not of their start."""
    rang: list[int] = []

    async def ring(after: int) -> None:
        await asyncio.sleep(after)
        rang.append(after)

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for after in (30, 10, 86000, 20):
                group.create_task(ring(after))

    run_virtual(main())

    assert rang == [10, 20, 30, 86000]


def test_timeouts_expire() -> None:
    """A timeout around an endless wait expires exactly at its time."""

    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(290):
                await asyncio.Event().wait()
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 290


def test_deadlock_names_who_waits() -> None:
    """The error about a deadlock names each waiting task and its line."""

    async def waits_for_godot() -> None:
        await asyncio.Queue[int]().get()

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(waits_for_godot(), name="vladimir")

    with pytest.raises(Deadlock, match=r"vladimir .*waits_for_godot\) at .*test_virtual_time\.py:\d+ in "):
        run_virtual(main())


def test_deadlock_cleans_up() -> None:
    """The tasks of a deadlock are cancelled, and their clean-up may wait."""
    cleaned_up = False

    async def main() -> None:
        nonlocal cleaned_up
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(30)
            cleaned_up = True

    with pytest.raises(Deadlock):
        run_virtual(main())
    assert cleaned_up


def test_runaway_is_stopped() -> None:
    """A program with endless timers is stopped at the limit of virtual time."""

    async def main() -> None:
        while True:
            await asyncio.sleep(60)

    with pytest.raises(Runaway, match=r"passed 1 day, 0:00:00.*\n.*main"):
        run_virtual(main())
    with pytest.raises(Runaway, match="passed 0:05:00"):
        run_virtual(main(), limit=timedelta(minutes=5))


def test_spinning_is_found() -> None:
    """A program that retries without a pause is an error, not a hang."""

    async def main() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(Spinning, match="main"):
        run_virtual(main())


def ring(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


def test_a_timer_that_rings_a_little_early_has_come() -> None:
    """Timers less than a microsecond away fire at once, and the clock then shows their time."""
    moment = 5.0

    async def wait(turns: int) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(moment - 3e-7)
        for _ in range(turns):
            await asyncio.sleep(0)
        while loop.time() < moment:
            waiter: asyncio.Future[None] = loop.create_future()
            loop.call_at(moment, ring, waiter)
            await waiter

    async def main() -> None:
        await asyncio.gather(wait(0), wait(1))

    run_virtual(main())


@pytest.mark.slow("half a million timers")
def test_timers_of_a_microsecond_are_spinning_too() -> None:
    """Timers of a microsecond raise `Spinning`: the limit of virtual time would be reached in days."""

    async def main() -> None:
        while True:
            await asyncio.sleep(0.000_001)

    with pytest.raises(Spinning, match="500,000 iterations within one second"):
        run_virtual(main())


async def _thread() -> None:
    await asyncio.to_thread(print)


async def _connection() -> None:
    await asyncio.open_connection("localhost", 1)


async def _server() -> None:
    await asyncio.start_server(lambda _reader, _writer: None, "localhost", 0)


async def _process() -> None:
    await asyncio.create_subprocess_exec("true")


@pytest.mark.parametrize("main", [_thread, _connection, _server, _process])
def test_outside_world_is_refused(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Threads, sockets and processes are refused, with an alternative in the message."""
    with pytest.raises(OutsideWorld, match="mark the test real_time"):
        run_virtual(main())


def test_foreign_thread_is_refused() -> None:
    """A call from another thread into the loop raises an error: the program would depend on real time."""
    refusals: list[OutsideWorld] = []

    def reach_in(loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.call_soon_threadsafe(print)
        except OutsideWorld as refusal:
            refusals.append(refusal)

    async def main() -> None:
        thread = threading.Thread(target=reach_in, args=(asyncio.get_running_loop(),))
        thread.start()
        thread.join()

    run_virtual(main())

    assert len(refusals) == 1


def test_signals_can_be_sent() -> None:
    """A signal sent to the loop reaches the program's handler, and without one is an error."""

    async def main() -> str:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        received: asyncio.Future[str] = loop.create_future()
        loop.add_signal_handler(signal.SIGTERM, received.set_result, "asked to stop")
        loop.send_signal(signal.SIGTERM)
        answer = await received
        assert loop.remove_signal_handler(signal.SIGTERM)
        with pytest.raises(VirtualTimeError, match="no handler"):
            loop.send_signal(signal.SIGTERM)
        return answer

    assert run_virtual(main()) == "asked to stop"


async def test_unit_tests_run_in_virtual_time() -> None:
    """The async tests of this directory run in virtual time without a marker."""
    await asyncio.sleep(3600)

    assert asyncio.get_running_loop().time() == 3600


@pytest.mark.virtual_time(limit=timedelta(days=365))
async def test_limit_can_be_raised() -> None:
    """A marked test may raise the limit to a year."""
    await asyncio.sleep(364 * 86400)


@pytest.mark.real_time
async def test_real_time_can_be_asked_for() -> None:
    """A test marked real_time has threads and the machine's clock."""
    assert not isinstance(asyncio.get_running_loop(), VirtualTimeLoop)
    assert await asyncio.to_thread(lambda: 1) == 1
