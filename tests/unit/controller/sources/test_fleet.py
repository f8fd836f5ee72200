"""Sources of a controller that follow all clusters of a fleet."""

from __future__ import annotations

import asyncio
from typing import Any

from pyctrl.api import ObjectMeta
from pyctrl.controller import (
    Builder,
    Reconciler,
    Request,
    for_object,
    mapped,
    reconcile_causes,
)
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import Fleet
from tests.unit.manager._fleets import Away, config_map, logged, settle, texts, world


async def test_a_controller_of_home_follows_a_kind_in_the_whole_fleet() -> None:
    """A change in any cluster of the fleet requests the mapped home object, as clusters join and leave."""
    seen: list[tuple[Request, str]] = []

    class Hub(Reconciler[ConfigMap]):
        def __init__(self, fleet: Fleet) -> None:
            self.fleet = fleet

        async def reconcile(self, request: Request) -> None:
            counts = {name: len(await cluster.client.list(Secret)) for name, cluster in self.fleet.items()}
            seen.append((request, str(counts)))

    def of_hub(secret: Secret) -> list[Request]:
        return [Request("default", secret.metadata.labels["of"])]

    one, two = Away("one"), Away("two")
    async with world() as there:
        there.add(one)
        builder = Builder(there.manager).reconciles(ConfigMap)
        builder.watches(Secret, mapped(of_hub), cluster=there.fleet).build(Hub(there.fleet))
        async with there.manager.running():
            await there.home.create(config_map("a"))
            await settle()
            there.add(two)
            await there.fleet.wait_for("two")
            await two.create(Secret(metadata=ObjectMeta(name="s", namespace="default", labels={"of": "a"})))
            await settle()
            there.provider.remove("one")
            await there.fleet.wait_until_gone("one")
            await two.create(Secret(metadata=ObjectMeta(name="t", namespace="default", labels={"of": "b"})))
            await settle()

    assert seen == [
        (Request("default", "a"), "{'one': 0}"),
        (Request("default", "a"), "{'one': 0, 'two': 1}"),
        (Request("default", "b"), "{'two': 2}"),
    ]


async def test_a_controller_of_home_is_told_of_clusters_that_come_and_go() -> None:
    """`watches_clusters` adds requests when a cluster's caches are synced and when a cluster leaves the fleet."""
    seen: list[tuple[str, list[str]]] = []

    class Hub(Reconciler[ConfigMap]):
        async def reconcile(self, request: Request) -> None:
            (cause,) = reconcile_causes()
            seen.append((str(cause), [name for name, each in there.fleet.items() if each.cache.informers]))

    def everything(cluster: str) -> list[Request]:
        return [Request("default", f"plan-for-{cluster}")]

    one, two = Away("one"), Away("two")
    async with world() as there:
        there.add(one)
        builder = Builder(there.manager).options(name="hub").watches_clusters(there.fleet, everything)
        builder.watches(Secret, for_object, cluster=there.fleet).build(Hub())
        async with there.manager.running():
            await settle()
            two.config = two.login()
            there.add(two)
            await there.fleet.wait_for("two")
            two.cut()
            await settle(600)
            assert [cause for cause, _ in seen] == ["cluster one has come"]
            two.network.clear()
            await settle(60)
            there.provider.remove("one")
            await there.fleet.wait_until_gone("one")
            await settle()
    assert seen == [
        ("cluster one has come", ["one"]),
        ("cluster two has come", ["one", "two"]),
        ("cluster one has left", ["two"]),
    ]


async def test_requests_for_objects_of_a_cluster_that_has_left_are_dropped() -> None:
    """After a cluster leaves, its queued requests are dropped with one log line, a running one if it fails."""
    done: list[str] = []

    class Reader(Reconciler[Any]):
        def __init__(self, fleet: Fleet) -> None:
            self.fleet = fleet

        async def reconcile(self, request: Request) -> None:
            await asyncio.sleep(10)
            await self.fleet[request.cluster].client.get(ConfigMap, request.key)
            done.append(request.name)

    one = Away("one")
    for name in ("a", "b", "c", "d"):
        await one.create(config_map(name))
    async with world() as there:
        there.add(one)
        builder = Builder(there.manager).options(name="reader")
        reader = builder.watches(ConfigMap, for_object, cluster=there.fleet).build(Reader(there.fleet))
        with logged() as records:
            async with there.manager.running():
                await settle(15)
                there.provider.remove("one")
                await there.fleet.wait_until_gone("one")
                await settle(600)
                statistics = reader.statistics()
    assert done == ["a"]
    dropped = texts(records, "Dropping requests for objects of a cluster that has left")
    assert [line["dropped"] for line in dropped] == [2]
    assert len(texts(records, "Dropping a request: the cluster of its object is gone")) == 1
    assert (statistics.queue.waiting, statistics.queue.ready) == (0, 0)
