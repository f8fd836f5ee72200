"""Replicas of a program that divide its requests: managers of one virtual loop, each with a network of its own."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from random import Random
from typing import Any

from pyctrl.api import KindLike, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.cache import KindOptions
from pyctrl.client import Client, InProcessTransport, Transport
from pyctrl.controller import Builder, Controller, Reconciler, Request, Result
from pyctrl.errors import NotLeading
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager, Preflight, Sharding, ShardingStatistics
from pyctrl.testing import ConnectionRefused, FaultyTransport, Rule

ALL_SLOTS = 1024


def admin(server: ApiServer) -> Client:
    return Client(InProcessTransport(server))


def config_map(name: str, namespace: str = "default", **labels: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace, labels=labels))


async def create(client: Client, names: Iterable[str], namespace: str = "default") -> None:
    for name in names:
        await client.create(config_map(name, namespace))


async def maps(server: ApiServer) -> Sequence[ConfigMap]:
    return await admin(server).list(ConfigMap, namespace="default")


class Recorder(Reconciler[ConfigMap]):
    """Records its requests, and does what a test wants."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.found: dict[str, bool] = {}
        self.work: Callable[[Request], Awaitable[Result | None]] | None = None
        self.refused: list[str] = []

    async def reconcile(self, request: Request) -> Result | None:
        if request.name == "kube-root-ca.crt":
            return None
        self.seen.append(request.name)
        self.found[request.name] = await self.client.find(ConfigMap, request.key) is not None
        if self.work is None:
            return None
        try:
            return await self.work(request)
        except NotLeading:
            self.refused.append(request.name)
            raise


class Replica:
    """A manager of the ring ``op``, and a controller of ConfigMaps."""

    def __init__(
        self,
        server: ApiServer,
        name: str,
        *,
        leader: bool | None = None,
        kinds: Mapping[KindLike, KindOptions] | None = None,
        recorder: Callable[[], Recorder] = Recorder,
        also: Callable[[Manager], object] = lambda _manager: None,
        transport: Transport | None = None,
        **options: Any,
    ) -> None:
        self.name = name
        self.network = FaultyTransport(transport or InProcessTransport(server))
        self.manager = Manager(
            client=Client(self.network, random=Random(name)),
            sharding=Sharding(name="op", namespace="default", identity=name, **options),
            grace_period=timedelta(seconds=20),
            kinds=kinds,
            preflight=Preflight.OFF,
            random=Random(name),
        )
        self.recorder = recorder()
        self.controller: Controller
        self._leader, self._also = leader, also
        self.ran: asyncio.Task[None]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.manager as manager:
            builder = Builder(manager).reconciles(ConfigMap)
            if self._leader is not None:
                builder.options(only_leader=self._leader)
            self.controller = builder.build(self.recorder)
            self._also(manager)
            self.ran = asyncio.create_task(manager.run(handle_signals=False))
            try:
                await manager.started.wait()
                yield
            finally:
                self.network.clear()
                if not self.ran.done():
                    manager.ask_to_stop()
                await asyncio.wait([self.ran])

    @property
    def sharding(self) -> ShardingStatistics:
        """What it says of its ring."""
        member = self.manager.shard_member
        assert member is not None
        return member.statistics()

    @property
    def slots(self) -> int:
        """The number of slots that it takes."""
        return self.sharding.slots

    async def stop(self) -> None:
        self.manager.ask_to_stop()
        await asyncio.wait([self.ran])

    def cut(self) -> None:
        """Cut it off from the server."""
        self.network.add(Rule(ConnectionRefused(), times=None))


@asynccontextmanager
async def ring(server: ApiServer, *names: str, **options: Any) -> AsyncIterator[list[Replica]]:
    """Run replicas until each slot has one."""
    async with AsyncExitStack() as stack:
        replicas = [Replica(server, name, **options) for name in names]
        for replica in replicas:
            await stack.enter_async_context(replica.running())
        await divided(replicas)
        yield replicas


async def divided(replicas: Sequence[Replica], *, within: float = 60) -> None:
    """Wait until these replicas know each other and no others, and each slot has one of them."""

    def is_divided() -> bool:
        know_all = all(each.sharding.has_joined and each.sharding.members == len(replicas) for each in replicas)
        return know_all and sum(each.slots for each in replicas) == ALL_SLOTS

    async with asyncio.timeout(within):
        while not is_divided():
            await asyncio.sleep(0.1)


def seen(replicas: Iterable[Replica]) -> Counter[str]:
    """Return how often each object was reconciled, by all of them."""
    return Counter(name for replica in replicas for name in replica.recorder.seen)


def forget(replicas: Iterable[Replica]) -> None:
    for replica in replicas:
        replica.recorder.seen.clear()
