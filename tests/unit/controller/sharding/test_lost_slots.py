"""Slots that a controller's replica loses: their requests are dropped in time slices."""

from __future__ import annotations

import asyncio

from pyctrl._time_slices import STEPS
from pyctrl.controller import ShardBy, WorkItem, all_slots
from tests.unit.controller.sharding._shards import request, shard

NAMES = [f"name-{number}" for number in range(20)]


async def succeed(item: WorkItem) -> None:
    """Succeed."""
    item.succeed()


async def test_losing_many_requests_does_not_block_the_loop() -> None:
    """While 10,000 requests are dropped the loop runs everything else, and no request of a lost slot begins."""
    count = 10_000
    async with shard() as bench:
        for number in range(count):
            bench.shard.add(request(f"none-{number}"))
        losing = asyncio.create_task(bench.move(lost=all_slots()))
        await asyncio.sleep(0)
        bench.slots.may_not_begin = all_slots()
        turns, begun = 0, bench.queue.statistics().ready
        async with bench.queue.take() as item:
            await bench.shard.handle(item, succeed)
            assert item.outcome is not None
        while not losing.done():
            await asyncio.sleep(0)
            turns += 1
        assert begun > 0
        assert bench.pending() == []
        assert turns >= count / STEPS - 2


async def test_a_slot_that_comes_back_while_it_is_lost_keeps_its_requests() -> None:
    """What is added when the slot is taken again is not dropped by what still drops the requests of before."""
    async with shard(ShardBy.UID, *NAMES) as bench:
        await bench.move(gained=all_slots())
        losing = bench.shard.lose(all_slots())  # as a task that has not begun; the replica takes the slots again
        await bench.move(gained=all_slots())
        await losing
        assert bench.pending() == sorted(NAMES)
