"""The queue: what is asked for later, and the timers of runs."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pyctrl.controller._causes import TimerCause
from tests.unit.controller.workqueue._queues import A, B, C, make_queue, now, seconds, take


async def test_a_delayed_add_comes_when_it_is_due() -> None:
    """A request added for later is ready exactly then."""
    queue = make_queue()
    queue.add(A, after=seconds(10))
    queue.add(A, after=seconds(30))

    assert await take(queue) == A
    assert now() == 10
    assert queue.statistics().waiting == 0


async def test_what_falls_due_gets_in_line_then() -> None:
    """Behind those who were ready before, and not where it was when it was added."""
    queue = make_queue()
    queue.add(A, after=seconds(10))
    queue.add(B, after=seconds(5))
    await asyncio.sleep(7)
    queue.add(C)
    await asyncio.sleep(5)

    assert [await take(queue) for _ in range(3)] == [B, C, A]


async def test_an_add_without_delay_beats_one_with_delay() -> None:
    """Ready beats delay, and the delayed run still comes: it was asked for that time."""
    queue = make_queue()
    queue.add(A, after=seconds(10))
    queue.add(A)

    assert await take(queue) == A
    assert now() == 0
    assert await take(queue) == A
    assert now() == 10


async def test_a_timer_survives_a_change_that_comes_earlier() -> None:
    """requeue_after means at the latest: a change in between runs at once and the deadline stays."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        turn.succeed(requeue_after=seconds(600))
    await asyncio.sleep(60)
    queue.add(A)
    await take(queue)
    assert now() == 60

    async with queue.take() as turn:
        turn.succeed()
    assert now() == 600
    assert turn.causes == (TimerCause(seconds(600)),)
    assert queue.remaining() == []


async def test_a_run_that_sets_a_new_timer_replaces_the_old_one() -> None:
    """The last run that asked for a deadline decides it."""
    queue = make_queue()
    queue.add(A)
    for delay in (600, 900):
        async with queue.take() as turn:
            turn.succeed(requeue_after=seconds(delay))
        if delay == 600:
            await asyncio.sleep(60)
            queue.add(A)

    await take(queue)
    assert now() == 60 + 900


async def test_the_timer_of_an_object_that_is_gone_is_dropped() -> None:
    """Ten hours of timers for objects that were deleted long ago would only take memory."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        queue.add(A, is_gone=True)
        turn.succeed(requeue_after=timedelta(hours=10))
    await take(queue)

    assert queue.remaining() == []
    assert queue._entries == {}
