"""Fairness: code that never awaits does not block the event loop of a controller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from pyctrl._time_slices import STEPS
from pyctrl.cache import Record, Synced
from pyctrl.cache._store import Store
from pyctrl.cache._subscribers import Subscribers, Subscription
from pyctrl.controller import ChannelSource, ObjectChange, Queue, Request, Result, TickSource
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.controller._kit import MANY, A, Listed, make, running
from tests.unit.controller._turns import Turns
from tests.unit.controller.sources.test_kind import config_map, following

WORKERS = 4


async def until(condition: Callable[[], bool]) -> None:
    """Run the event loop until a condition holds."""
    while not condition():
        await asyncio.sleep(0)


async def test_reconciles_that_never_wait_let_the_loop_turn() -> None:
    """With a thousand queued requests, other tasks run after one slice, whatever the number of workers."""
    turns = Turns()

    async def reconcile(_request: Request) -> None:
        turns.step()

    controller = make(reconcile, Listed(*MANY), workers=WORKERS)
    async with running(controller) as calls:
        await until(lambda: len(calls) == len(MANY))

    assert turns.most <= STEPS + WORKERS


async def test_several_controllers_hold_up_the_loop_no_longer_than_one() -> None:
    """Several controllers share the slices of their loop and block it no longer than one."""
    turns = Turns()

    async def reconcile(_request: Request) -> None:
        turns.step()

    one, other = (make(reconcile, Listed(*MANY)) for _ in range(2))
    async with running(one) as some, running(other) as more:
        await until(lambda: len(some) + len(more) == 2 * len(MANY))

    assert turns.most <= STEPS + 2


async def test_timers_of_a_microsecond_let_the_loop_turn() -> None:
    """A thousand requests with timers of a microsecond and high priority do not block the loop."""
    turns = Turns()

    async def reconcile(_request: Request) -> Result:
        turns.step()
        return Result.after(timedelta(microseconds=1), priority=100)

    controller = make(reconcile, Listed(*MANY))
    async with running(controller) as calls:
        await asyncio.sleep(0.000_004)

    assert len(calls) > 3 * len(MANY)
    assert turns.most <= STEPS + 1


async def test_messages_of_a_channel_are_taken_in_slices() -> None:
    """A channel handler that never awaits does not block the loop with a thousand messages."""
    turns, queue = Turns(), Queue()

    def handle(message: Request) -> list[Request]:
        turns.step()
        return []

    source: ChannelSource[Request] = ChannelSource(handle)
    for request in MANY:
        source.send_nowait(request)
    task = asyncio.create_task(source.run(queue))
    await until(source._messages.empty)
    task.cancel()

    assert turns.most <= STEPS + 1


async def test_requests_of_a_tick_are_added_in_slices() -> None:
    """A ticker reads a generator of requests in slices."""
    turns, queue = Turns(), Queue()

    def requests() -> Iterator[Request]:
        for request in MANY:
            turns.step()
            yield request

    source = TickSource(timedelta(minutes=5), requests)
    task = asyncio.create_task(source.run(queue))
    await source.synced.wait()
    task.cancel()

    assert queue.statistics().ready == len(MANY)
    assert turns.most <= STEPS + 1


async def test_the_many_requests_of_one_change_are_added_in_slices() -> None:
    """The many requests of one change are added in slices and before those of the next change."""
    turns = Turns()

    def everything(change: ObjectChange[ConfigMap]) -> Iterator[Request]:
        for request in MANY if change.current.name == "all" else [A]:
            turns.step()
            yield request

    async with following(everything) as (client, _, queue):
        await client.create(config_map("all"))
        await client.create(config_map("one"))
        await until(lambda: queue.statistics().ready == len(MANY) + 1)
        assert [item.request for item in queue.items(len(MANY) + 1)] == [*MANY, A]

    assert turns.most <= STEPS + 1


async def test_a_generator_of_requests_that_fails_costs_its_own_change_only(caplog: pytest.LogCaptureFixture) -> None:
    """If a generator of requests fails, its earlier requests are kept and the source continues."""

    def requests(change: ObjectChange[ConfigMap]) -> Iterator[Request]:
        yield Request("default", change.current.name)
        if change.current.name == "bad":
            raise OSError("not now")

    async with following(requests) as (client, _, queue):
        for name in ("bad", "good"):
            await client.create(config_map(name))
        await asyncio.sleep(1)
        assert [item.request.name for item in queue.items(10)] == ["bad", "good"]
    assert caplog.messages == ["A handler failed, the change is lost"]


async def test_a_loop_over_a_subscription_lets_the_loop_turn() -> None:
    """A loop over a subscription with thousands of initial objects does not block the event loop."""
    turns, store = Turns(), Store()
    for request in MANY:
        store.put(Record(b"{}", request.name, request.namespace, request.name, 1))
    subscribers = Subscribers(lambda: store)
    subscribers.notify_synced()

    async def follow() -> None:
        with Subscription(subscribers) as subscription:
            async for change in subscription:
                turns.step()
                if isinstance(change, Synced):
                    return

    await follow()

    assert turns.most <= STEPS + 1
