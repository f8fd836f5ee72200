"""Managers that divide the requests of their controllers: each request has one replica at a time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.controller import Request, Result, ShardBy, by_label
from pyctrl.controller._sharding.shard_key import slot_of_uid
from pyctrl.errors import ManagerError
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager, MemoryFingerprints, Sharding
from tests.unit.manager.sharding._rings import (
    ALL_SLOTS,
    Replica,
    admin,
    config_map,
    create,
    divided,
    forget,
    maps,
    ring,
    seen,
)

NAMES = [f"map-{number}" for number in range(40)]


async def test_each_object_has_one_replica() -> None:
    """Of three replicas each reconciles about a third of the objects, and no object has two."""
    server = ApiServer()
    async with ring(server, "a", "b", "c") as replicas:
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        assert seen(replicas) == dict.fromkeys(NAMES, 1)
        assert all(5 <= len(replica.recorder.seen) <= 25 for replica in replicas)
        assert [replica.slots for replica in replicas] == pytest.approx([ALL_SLOTS / 3] * 3, rel=0.15)


async def test_a_replica_that_joins_takes_its_share_and_nothing_else_moves() -> None:
    """The objects that a new replica takes are reconciled by it; those that stay are not reconciled again."""
    server = ApiServer()
    async with ring(server, "a", "b") as replicas:
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        before = {replica.name: set(replica.recorder.seen) for replica in replicas}
        forget(replicas)
        third = Replica(server, "c")
        async with third.running():
            await divided([*replicas, third])
            await asyncio.sleep(1)
            assert 4 <= len(third.recorder.seen) <= 24
            assert not seen(replicas)
            taken = set(third.recorder.seen)
            await admin(server).delete_all_of(ConfigMap, namespace="default")
            await asyncio.sleep(1)
            for replica in replicas:
                assert set(replica.recorder.seen) == before[replica.name] - taken


async def test_a_replica_that_stops_leaves_its_objects_at_once() -> None:
    """The others reconcile what a stopped replica had, two seconds later, without waiting for its Lease."""
    server = ApiServer()
    async with ring(server, "a", "b", "c") as replicas:
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        gone, *rest = replicas
        had = set(gone.recorder.seen)
        forget(rest)
        await gone.stop()
        await divided(rest, within=3)
        await asyncio.sleep(0.1)
        assert seen(rest) == dict.fromkeys(had, 1)


async def test_objects_move_while_a_slow_reconcile_holds_only_its_own() -> None:
    """A replica that stops keeps the slot of a reconcile that still runs, and yields all others meanwhile."""
    server, release = ApiServer(), asyncio.Event()
    async with ring(server, "a", "b") as (slow, other):
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        mine = slow.recorder.seen[0]
        slots = {each.metadata.name: slot_of_uid(each.metadata.uid or "") for each in await maps(server)}

        async def wait(request: Request) -> None:
            if request.name == mine:
                await release.wait()

        slow.recorder.work = wait
        slow.controller.enqueue(Request("default", mine))
        await asyncio.sleep(0.1)
        had = set(slow.recorder.seen)
        forget([other])
        slow.manager.ask_to_stop()
        await asyncio.sleep(5)
        assert set(other.recorder.seen) == {name for name in had if slots[name] != slots[mine]}
        release.set()
        await divided([other], within=5)
        await asyncio.sleep(0.1)
        assert mine in other.recorder.seen


async def test_a_replica_that_is_cut_off_stops_before_others_take_its_objects() -> None:
    """Its running reconcile is cancelled and its writes are refused; others reconcile its objects once it is out."""
    server = ApiServer()
    async with ring(server, "a", "b") as (lost, other):
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        had, loop = set(lost.recorder.seen), asyncio.get_running_loop()
        began, ends = loop.time(), []

        async def work(_request: Request) -> None:
            try:
                await asyncio.sleep(100)
            finally:
                ends.append(loop.time() - began)

        lost.recorder.work = work
        lost.controller.enqueue(Request("default", min(had)))
        lost.cut()
        forget([other])
        await divided([other], within=30)
        await asyncio.sleep(0.5)
        taken_at = loop.time() - began - 0.5
        assert had <= set(other.recorder.seen)
        assert ends == [pytest.approx(12.5, abs=2.5)]  # halfway between renew deadline and lease duration
        assert ends[0] < taken_at < 20
        lost.network.clear()
        await divided([lost, other])


async def test_a_write_after_the_loss_is_refused() -> None:
    """A reconcile that ignores its cancellation may not write once another replica may have its object."""
    server = ApiServer()
    async with ring(server, "a", "b") as (lost, other):
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        name = min(lost.recorder.seen)

        async def stubborn(request: Request) -> None:
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                await asyncio.sleep(4)
                await lost.recorder.client.create(config_map(f"late-{request.name}"))

        lost.recorder.work = stubborn
        lost.controller.enqueue(Request("default", name))
        lost.cut()
        await divided([other], within=30)
        assert lost.recorder.refused == [name]


async def test_singletons_run_once_and_others_everywhere() -> None:
    """A controller with ``only_leader=True`` runs on one replica of a ring, one with False on all of them."""
    for leader, expected in ((True, 1), (False, 2)):
        server = ApiServer()
        replicas = [Replica(server, name, leader=leader) for name in ("a", "b")]
        async with replicas[0].running(), replicas[1].running():
            await create(admin(server), NAMES[:5])
            await asyncio.sleep(40)
            assert seen(replicas) == dict.fromkeys(NAMES[:5], expected)


async def test_a_deletion_reaches_the_replica_that_had_the_object() -> None:
    """A deleted object is reconciled once more, by its replica, which does not find it; a retry stays there."""
    server = ApiServer()
    async with ring(server, "a", "b", "c") as replicas:
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        before = {name: replica.name for replica in replicas for name in replica.recorder.seen}
        forget(replicas)

        async def fail_once(request: Request) -> None:
            if seen(replicas)[request.name] == 1:
                raise OSError("not yet")

        for replica in replicas:
            replica.recorder.work = fail_once
        await admin(server).delete_all_of(ConfigMap, namespace="default")
        await asyncio.sleep(5)
        assert seen(replicas) == dict.fromkeys(NAMES, 2)
        assert before == {name: replica.name for replica in replicas for name in replica.recorder.seen}
        assert not any(found for replica in replicas for found in replica.recorder.found.values())


async def test_timers_move_with_their_objects() -> None:
    """The new replica of an object reconciles it at once, and sets its timer again; the old one forgets it."""
    server = ApiServer()
    async with ring(server, "a", "b") as (gone, rest):

        async def again(_request: Request) -> Result:
            return Result.after(timedelta(seconds=60))

        gone.recorder.work = rest.recorder.work = again
        await create(admin(server), NAMES)
        await asyncio.sleep(1)
        await gone.stop()
        await divided([rest], within=5)
        forget([rest])
        await asyncio.sleep(130)
        assert all(2 <= count <= 3 for count in seen([rest]).values())
        assert set(rest.recorder.seen) == set(NAMES)


async def test_requests_without_an_object_have_a_replica_too() -> None:
    """A request for an object that does not exist runs on one replica, also if it comes while its slot moves."""
    server = ApiServer()
    async with ring(server, "a", "b") as replicas:
        names = [f"none-{number}" for number in range(20)]
        for replica in replicas:
            for name in names:
                replica.controller.enqueue(Request("default", name))
        await asyncio.sleep(1)
        assert seen(replicas) == dict.fromkeys(names, 1)
        gone, rest = replicas
        had = set(gone.recorder.seen)
        forget(replicas)
        await gone.stop()
        for name in names:
            rest.controller.enqueue(Request("default", name))
        await divided([rest], within=5)
        await asyncio.sleep(0.1)
        assert had <= set(rest.recorder.seen)


async def test_all_objects_of_a_namespace_have_one_replica() -> None:
    """With `ShardBy.NAMESPACE` objects follow their namespace."""
    server = ApiServer()
    async with ring(server, "a", "b", key=ShardBy.NAMESPACE) as replicas:
        await create(admin(server), NAMES, "default")
        await asyncio.sleep(1)
        assert sorted(len(replica.recorder.seen) for replica in replicas) == [0, len(NAMES)]


async def test_objects_are_divided_by_a_label() -> None:
    """With `by_label` objects with the same value have one replica, and objects without the label are divided."""
    server = ApiServer()
    async with ring(server, "a", "b", key=by_label("tenant")) as replicas:
        client = admin(server)
        for number in range(30):
            await client.create(config_map(f"red-{number}", tenant="red"))
            await client.create(config_map(f"free-{number}"))
        await asyncio.sleep(1)
        red = [sum(name.startswith("red") for name in replica.recorder.seen) for replica in replicas]
        free = [sum(name.startswith("free") for name in replica.recorder.seen) for replica in replicas]
        assert sorted(red) == [0, 30]
        assert min(free) >= 5


async def test_weights_divide_unequally() -> None:
    """A replica of weight 3 beside one of weight 1 has three quarters of the slots."""
    server = ApiServer()
    heavy, light = Replica(server, "a", weight=3.0), Replica(server, "b")
    async with heavy.running(), light.running():
        await divided([heavy, light])
        assert heavy.slots == pytest.approx(ALL_SLOTS * 3 / 4, rel=0.1)


async def test_a_canary_has_its_share() -> None:
    """A new version with ``canary=0.1`` has a tenth of the slots beside two replicas of the old one."""
    server = ApiServer()
    async with ring(server, "a", "b", version="1") as old:
        new = Replica(server, "c", version="2", canary=0.1)
        async with new.running():
            await divided([*old, new])
            assert new.slots == pytest.approx(ALL_SLOTS / 10, abs=1)


async def test_leases_of_ended_replicas_are_deleted() -> None:
    """The Lease of a replica that has stopped is gone a little later; that of the leader election stays."""
    server = ApiServer()
    async with ring(server, "a", "b") as (gone, _rest):
        await gone.stop()
        await asyncio.sleep(20)
        leases = await admin(server).list(Lease, namespace="default")
        assert len(leases) == 2  # one member, one leader
        assert "op" in {lease.metadata.name for lease in leases}


async def test_a_deleted_lease_begins_a_new_term() -> None:
    """A replica whose Lease is deleted joins again, and each object has a replica again."""
    server = ApiServer()
    async with ring(server, "a", "b") as replicas:
        client = admin(server)
        for lease in await client.list(Lease, namespace="default", labels="sharding.pyctrl.io/ring=op"):
            await client.delete(lease)
        await asyncio.sleep(3)
        await divided(replicas, within=60)
        await create(client, NAMES)
        await asyncio.sleep(1)
        assert seen(replicas) == dict.fromkeys(NAMES, 1)


async def test_a_replica_is_ready_once_all_others_know_it() -> None:
    """Until it works it says for whom it waits; a Deployment does not go on before."""
    server = ApiServer()
    async with ring(server, "a") as (silent,):
        silent.cut()
        new = Replica(server, "b")
        async with new.running():
            await asyncio.sleep(1)
            assert "have acknowledged this replica" in new.manager.not_ready["sharding"]
            await asyncio.sleep(30)
            assert new.manager.not_ready == {}
            assert silent.manager.not_ready["sharding"]


async def test_metrics_tell_the_share() -> None:
    """Each replica tells its members, slots and imbalance."""
    server = ApiServer()
    async with ring(server, "a", "b") as (one, _other):
        values = {
            family.name: family.samples[0][1]
            for family in one.manager.collect_metrics()
            if family.name.startswith("pyctrl_shard_")
        }
        assert values["pyctrl_shard_members"] == 2
        assert values["pyctrl_shard_slots"] == one.slots
        assert values["pyctrl_shard_imbalance"] == pytest.approx(1.0, abs=0.15)


async def test_bad_options_are_refused() -> None:
    """A mistake in the options raises one clear error."""
    client = Client(InProcessTransport(ApiServer()), random=Random(0))
    with pytest.raises(ManagerError, match="needs a name such as 'podset-operator'"):
        Sharding(name="Not A Name")
    with pytest.raises(ManagerError, match="weight must be above 0"):
        Sharding(name="op", weight=0)
    with pytest.raises(ManagerError, match="a canary needs version="):
        Sharding(name="op", canary=0.1)
    with pytest.raises(ManagerError, match=r"set Sharding\(namespace=...\)|set LeaderElection\(namespace=...\)"):
        Manager(client=client, sharding=Sharding(name="op"))
    sharding = Sharding(name="op", namespace="default")
    with pytest.raises(ManagerError, match="leave out either fingerprints or sharding"):
        async with Manager(client=client, sharding=sharding, fingerprints=MemoryFingerprints()):
            pass
