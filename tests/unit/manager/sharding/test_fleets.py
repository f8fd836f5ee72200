"""Fleets under sharding: by cluster each cluster has one replica, which alone connects to it; by uid each object."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, InProcessTransport
from pyctrl.controller import Builder, ShardBy, ShardKey
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Fleet, InMemoryProvider, Manager, Preflight, Sharding
from tests.unit.manager.sharding._rings import Recorder, config_map

CLUSTERS = [f"cluster-{number}" for number in range(8)]


class Worker:
    """A replica of a program that works in a fleet."""

    def __init__(self, home: ApiServer, away: dict[str, ApiServer], name: str, key: ShardKey) -> None:
        self.manager = Manager(
            client=Client(InProcessTransport(home), random=Random(name)),
            sharding=Sharding(name="op", namespace="default", identity=name, key=key),
            preflight=Preflight.OFF,
            random=Random(name),
        )
        self.provider = InMemoryProvider({each: Config.in_process(server) for each, server in away.items()})
        self.recorders: list[Recorder] = []
        self.fleet: Fleet

    def _recorder(self) -> Recorder:
        self.recorders.append(Recorder())
        return self.recorders[-1]

    @property
    def seen(self) -> list[str]:
        return [name for recorder in self.recorders for name in recorder.seen]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.manager as manager:
            self.fleet = manager.add_fleet("edge", self.provider)
            Builder(self.fleet).reconciles(ConfigMap).build_each(self._recorder)
            async with manager.running():
                yield


async def _servers() -> dict[str, ApiServer]:
    """Return the servers of the clusters, each with three objects."""
    servers = {name: ApiServer() for name in CLUSTERS}
    for name, server in servers.items():
        client = Client(InProcessTransport(server))
        for number in range(3):
            await client.create(config_map(f"{name}-{number}"))
    return servers


async def test_each_cluster_has_one_replica() -> None:
    """Of two replicas each connects to its clusters only; the one that stays connects to all."""
    home, away = ApiServer(), await _servers()
    one, two = (Worker(home, away, name, ShardBy.CLUSTER) for name in ("a", "b"))
    async with one.running():
        async with two.running():
            await asyncio.sleep(30)
            assert sorted([*one.fleet, *two.fleet]) == CLUSTERS
            assert 1 <= len(one.fleet) <= 7
            mine = set(one.fleet)
            one.recorders.clear()
        await asyncio.sleep(5)
        assert sorted(one.fleet) == CLUSTERS
        assert set(one.seen) == {f"{name}-{number}" for name in CLUSTERS if name not in mine for number in range(3)}


async def test_objects_of_all_clusters_are_divided() -> None:
    """By uid each replica is connected to all clusters, and each object of each cluster has one replica."""
    home, away = ApiServer(), await _servers()
    one, two = (Worker(home, away, name, ShardBy.UID) for name in ("a", "b"))
    async with one.running(), two.running():
        await asyncio.sleep(30)
        assert sorted(one.fleet) == sorted(two.fleet) == CLUSTERS
        for recorder in (*one.recorders, *two.recorders):
            recorder.seen.clear()
        for server in away.values():
            await Client(InProcessTransport(server)).create(config_map("late"))
        await asyncio.sleep(1)
        assert len(one.seen) + len(two.seen) == len(CLUSTERS)
        assert one.seen
        assert two.seen
