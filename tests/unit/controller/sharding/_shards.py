"""A controller's shard over a cache of ConfigMaps, with slots that a test gives and takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random

from pyctrl.api import ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import Client, Config, HttpRequest
from pyctrl.controller import (
    ControllerShard,
    ExponentialBackoff,
    KindSource,
    Queue,
    Request,
    ShardBy,
    ShardKey,
    all_slots,
)
from pyctrl.controller._handlers import for_object
from pyctrl.errors import NotLeading
from pyctrl.kinds.core.v1 import ConfigMap


def config_map(name: str, namespace: str = "default", **labels: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace, labels=labels))


def request(name: str, namespace: str = "default") -> Request:
    return Request(namespace, name)


class Slots:
    """The slots of a replica; a `ShardAssignment`."""

    def __init__(self, slots: int = 0) -> None:
        self.keep_for = timedelta(seconds=40)
        self.verbs_beyond_cache: tuple[str, ...] = ()
        self.slots = slots
        self.may_not_begin = 0
        self.may_not_write = 0
        self.finished_runs = 0

    def has(self, slot: int) -> bool:
        return bool(self.slots >> slot & 1)

    def may_begin(self, slot: int) -> bool:
        return self.has(slot) and not self.may_not_begin >> slot & 1

    def gate(self, slot: int) -> SlotGate:
        return SlotGate(self, slot)

    def adopt(self, shard: ControllerShard) -> None:
        """Not needed: a test has its shard."""

    def release(self, shard: ControllerShard) -> None:
        """Not needed: a test has its shard."""

    def finished(self) -> None:
        self.finished_runs += 1


class SlotGate:
    """Refuses writes of runs in slots that may not write."""

    def __init__(self, slots: Slots, slot: int) -> None:
        self._slots, self._slot = slots, slot

    def check(self, request: HttpRequest) -> None:
        if self._slots.may_not_write >> self._slot & 1:
            raise NotLeading(f"{request} was not sent")

    def sent(self, answer: object) -> None:
        """Not needed: the writes of a test have no answers."""


class Bench:
    """A shard, its queue and its slots, over a cache that follows a server."""

    def __init__(self, key: ShardKey, slots: int) -> None:
        self.client = Client.connect(Config.in_process(ApiServer(random=Random(1))))
        self.cache = Cache(self.client, random=Random(1))
        self.source = KindSource(CachedClient(self.cache, self.client), ConfigMap, for_object, is_reconciled=True)
        self.queue = Queue(limiter=ExponentialBackoff(first=timedelta(seconds=5), jitter=0))
        self.slots = Slots(slots)
        self.shard = ControllerShard("maps", self.queue, key, self.source, self.slots)

    def pending(self) -> list[str]:
        """The names of the requests that are pending, also later, without those of the server's own objects."""
        return sorted(each.name for each in self.queue.remaining() if each.name != "kube-root-ca.crt")

    def slot(self, name: str) -> int:
        slot = self.shard.slot_of(request(name))
        assert slot is not None
        return slot

    def slots_of(self, *names: str) -> int:
        """The set of the slots of objects."""
        return sum(1 << slot for slot in {self.slot(name) for name in names})

    async def move(self, *, lost: int = 0, gained: int = 0) -> None:
        """Move slots as the manager does."""
        self.slots.slots = self.slots.slots & ~lost | gained
        if lost:
            await self.shard.lose(lost)
        if gained:
            await self.shard.take(gained)

    async def empty(self) -> None:
        """Reconcile what is ready, successfully."""
        while self.queue.statistics().ready:
            async with self.queue.take() as item:
                item.succeed()


@asynccontextmanager
async def shard(key: ShardKey = ShardBy.UID, *names: str, slots: int | None = None) -> AsyncIterator[Bench]:
    """Run the cache and the source of a shard that has all slots at first, with nothing pending."""
    bench = Bench(key, all_slots() if slots is None else slots)
    for name in names:
        await bench.client.create(config_map(name))
    running = [asyncio.create_task(bench.cache.run()), asyncio.create_task(bench.source.run(bench.shard))]
    await bench.source.wait_until_ready()
    await bench.empty()
    try:
        yield bench
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
