"""Writes whose answers have not come, in virtual time."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl.manager._election.unanswered_writes import UnansweredWrites


def write(seconds: float, error: Exception | None = None) -> asyncio.Task[None]:
    async def answer() -> None:
        await asyncio.sleep(seconds)
        if error is not None:
            raise error

    return asyncio.create_task(answer())


@pytest.mark.parametrize("error", [None, ConnectionError("reset")])
async def test_a_write_counts_until_it_is_answered_or_fails(error: Exception | None) -> None:
    """Its slot is in the set until then, and the end is reported."""
    ends: list[float] = []
    writes = UnansweredWrites(timedelta(seconds=14), lambda: ends.append(asyncio.get_running_loop().time()))
    writes.add(first := write(3, error), 4)
    writes.add(second := write(5), 6)
    assert writes.slots == 1 << 4 | 1 << 6
    assert writes.next_deadline(1 << 4) == [14.0]
    await asyncio.wait([first])
    assert writes.slots == 1 << 6
    await second
    await asyncio.sleep(0)
    assert (writes.slots, writes.next_deadline(1 << 6)) == (0, [])
    assert ends == [3.0, 5.0]
    await asyncio.gather(first, return_exceptions=True)


async def test_a_write_counts_for_a_limited_time() -> None:
    """After the time for which a Lease protects a write, other replicas need not wait for its answer."""
    writes = UnansweredWrites(timedelta(seconds=14))
    writes.add(slow := write(30), 4)
    await asyncio.sleep(13.9)
    assert writes.slots == 1 << 4
    await asyncio.sleep(0.1)
    assert writes.slots == 0
    await slow


async def test_without_writes_there_is_nothing_to_wait_for() -> None:
    """It returns at once."""
    assert await UnansweredWrites(timedelta(seconds=14)).wait(4)
    assert asyncio.get_running_loop().time() == 0


@pytest.mark.parametrize(("seconds", "took", "is_answered"), [(2, 2.0, True), (9, 4.0, False)])
async def test_waiting_for_all_answers(seconds: float, took: float, is_answered: bool) -> None:
    """It returns when all are answered, or after a time."""
    writes = UnansweredWrites(timedelta(seconds=14))
    writes.add(write(1))
    writes.add(last := write(seconds))
    assert await writes.wait(4) is is_answered
    assert asyncio.get_running_loop().time() == took
    await last
