"""Time slices: work that never waits lets the event loop turn."""

from __future__ import annotations

import asyncio
import gc
import weakref

from pyctrl._slices import SLICE, STEPS, Slice
from tests.unit.controller._turns import Turns


async def renewed() -> Slice:
    slice_ = Slice.current()
    await slice_.renew()
    return slice_


async def test_a_slice_ends_after_its_time_or_its_steps() -> None:
    """A step that took long ends it, and so do many that took none, as in virtual time."""
    now = asyncio.get_running_loop().time()
    slice_ = await renewed()
    assert not slice_.is_over(now + SLICE / 2)
    assert slice_.is_over(now + SLICE)

    slice_ = await renewed()
    assert [slice_.is_over(now) for _ in range(STEPS)] == [False] * (STEPS - 1) + [True]


async def test_all_work_of_a_loop_shares_one_slice() -> None:
    """However many tasks never wait, a turn of the loop has one slice, and a step for each of the others."""
    tasks, turns = 10, Turns()

    async def work() -> None:
        slice_, time = Slice.current(), asyncio.get_running_loop().time
        for _ in range(3 * STEPS):
            turns.step()
            if slice_.is_over(time()):
                await slice_.renew()

    await asyncio.gather(*(work() for _ in range(tasks)))
    assert turns.most <= STEPS + tasks


def test_a_slice_keeps_no_loop() -> None:
    """A loop that is gone is collected, and its slice with it."""

    async def use() -> None:
        await renewed()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(use())
    loop.close()
    gone = weakref.ref(loop)
    del loop
    gc.collect()
    assert gone() is None
