"""Worker counts that change under load, and rate limits per controller."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from random import Random

import pytest

from pyctrl.api import Unstructured
from pyctrl.controller import (
    ChannelSource,
    Controller,
    ControllerOptions,
    ExponentialBackoff,
    MaxOfRateLimiter,
    RateLimiter,
    Reconciler,
    Request,
    TokenBucket,
)

REQUESTS = [Request("default", str(number)) for number in range(40)]


def now() -> float:
    return asyncio.get_running_loop().time()


class Busy(Reconciler[Unstructured]):
    """Takes a while for each request, fails now and then, and counts."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.version: Counter[Request] = Counter()  # the actual state
        self.done: Counter[Request] = Counter()  # the last version that was reconciled
        self.at_work: Counter[Request] = Counter()
        self.most = 0

    async def reconcile(self, request: Request) -> None:
        version = self.version[request]
        self.at_work[request] += 1
        assert self.at_work[request] == 1  # never two workers on one request
        self.most = max(self.most, self.at_work.total())
        try:
            await asyncio.sleep(self.random.expovariate(1))
            if self.random.random() < 0.2:
                raise OSError("now and then")
        finally:
            self.at_work[request] -= 1
        self.done[request] = version


@pytest.mark.parametrize("seed", range(3))
async def test_workers_come_and_go_under_load_and_nothing_is_lost(seed: int) -> None:
    """With 1 to 12 workers, changed under load and failures, the last change of each object is reconciled."""
    random = Random(seed)
    busy = Busy(random)
    controller = Controller("busy", busy, [source := ChannelSource[Request]()], random=random)
    running = asyncio.create_task(controller.run())
    for _ in range(300):
        for request in random.sample(REQUESTS, random.randrange(4)):
            busy.version[request] += 1
            source.send_nowait(request)
        if random.random() < 0.3:
            controller.workers = random.randint(1, 12)
        await asyncio.sleep(random.random())
    await asyncio.sleep(300)
    assert busy.done == busy.version
    assert 6 <= busy.most <= 12
    assert controller.live_workers == controller.workers

    controller.workers = 1
    controller.ask_to_stop()
    await running
    assert controller.live_workers == 0


async def test_fewer_workers_cut_nobody_off() -> None:
    """A removed worker finishes its current request and takes no further one."""
    busy = Busy(Random(7))
    controller = Controller("busy", busy, [source := ChannelSource[Request]()], options=ControllerOptions(workers=10))
    running = asyncio.create_task(controller.run())
    for request in REQUESTS:
        busy.version[request] = 1
        source.send_nowait(request)
    await asyncio.sleep(0.01)
    assert busy.at_work.total() == 10
    controller.workers = 2
    await asyncio.sleep(0)
    assert (busy.at_work.total(), controller.live_workers) == (10, 10)
    await asyncio.sleep(20)
    assert busy.at_work.total() == controller.live_workers == 2
    await asyncio.sleep(60)
    assert busy.done == busy.version
    controller.ask_to_stop()
    await running


class Failing(Reconciler[Unstructured]):
    """Always fails, and records when."""

    def __init__(self) -> None:
        self.tried: list[float] = []

    async def reconcile(self, request: Request) -> None:
        self.tried.append(now())
        raise OSError("always")


async def test_each_controller_has_its_own_limit() -> None:
    """Failures of one controller do not delay retries of another."""
    limits: dict[str, RateLimiter | None] = {
        "default": None,
        "slow": ExponentialBackoff(first=timedelta(seconds=10), jitter=0),
        "few": MaxOfRateLimiter(
            ExponentialBackoff(first=timedelta(seconds=1), longest=timedelta(seconds=1), jitter=0),
            TokenBucket(per_second=0.1, burst=1),
        ),
    }
    failing = {name: Failing() for name in limits}
    controllers = [
        Controller(name, failing[name], [], options=ControllerOptions(limiter=limit), random=Random(1))
        for name, limit in limits.items()
    ]
    async with asyncio.TaskGroup() as group:
        for controller in controllers:
            controller.enqueue(REQUESTS[0])
            controller.enqueue(REQUESTS[1])
            group.create_task(controller.run())
        await asyncio.sleep(59)
        for controller in controllers:
            controller.ask_to_stop()

    assert len(failing["default"].tried) >= 2 * 12  # 5 ms, doubled, is 20 s at the twelfth
    assert failing["slow"].tried == [0, 0, 10, 10, 30, 30]
    assert failing["few"].tried == [
        0,
        0,
        1,
        10,
        20,
        30,
        40,
        50,
    ]  # one in ten seconds for both together, and one at once
