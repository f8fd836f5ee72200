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


async def test_a_timer_of_before_a_restart_is_as_one_of_a_run() -> None:
    """A restored timer runs the request when it is due, with its priority and cause; an overdue one runs it at once."""
    queue = make_queue()
    queue.restore_timer(A, seconds(600), 3)
    queue.restore_timer(B, seconds(-5), 0)
    assert (queue.has_work(A), queue.has_work(B)) == (False, True)
    assert queue.timer_of(A) == (600, 3)
    assert await take(queue) == B
    assert now() == 0

    async with queue.take() as turn:
        turn.succeed()
    assert (turn.request, turn.priority, now()) == (A, 3, 600)
    assert turn.causes == (TimerCause(seconds(600)),)
    assert queue.remaining() == []


async def test_a_restored_timer_survives_a_change_and_the_sooner_one_counts() -> None:
    """A change before it neither cancels a restored timer nor waits for it; of two timers the sooner one counts."""
    queue = make_queue()
    queue.restore_timer(A, seconds(600), 0)
    queue.restore_timer(A, seconds(900), 0)
    queue.add(A)
    assert await take(queue) == A
    assert now() == 0
    assert await take(queue) == A
    assert now() == 600
    assert queue.remaining() == []


async def test_a_closed_queue_takes_no_timer() -> None:
    """After the end of a controller no timer is added to what is left."""
    queue = make_queue()
    queue.close()
    queue.restore_timer(A, seconds(600), 0)
    assert queue.remaining() == []


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
