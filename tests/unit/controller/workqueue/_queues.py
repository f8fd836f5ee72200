"""Queues and requests for tests."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pyctrl.controller._request import Request
from pyctrl.controller._workqueue.queue import Queue
from pyctrl.controller._workqueue.rate_limiters import ExponentialBackoff

A, B, C = (Request("default", name) for name in "abc")


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def make_queue() -> Queue:
    """Return a queue whose backoff is exactly 1, 2, 4, … seconds."""
    return Queue("test", limiter=ExponentialBackoff(first=seconds(1), jitter=0))


async def take(queue: Queue) -> Request:
    """Take the next request and finish it with success."""
    async with queue.take() as turn:
        turn.succeed()
    return turn.request


def now() -> float:
    return asyncio.get_running_loop().time()
