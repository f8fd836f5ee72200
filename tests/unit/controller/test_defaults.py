"""Measured defaults of controllers, equal to controller-runtime's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise
from random import Random

import pytest

from pyctrl.controller import ChannelSource, Controller, OnSyncFailure, Reconciler, Request, RequestSink, Result, Source
from pyctrl.errors import ControllerError


def now() -> float:
    return asyncio.get_running_loop().time()


class Listed(Source):
    """A source of existing requests."""

    def __init__(self, count: int, *, is_complete: bool = True) -> None:
        super().__init__()
        self._count, self._is_complete = count, is_complete

    async def run(self, queue: RequestSink) -> None:
        for number in range(self._count):
            queue.add(Request("default", str(number)))
        if self._is_complete:
            self.synced.set()
        await asyncio.Event().wait()


class Slow(Reconciler):
    """Takes some time and records how many calls run at once."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.running = self.most = self.ended = 0

    async def reconcile(self, request: Request) -> None:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(self._seconds)
        self.running -= 1
        self.ended += 1


class Failing(Reconciler):
    """Fails a number of times and records when."""

    def __init__(self, times: int) -> None:
        self._times = times
        self.asked: dict[Request, list[float]] = {}

    async def reconcile(self, request: Request) -> Result | None:
        asked = self.asked.setdefault(request, [])
        asked.append(now())
        if len(asked) <= self._times:
            raise ValueError("not yet")
        return None


async def run(reconciler: Reconciler, source: Source, *, seconds: float) -> None:
    """Run a controller with its defaults for some seconds."""
    controller = Controller("thing", reconciler, [source], random=Random(1))
    controller.on_sync_failure = OnSyncFailure.END  # as in controller-runtime
    asyncio.get_running_loop().call_later(seconds, controller.ask_to_stop)
    await controller.run()


async def reconciles_at_once() -> float:
    slow = Slow(1)
    await run(slow, Listed(5), seconds=10)
    return slow.most


async def hours_that_one_may_take() -> float:
    slow = Slow(20 * 3600)
    await run(slow, Listed(1), seconds=21 * 3600)
    return 20 if slow.ended else 0


async def seconds_until_a_source_is_given_up() -> float:
    with pytest.raises(ControllerError, match="failed to wait for thing caches to sync"):
        await run(Slow(1), Listed(1, is_complete=False), seconds=1000)
    return now()


async def messages_that_a_channel_keeps() -> float:
    channel: ChannelSource = ChannelSource()
    kept = 0
    while True:
        try:
            channel.send_nowait(Request("default", str(kept)))
        except asyncio.QueueFull:
            return kept
        kept += 1


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        pytest.param(reconciles_at_once, 1, id="MaxConcurrentReconciles"),
        pytest.param(seconds_until_a_source_is_given_up, 120, id="CacheSyncTimeout"),
        pytest.param(hours_that_one_may_take, 20, id="ReconciliationTimeout: none"),
        pytest.param(messages_that_a_channel_keeps, 1024, id="source.Channel: WithBufferSize"),
    ],
)
async def test_a_default_is_as_it_is_measured(measured: Callable[[], Awaitable[float]], expected: float) -> None:
    """Defaults: one reconcile at a time, no reconcile timeout, two minutes to sync, 1024 channel messages."""
    assert await measured() == expected


async def test_retries_wait_for_5_ms_and_twice_as_long_each_time_up_to_1000_s() -> None:
    """Retries wait 5 ms, doubled up to 1000 s from the 19th on, with 20 % jitter, as in client-go."""
    failing = Failing(30)
    await run(failing, Listed(1), seconds=6 * 3600)
    ((*asked,),) = failing.asked.values()

    waits = [later - earlier for earlier, later in pairwise(asked)]
    wanted = [min(1000, 0.005 * 2**number) for number in range(30)]
    assert wanted[17] < wanted[18] == 1000
    longest = [min(1000, 1.2 * want) + 1e-6 for want in wanted]  # later times have fewer digits
    assert all(0.8 * want - 1e-6 <= wait <= most for want, wait, most in zip(wanted, waits, longest, strict=True))
    assert max(waits) == pytest.approx(1000)


async def test_no_bucket_holds_up_the_retries_of_many() -> None:
    """Five hundred requests that fail together are not delayed by a token bucket, which would take forty seconds."""
    failing = Failing(1)
    await run(failing, Listed(500), seconds=1)

    assert len(failing.asked) == 500
    assert all(later - earlier < 0.007 for earlier, later in failing.asked.values())
