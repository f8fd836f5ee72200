"""Deadlines of delayed requests."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pyctrl.controller._workqueue.delay_queue import DelayQueue
from tests.unit.controller.workqueue._queues import A, B, make_queue


async def test_a_deadline_that_moves_a_lot_takes_no_memory() -> None:
    """Ten thousand new timers for one request take the memory of a few entries."""
    queue = make_queue()
    queue.add(B, after=timedelta(hours=20))
    for _ in range(10_000):
        queue.add(A)
        async with queue.take() as turn:
            turn.succeed(requeue_after=timedelta(hours=10))

    assert queue.statistics().waiting == 2
    assert len(queue._delayed._heap) < 100


async def test_a_deadline_that_was_moved_back_is_not_due_at_its_old_time() -> None:
    """A deadline that is set again, later, is over once, at its new time."""
    due: list[tuple[float, str]] = []
    loop = asyncio.get_running_loop()
    delays: DelayQueue[str] = DelayQueue(lambda token: due.append((loop.time(), token)))
    delays.set("a", 10.0)
    delays.set("b", 15.0)
    delays.set("a", 20.0)
    await asyncio.sleep(60)

    assert due == [(15.0, "b"), (20.0, "a")]
