"""The order of ready requests: by priority, first in first out, without starvation."""

from __future__ import annotations

import asyncio

from pyctrl.controller._request import Request
from tests.unit.controller.workqueue._queues import A, B, C, make_queue, take


async def test_requests_come_out_by_priority_then_in_the_order_they_came() -> None:
    """A higher priority goes first; requests of one priority are first in, first out."""
    queue = make_queue()
    queue.add(A, priority=-100)
    queue.add(B)
    queue.add(C)

    assert [await take(queue) for _ in range(3)] == [B, C, A]


async def test_nobody_starves() -> None:
    """Every fifth turn goes to a request that has waited too long; the others go by priority."""
    queue = make_queue()
    background = [Request("background", str(number)) for number in range(10)]
    for request in background:
        queue.add(request, priority=-100)
    await asyncio.sleep(11)
    order = []
    for number in range(20):
        queue.add(Request("busy", str(number)))
        order.append((await take(queue)).namespace)

    assert order == (["busy"] * 4 + ["background"]) * 4


async def test_priority_is_strict_while_nobody_waits_long() -> None:
    """Below ten seconds of waiting, a lower priority never goes before a higher one."""
    queue = make_queue()
    queue.add(A, priority=-100)
    await asyncio.sleep(9)
    for number in range(20):
        queue.add(Request("busy", str(number)))

    assert all([(await take(queue)).namespace == "busy" for _ in range(20)])
    assert await take(queue) == A
