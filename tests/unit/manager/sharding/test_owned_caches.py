"""Caches of owned kinds have the objects whose owners their replica reconciles, and those without such an owner."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from pyctrl.api import GroupVersionKind, ObjectMeta, set_controller_reference
from pyctrl.apiserver import ApiServer
from pyctrl.controller import Builder, Reconciler, Request, for_owner, mapped
from pyctrl.errors import NotCovered, NotFound
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import Manager
from pyctrl.testing import Delayed, Rule
from tests.unit.manager.sharding._families import Family, cached_secrets, families, key_of, secrets
from tests.unit.manager.sharding._rings import ALL_SLOTS, Replica, admin, create, divided, forget, ring

NAMES = [f"map-{number}" for number in range(24)]


async def owner(server: ApiServer, name: str) -> ConfigMap:
    """Return a ConfigMap as the server has it."""
    return await admin(server).get(ConfigMap, key_of(name))


async def test_owned_objects_are_cached_where_their_owner_is_reconciled() -> None:
    """Each Secret is in the cache of its owner's replica only; the typical reconcile creates each of them once."""
    server = ApiServer()
    await admin(server).create(Secret(metadata=ObjectMeta(name="free", namespace="default")))
    async with ring(server, "a", "b", memory=True, recorder=Family) as (one, two):
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        made = await families(server)
        assert {name: len(found) for name, found in made.items()} == dict.fromkeys(NAMES, 3)
        for replica in (one, two):
            mine = set().union(*(made[name] for name in set(replica.recorder.seen)))
            assert cached_secrets(replica) == mine | {"free"}
        assert cached_secrets(one) & cached_secrets(two) == {"free"}


async def test_a_get_of_an_owned_object_is_exact() -> None:
    """What the cache does not have is asked of the server and counted: another replica's object is found, no other."""
    server = ApiServer()
    async with ring(server, "a", "b", memory=True, recorder=Family) as (one, two):
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        foreign, before = min(cached_secrets(two)), secrets(one).live_reads
        with pytest.raises(NotCovered):
            secrets(one).find(key_of(foreign))
        assert (await one.manager.client.get(Secret, key_of(foreign))).metadata.name == foreign
        with pytest.raises(NotFound):
            await one.manager.client.get(Secret, key_of("none"))
        mine = min(cached_secrets(one))
        assert (await one.manager.client.get(Secret, key_of(mine))).metadata.name == mine
        assert secrets(one).live_reads == before + 2


async def test_a_list_by_owner_is_complete_or_raises() -> None:
    """The Secrets of an owner of this replica are listed from the cache; for another one the list raises NotCovered."""
    server = ApiServer()
    async with ring(server, "a", "b", memory=True, recorder=Family) as (one, two):
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        mine, its = [await owner(server, replica.recorder.seen[0]) for replica in (one, two)]
        before = secrets(one).live_reads
        cache = one.manager.cache
        assert len(await cache.list(Secret, index=("owner", mine.metadata.uid))) == 3
        with pytest.raises(NotCovered):
            await cache.list(Secret, index=("owner", its.metadata.uid))
        assert secrets(one).live_reads == before
        assert len(await cache.list(Secret, namespace="default")) == 3 * len(NAMES)  # by a request
        assert secrets(one).live_reads == before + 1


async def test_owned_objects_move_with_their_owner() -> None:
    """A replica reconciles in a slot that it takes once its Secrets are in the cache, and creates none twice."""
    server, slow = ApiServer(), timedelta(seconds=3)
    async with ring(server, "a", "b", memory=True, recorder=Family) as (one, two):
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        before, had = await families(server), set(two.recorder.seen)
        forget([one])
        one.network.add(Rule(Delayed(slow), method="GET", path="*/secrets", query={"limit": "500"}, times=None))
        await two.stop()
        await asyncio.sleep(slow.total_seconds() - 0.5)
        assert one.recorder.seen == []
        await divided([one], within=5)
        await asyncio.sleep(1)
        assert set(one.recorder.seen) == had
        assert one.controller.statistics().reconciles.error == 0
        assert await families(server) == before
        assert cached_secrets(one) == set().union(*before.values())


async def test_an_object_that_gets_another_owner_moves() -> None:
    """A Secret that gets an owner of another replica leaves one cache for the other; both owners are reconciled."""
    server = ApiServer()
    async with ring(server, "a", "b", memory=True, recorder=Family) as (one, two):
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        giver, taker = one.recorder.seen[0], two.recorder.seen[0]
        forget([one, two])
        secret = await admin(server).get(Secret, key_of(giver))
        secret.metadata.owner_references.clear()
        set_controller_reference(await owner(server, taker), secret)
        await admin(server).update(secret)
        await asyncio.sleep(0.1)
        assert giver not in cached_secrets(one)
        assert giver in cached_secrets(two)
        assert (set(one.recorder.seen), set(two.recorder.seen)) == ({giver}, {taker})


class Reader(Reconciler[ConfigMap]):
    """Reads Secrets, as another controller of the program."""

    async def reconcile(self, request: Request) -> None:
        await self.client.list(Secret, namespace=request.namespace)


def another(how: str) -> Callable[[Manager], object]:
    """Return what adds another controller that needs Secrets in some way."""

    def add(manager: Manager) -> object:
        builder = Builder(manager).options(name="other")
        if how == "reads":
            builder.reconciles(ConfigMap).reads(Secret)
        elif how == "watches":
            builder.reconciles(ConfigMap).watches(Secret, mapped(lambda _secret: ()))
        elif how == "leader":
            builder.reconciles(ConfigMap).owns(Secret).options(only_leader=True)
        else:
            builder.reconciles(ConfigMap).watches(Secret, for_owner(ConfigMap))  # as owns()
        return builder.build(Reader())

    return add


@pytest.mark.parametrize("how", ["reads", "watches", "leader", "owns"])
async def test_a_kind_that_others_need_stays_whole(how: str) -> None:
    """A kind that is also read, watched, or followed by a controller that is not divided has all its objects."""
    server = ApiServer()
    await create(admin(server), NAMES[:6])
    async with ring(server, "a", "b", memory=True, recorder=Family, also=another(how)) as replicas:
        await asyncio.sleep(1)
        everything = set().union(*(await families(server)).values())
        assert len(everything) == 18
        cached = [cached_secrets(replica) for replica in replicas]
        assert (cached == [everything] * 2) is (how != "owns")


async def test_an_owned_kind_that_is_not_served_holds_nothing_up() -> None:
    """A replica works although an optional owned kind does not exist in the cluster."""
    missing = GroupVersionKind("example.com", "v1", "Missing")

    def owning(manager: Manager) -> object:
        return Builder(manager).options(name="other").reconciles(ConfigMap).owns(missing, optional=True).build(Reader())

    async with ring(ApiServer(), "a", memory=True, also=owning) as (only,):
        assert only.slots == ALL_SLOTS


async def test_owned_objects_beyond_the_cache_may_be_read() -> None:
    """A replica needs the permission to get owned objects, too: one that is missing in its cache may exist."""
    replica = Replica(ApiServer(), "a", memory=True, recorder=Family)
    async with replica.running():
        verbs = {(each.rule.resources, verb) for each in replica.controller.rbac for verb in each.rule.verbs}
        assert {(("secrets",), verb) for verb in ("get", "list", "watch")} <= verbs
