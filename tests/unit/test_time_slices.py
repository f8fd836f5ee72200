"""Time slices, with which work that never waits lets the event loop run."""

from __future__ import annotations

import asyncio
import gc
import weakref
from itertools import pairwise

from pyctrl._time_slices import SLICE, STEPS, TimeSlice
from tests.unit.controller._turns import Turns


async def renewed() -> TimeSlice:
    slice_ = TimeSlice.current()
    await slice_.renew()
    return slice_


async def test_a_slice_ends_after_its_time_or_its_steps() -> None:
    """A slice ends after its time, or after many steps in virtual time."""
    now = asyncio.get_running_loop().time()
    slice_ = await renewed()
    assert not slice_.is_over(now + SLICE / 2)
    assert slice_.is_over(now + SLICE)

    slice_ = await renewed()
    assert [slice_.is_over(now) for _ in range(STEPS)] == [False] * (STEPS - 1) + [True]


async def test_all_work_of_a_loop_shares_one_slice() -> None:
    """All tasks that never wait share one slice in each iteration of the loop."""
    tasks, turns = 10, Turns()

    async def work() -> None:
        for _ in range(3 * STEPS):
            turns.step()
            await TimeSlice.current().step()

    await asyncio.gather(*(work() for _ in range(tasks)))
    assert turns.most <= STEPS + tasks


async def test_who_waits_gets_a_slice_in_turn() -> None:
    """Each iteration of the loop runs one waiting task, in order; a cancelled one is skipped."""
    order: list[int] = []

    async def wait(number: int) -> None:
        await TimeSlice.current().renew()
        order.append(number)

    tasks = [asyncio.create_task(wait(number)) for number in range(4)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    seen = []
    for _ in range(6):
        await asyncio.sleep(0)
        seen.append(len(order))

    assert order == [0, 2, 3]
    assert max(later - earlier for earlier, later in pairwise(seen)) == 1
    assert tasks[1].cancelled()


def test_a_slice_keeps_no_loop() -> None:
    """A closed loop and its slice are garbage-collected."""

    async def use() -> None:
        await renewed()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(use())
    loop.close()
    gone = weakref.ref(loop)
    del loop
    gc.collect()
    assert gone() is None
