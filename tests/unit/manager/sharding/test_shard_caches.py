"""Caches of reconciled kinds have only the objects of their replica, also when replicas come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal

import pytest

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Informer, KindOptions, ShardMemory
from pyctrl.controller import KindSource, Request
from pyctrl.errors import ManagerError, NotCovered
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Sharding
from pyctrl.manager._sharding.shard_caches import ranges_of, slots_of
from tests.unit.manager.sharding._rings import Replica, admin, create, divided, forget, maps, ring, seen

NAMES = [f"map-{number}" for number in range(40)]
GATE: Mapping[Literal["ShardedListAndWatch"], bool] = {"ShardedListAndWatch": True}


def informer(replica: Replica) -> Informer:
    """Return the informer of the objects that a replica reconciles."""
    source = replica.controller.sources[0]
    assert isinstance(source, KindSource)
    return source.informer


def cached(replica: Replica) -> set[str]:
    """Return the names of the objects in the cache of a replica."""
    return {record.name for record in informer(replica).lister.store} - {"kube-root-ca.crt"}


@pytest.mark.parametrize("by", ["server", "filter"])
async def test_replicas_cache_their_own_objects(by: str) -> None:
    """Each object is in one cache, that of the replica which reconciles it; one that stops leaves it to the other."""
    server = ApiServer(feature_gates=GATE if by == "server" else None)
    async with ring(server, "a", "b", memory=True) as (one, two):
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        assert cached(one) | cached(two) == set(NAMES)
        assert not cached(one) & cached(two)
        assert set(one.recorder.seen) == cached(one)
        assert 8 <= len(cached(one)) <= 32
        foreign = min(cached(two))
        with pytest.raises(NotCovered):
            informer(one).find(Key("default", foreign))
        assert await one.manager.client.find(ConfigMap, Key("default", foreign)) is not None  # by a request
        had = cached(two)
        forget([one])
        await two.stop()
        await divided([one], within=5)
        await asyncio.sleep(1)
        assert cached(one) == set(NAMES)
        assert set(one.recorder.seen) == had
        await create(admin(server), ["late"])
        await asyncio.sleep(0.5)
        assert "late" in one.recorder.seen


async def test_a_deleted_object_is_reconciled_by_its_replica() -> None:
    """Its replica remembers whose it was, and reads it live."""
    server = ApiServer(feature_gates=GATE)
    async with ring(server, "a", "b", memory=True) as replicas:
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        before = {name: replica.name for replica in replicas for name in replica.recorder.seen}
        forget(replicas)
        for replica in replicas:
            replica.recorder.found.clear()
        await admin(server).delete_all_of(ConfigMap, namespace="default")
        await asyncio.sleep(1)
        assert {name: replica.name for replica in replicas for name in replica.recorder.seen} == before
        assert seen(replicas) == dict.fromkeys(NAMES, 1)
        assert not any(found for replica in replicas for found in replica.recorder.found.values())


async def test_a_request_for_an_object_of_another_replica_is_left_out() -> None:
    """What the cache does not cover is not reconciled: it would look deleted."""
    server = ApiServer()
    await create(admin(server), NAMES)
    async with ring(server, "a", "b", memory=True) as (one, two):
        await asyncio.sleep(1)
        foreign = min(cached(two))
        forget([one, two])
        one.controller.enqueue(Request("default", foreign))
        two.controller.enqueue(Request("default", foreign))
        await asyncio.sleep(1)
        assert (one.recorder.seen, two.recorder.seen) == ([], [foreign])


async def test_an_option_of_the_kind_switches_it_off() -> None:
    """With `ShardMemory.OFF` for the kind each cache has all objects."""
    server = ApiServer()
    kinds = {ConfigMap: KindOptions(shard_memory=ShardMemory.OFF)}
    async with ring(server, "a", "b", memory=True, kinds=kinds) as replicas:
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        assert [cached(replica) for replica in replicas] == [set(NAMES)] * 2
        assert seen(replicas) == dict.fromkeys(NAMES, 1)


def test_slots_are_hash_ranges() -> None:
    """Slots and ranges are the same, and a slot counts only if it is whole."""
    slots = 1 | 1 << 1 | 1 << 1023
    assert slots_of(ranges_of(slots)) == slots
    assert slots_of([]) == 0
    with pytest.raises(ManagerError, match="needs key=ShardBy.UID"):
        Sharding(name="op", memory=True, key=lambda record: record.name)


async def test_maps_are_whole_on_the_server() -> None:
    """The server has all objects, whatever the caches have."""
    server = ApiServer()
    await create(admin(server), NAMES)
    async with ring(server, "a", "b", memory=True):
        assert {each.metadata.name for each in await maps(server)} >= set(NAMES)


@pytest.mark.parametrize("memory", [True, False])
async def test_objects_beyond_the_cache_may_be_read(memory: bool) -> None:
    """With its own objects only in the cache, a replica needs permission to get others."""
    replica = Replica(ApiServer(), "a", memory=memory)
    async with replica.running():
        verbs = {verb for each in replica.controller.rbac for verb in each.rule.verbs}
        assert verbs == ({"get", "list", "watch"} if memory else {"list", "watch"})
