"""The member of a ring: joins, renews, follows the others and leaves, also when the server fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, HttpRequest, HttpResponse, InProcessTransport
from pyctrl.controller import ControllerShard, Queue, Request, ShardBy, WorkItem, all_slots
from pyctrl.errors import LeadershipLost
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Sharding
from pyctrl.manager._sharding.member_state import MemberState
from pyctrl.manager._sharding.shard_member import ShardMember
from pyctrl.testing import Answered, AnswerLost, ConnectionRefused, FaultyTransport, Rule

LEASES = "*/leases"


def now() -> float:
    return asyncio.get_running_loop().time()


class Replica:
    """A member of the ring ``op`` with a network of its own, and a controller whose runs a test may hold."""

    def __init__(self, server: ApiServer, name: str, **options: Any) -> None:
        self.network = FaultyTransport(InProcessTransport(server))
        self.ending = asyncio.Event()
        self.member = ShardMember(
            Client(self.network, random=Random(name)),
            Sharding(name="op", **{"namespace": "default"} | options),
            namespace="default",
            identity=name,
            random=Random(name),
            ending=self.ending,
        )
        self.queue = Queue()
        self.shard = ControllerShard("keys", self.queue, ShardBy.UID, None, self.member.slots)
        self.member.slots.adopt(self.shard)
        self.release = asyncio.Event()
        self.ignores_cancel = False
        self.task: asyncio.Task[None]
        self.work: asyncio.Task[None] | None = None

    @property
    def slots(self) -> int:
        return self.member.slots.taken

    def cut(self) -> None:
        self.network.add(Rule(ConnectionRefused(), times=None))

    async def takes(self, slots: int, within: float = 60) -> float:
        """Wait until it takes this number of slots, and return the time."""
        async with asyncio.timeout(within):
            while self.slots.bit_count() != slots:
                await asyncio.sleep(0.05)
        return now()

    async def run_something(self) -> None:
        """Begin a run in one of its slots."""
        number = 0
        while not self.queue.remaining():
            self.shard.add(Request("default", f"key-{number}"))
            number += 1
        self.work = asyncio.create_task(self._work())
        await asyncio.sleep(0.01)
        assert self.member.slots.busy

    async def _work(self) -> None:
        async def handle(item: WorkItem) -> None:
            while not self.release.is_set():
                try:
                    await self.release.wait()
                except asyncio.CancelledError:
                    if not self.ignores_cancel:
                        raise
            item.succeed()

        async with self.queue.take() as item:
            await self.shard.handle(item, handle)

    async def stop(self) -> None:
        self.member.ask_to_stop()
        await asyncio.wait([self.task])


@asynccontextmanager
async def running(*replicas: Replica) -> AsyncIterator[None]:
    """Run members for the length of a block; stop those that still run at the end."""
    for replica in replicas:
        replica.task = asyncio.create_task(replica.member.run())
    try:
        yield
    finally:
        for replica in replicas:
            replica.network.clear()
            replica.release.set()
            if replica.work is not None:
                replica.work.cancel()
            replica.member.ask_to_stop()
        works = [replica.work for replica in replicas if replica.work is not None]
        await asyncio.gather(*(replica.task for replica in replicas), *works, return_exceptions=True)


@pytest.fixture
def server() -> ApiServer:
    return ApiServer(random=Random(1))


async def states(server: ApiServer) -> dict[str, MemberState]:
    """What the Leases of the ring say, by the identity of their replica."""
    leases = await Client(InProcessTransport(server)).list(Lease, namespace="default")
    read = [MemberState.of(lease, 15) for lease in leases]
    return {each.member.identity: each for each in read if each is not None}


def messages(caplog: pytest.LogCaptureFixture, level: int) -> list[str]:
    return [record.message for record in caplog.records if record.levelno == level]


# --- joining ---


async def test_a_replica_alone_takes_all_slots_at_once(server: ApiServer) -> None:
    """Without other replicas a replica takes all slots after two requests."""
    async with running(one := Replica(server, "a")):
        assert await one.takes(1024) < 0.1
        statistics = one.member.statistics()
        assert (statistics.members, statistics.has_joined, statistics.terms) == (1, True, 1)
        assert (statistics.slots, statistics.fair_slots, statistics.taken) == (1024, 1024, 1024)


async def test_two_replicas_divide_the_slots_at_the_next_read(server: ApiServer) -> None:
    """A replica that joins is acknowledged when the other one reads the Leases, not at its next renewal."""
    one, other = Replica(server, "a"), Replica(server, "b", weight=3.0)
    async with running(one):
        await one.takes(1024)
        async with running(other):
            began = now()
            async with asyncio.timeout(5):
                while not other.slots:
                    await asyncio.sleep(0.05)
            assert now() - began < 2.6  # a read of the first, each 2 to 2.2 seconds, and one of the second
            assert (one.slots & other.slots, one.slots | other.slots) == (0, all_slots())
            assert other.member.statistics().fair_slots == 768
            assert 0.65 < other.slots.bit_count() / 1024 < 0.85


async def test_each_try_to_join_has_a_term_of_its_own(server: ApiServer) -> None:
    """A replica whose first list fails tries again with another term: others may have acknowledged and forgotten it."""
    one = Replica(server, "a")
    one.network.add(Rule(ConnectionRefused(), method="GET", path=LEASES, times=None))
    async with running(one):
        await asyncio.sleep(1)
        first = (await states(server))["a"].member.term
        assert not one.slots
        one.network.clear()
        await one.takes(1024)
        assert (await states(server))["a"].member.term != first


async def test_a_replica_that_was_forgotten_while_it_joined_takes_nothing_of_others(server: ApiServer) -> None:
    """One that was acknowledged, then cut off for longer than a Lease, waits for a new acknowledgement."""
    one, other = Replica(server, "a"), Replica(server, "b")
    async with running(one):
        await one.takes(1024)
        other.network.add(Rule(ConnectionRefused(), method="GET", path=LEASES, times=None))
        async with running(other):
            await asyncio.sleep(0.5)
            other.cut()
            async with asyncio.timeout(10):
                while one.slots == all_slots():
                    await asyncio.sleep(0.05)
            await asyncio.sleep(13)
            one.network.add(Rule(ConnectionRefused(), method="PUT", times=None))  # its Lease still has the other's term
            await one.takes(1024)
            other.network.clear()
            for _ in range(90):
                await asyncio.sleep(0.05)
                assert not one.slots & other.slots
            one.network.clear()
            await asyncio.sleep(20)
            assert one.slots | other.slots == all_slots()


async def test_a_replica_that_cannot_join_tries_again(server: ApiServer, caplog: pytest.LogCaptureFixture) -> None:
    """Failures to join are logged once as a warning while they have one reason, and the replica joins afterwards."""
    one = Replica(server, "a")
    one.network.add(Rule(Answered.too_many_requests(), method="POST", times=None))
    async with running(one):
        await asyncio.sleep(20)
        assert one.member.statistics().failures > 1
        one.network.clear()
        await one.takes(1024)
    assert messages(caplog, logging.WARNING).count("Failed to join the ring") == 1


# --- losing the lease ---


async def test_a_replica_that_cannot_renew_stops_and_joins_again(
    server: ApiServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Cut off, a replica takes nothing after 10 seconds, loses its term at 14, and joins again in another one."""
    one = Replica(server, "a")
    async with running(one):
        await one.takes(1024)
        term = (await states(server))["a"].member.term
        one.cut()
        assert 9.5 < await one.takes(0) < 10.5
        await asyncio.sleep(10)
        assert one.member.statistics().losses == 1
        one.network.clear()
        await one.takes(1024)
        assert (await states(server))["a"].member.term != term
        assert one.member.statistics().terms == 2
    assert "Failed to renew lease, all reconciles stop" in messages(caplog, logging.ERROR)


async def test_lost_answers_lose_no_lease(server: ApiServer) -> None:
    """A replica that hears of only some of its renewals keeps its slots."""
    one = Replica(server, "a")
    async with running(one):
        await one.takes(1024)
        one.network.add(Rule(AnswerLost(), method="PUT", times=3))
        for _ in range(60):
            await asyncio.sleep(0.5)
            assert one.slots == all_slots()
        assert one.member.statistics().losses == 0


async def test_a_replica_whose_lease_is_deleted_begins_a_new_term(server: ApiServer) -> None:
    """A deleted Lease ends the term at the next renewal, as replicas that join do not know it."""
    one = Replica(server, "a")
    async with running(one):
        await one.takes(1024)
        before = (await states(server))["a"].member
        await Client(InProcessTransport(server)).delete_all_of(Lease, namespace="default")
        await asyncio.sleep(5)
        assert (await states(server))["a"].member.term != before.term
        assert one.member.statistics().losses == 1
        await one.takes(1024)


async def test_a_run_that_never_ends_ends_the_member_without_releasing(
    server: ApiServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A run that ignores its cancellation raises, and the Lease is not released: the run may still write."""
    one = Replica(server, "a")
    one.ignores_cancel = True
    async with running(one):
        await one.takes(1024)
        await one.run_something()
        one.cut()
        with pytest.raises(LeadershipLost, match="did not end although they were cancelled"):
            await one.task
        one.network.clear()
        assert (await states(server))["a"].holder == "a"
    assert "Not releasing lease, reconciles are still running" in messages(caplog, logging.WARNING)


class SlowExecution(InProcessTransport):
    """A server that executes each write four seconds after it was sent, although its sender is gone by then."""

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self.executed: list[asyncio.Task[HttpResponse]] = []

    async def request(self, request: HttpRequest) -> HttpResponse:
        self.executed.append(asyncio.create_task(self._execute(request)))
        return await asyncio.shield(self.executed[-1])

    async def _execute(self, request: HttpRequest) -> HttpResponse:
        await asyncio.sleep(4)
        return await super().request(request)


async def test_slots_move_after_the_last_writes_of_runs_that_were_cancelled(server: ApiServer) -> None:
    """Another replica takes slots once the server has executed what the former one has sent, and soon after."""
    one, other = Replica(server, "a", handover_timeout=timedelta(seconds=1)), Replica(server, "b")
    slow = SlowExecution(server)

    async def write(_item: WorkItem) -> None:
        await Client(slow).create(ConfigMap(metadata=ObjectMeta(generate_name="a-", namespace="default")))

    async def work() -> None:
        async with one.queue.take() as item:
            await one.shard.handle(item, write)

    async with running(one):
        await one.takes(1024)
        async with running(other):
            await asyncio.sleep(0.1)
            for number in range(8):
                one.shard.add(Request("default", f"key-{number}"))
            works = [asyncio.create_task(work()) for _ in range(8)]
            async with asyncio.timeout(10):
                while not other.slots:
                    await asyncio.sleep(0.01)
            assert 0 < one.member.statistics().cancelled < 8
            assert all(each.done() for each in slow.executed)
            assert 4 < now() < 5
            await asyncio.gather(*works)


# --- the end of replicas ---


async def test_a_stopped_replica_releases_its_lease(server: ApiServer) -> None:
    """The Lease of a replica that stopped has no holder, and names no slots that it keeps."""
    one = Replica(server, "a")
    async with running(one):
        await one.takes(1024)
        one.ending.set()
        await asyncio.sleep(0.1)
        assert (await states(server))["a"].kept == 0
        await one.stop()
        assert (await states(server))["a"].is_released


@pytest.mark.parametrize(("seconds", "is_released"), [(1, True), (5, False)])
async def test_a_lease_is_released_once_writes_are_answered(
    server: ApiServer, caplog: pytest.LogCaptureFixture, seconds: int, is_released: bool
) -> None:
    """A replica that stops waits for the answers to its writes; without them its Lease expires, as after a crash."""
    one = Replica(server, "a")
    async with running(one):
        await one.takes(1024)
        one.member.slots.gate(5).sent(write := asyncio.create_task(asyncio.sleep(seconds)))
        await one.stop()
        assert write.done() == is_released
        assert (await states(server))["a"].is_released == is_released
    warning = "Not releasing lease, the server has not answered all writes"
    assert (warning in messages(caplog, logging.WARNING)) is not is_released
    await write


async def test_a_lease_is_kept_if_so_configured(server: ApiServer) -> None:
    """With ``release_on_stop=False`` the Lease expires, as after a crash."""
    one = Replica(server, "a", release_on_stop=False)
    async with running(one):
        await one.takes(1024)
        await one.stop()
        assert (await states(server))["a"].holder == "a"


async def test_a_leaving_replica_keeps_the_slots_of_its_runs(server: ApiServer) -> None:
    """Before its controllers have ended a replica that stops yields what is idle, and the rest as it ends."""
    one, other = Replica(server, "a"), Replica(server, "b")
    async with running(one, other):
        async with asyncio.timeout(20):
            while not (one.slots and other.slots) or one.slots | other.slots != all_slots():
                await asyncio.sleep(0.05)
        await one.run_something()
        busy = one.member.slots.busy
        one.ending.set()
        await other.takes(1023, within=3)
        assert other.slots == all_slots() & ~busy
        one.release.set()
        await other.takes(1024, within=3)


async def test_the_lease_of_a_crashed_replica_is_released_and_deleted(server: ApiServer) -> None:
    """Others take the slots of a replica that was killed after its Lease, release it, and delete it later."""
    one, other = Replica(server, "a"), Replica(server, "b")
    async with running(one, other):
        async with asyncio.timeout(20):
            while not other.slots:
                await asyncio.sleep(0.05)
        one.cut()
        one.task.cancel()
        began = now()
        assert 12 < await other.takes(1024) - began < 20
        await asyncio.sleep(0.1)
        assert (await states(server))["a"].is_released
        await asyncio.sleep(10)
        assert list(await states(server)) == ["b"]


# --- permissions ---


@pytest.mark.parametrize("namespace", [None, "system"])
def test_a_member_needs_permissions_for_leases(server: ApiServer, namespace: str | None) -> None:
    """The role of a ring has the verbs for Leases whose names are not known, in its namespace only."""
    (permission,) = Replica(server, "a", namespace=namespace).member.rbac

    assert set(permission.rule.verbs) == {"create", "delete", "get", "list", "update"}
    assert permission.rule.resources == ("leases",)
    assert not permission.rule.names
    if namespace is not None:
        assert permission.where == frozenset(["system"])


async def test_the_load_is_in_the_lease(server: ApiServer) -> None:
    """A Lease says how many slots and requests its replica has, for those who look at the ring."""
    one = Replica(server, "a")
    async with running(one):
        await one.takes(1024)
        one.shard.add(Request("default", "key"))
        await asyncio.sleep(timedelta(seconds=3).total_seconds())
        load = (await states(server))["a"].load
        assert (load.slots, load.requests, load.moves) == (1024, 1, 1024)
