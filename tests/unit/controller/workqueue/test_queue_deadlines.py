"""The queue: delayed requests and requeue timers."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pyctrl.controller._causes import TimerCause
from tests.unit.controller.workqueue._queues import A, B, C, make_queue, now, seconds, take


async def test_a_delayed_add_comes_when_it_is_due() -> None:
    """A delayed request is ready exactly when it is due; of two delays the shorter one counts."""
    queue = make_queue()
    queue.add(A, after=seconds(10))
    queue.add(A, after=seconds(30))

    assert await take(queue) == A
    assert now() == 10
    assert queue.statistics().waiting == 0


async def test_what_falls_due_gets_in_line_then() -> None:
    """A due request goes behind those that were ready before."""
    queue = make_queue()
    queue.add(A, after=seconds(10))
    queue.add(B, after=seconds(5))
    await asyncio.sleep(7)
    queue.add(C)
    await asyncio.sleep(5)

    assert [await take(queue) for _ in range(3)] == [B, C, A]


async def test_an_add_without_delay_beats_one_with_delay() -> None:
    """An add without a delay runs at once, and the delayed run of the same request still follows."""
    queue = make_queue()
    queue.add(A, after=seconds(10))
    queue.add(A)

    assert await take(queue) == A
    assert now() == 0
    assert await take(queue) == A
    assert now() == 10


async def test_a_timer_survives_a_change_that_comes_earlier() -> None:
    """A change before the end of requeue_after runs at once and does not cancel the timer."""
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
    """A run that sets a new timer replaces the earlier one."""
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


async def test_the_timer_is_dropped_also_if_a_change_came_before_the_deletion() -> None:
    """A deletion that is added to a pending change drops the timer, too."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        turn.succeed(requeue_after=timedelta(hours=10))
    queue.add(A)
    queue.add(A, is_gone=True)
    queue.add(A)
    await take(queue)

    assert queue.remaining() == []


async def test_the_timer_of_an_object_that_is_gone_is_dropped() -> None:
    """The timer of a deleted object is dropped."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        queue.add(A, is_gone=True)
        turn.succeed(requeue_after=timedelta(hours=10))
    await take(queue)

    assert queue.remaining() == []
    assert queue._entries == {}
