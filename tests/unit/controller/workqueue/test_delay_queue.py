"""Deadlines of delayed requests."""

from __future__ import annotations

from datetime import timedelta

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
