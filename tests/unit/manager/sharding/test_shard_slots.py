"""The slots that a replica works on: taken and yielded in steps, with runs that are cancelled in time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from pyctrl.client import HttpRequest
from pyctrl.controller import ControllerShard, Queue, Request, ShardBy, WorkItem, all_slots
from pyctrl.errors import LeadershipLost, NotLeading
from pyctrl.manager import Sharding
from pyctrl.manager._election.lease_lock import current_moment
from pyctrl.manager._sharding.member_state import MemberState
from pyctrl.manager._sharding.membership import Membership
from pyctrl.manager._sharding.rendezvous import wins
from pyctrl.manager._sharding.shard_slots import ShardSlots
from tests.unit.manager.sharding._members import member, state

ME, B = member("me"), member("b")
MINE = wins(ME, B)
WRITE = HttpRequest(method="POST", path="/api/v1/namespaces/default/configmaps")


def now() -> float:
    return asyncio.get_running_loop().time()


def key_in(slots: int) -> Request:
    """A request whose slot is in a set."""
    shard = ControllerShard("keys", Queue(), ShardBy.UID, None, slots_of(Membership(Sharding(name="op"))))
    for number in range(1000):
        request = Request("default", f"key-{number}")
        if (slot := shard.slot_of(request)) is not None and slots >> slot & 1:
            return request
    raise AssertionError("no key has such a slot")


def slots_of(membership: Membership, handover: float = 5) -> ShardSlots:
    return ShardSlots(
        membership,
        identity="me",
        handover_timeout=timedelta(seconds=handover),
        keep_for=timedelta(seconds=40),
        safe_time=timedelta(seconds=14),
        fields={},
    )


class Bench:
    """The slots of a replica that is alone at first, with one controller whose runs last until they are cancelled."""

    def __init__(self, handover: float) -> None:
        self.membership = Membership(Sharding(name="op", namespace="default"))
        self.slots = slots_of(self.membership, handover)
        self.queue = Queue()
        self.shard = ControllerShard("keys", self.queue, ShardBy.UID, None, self.slots)
        self.slots.adopt(self.shard)
        self.ends: list[float] = []
        self.cleanup = 0.0  # seconds that a cancelled run takes to end
        self.release = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []

    def begin(self, *others: MemberState) -> None:
        self.membership.begin_term(ME)
        self.renew()
        self.observe(*others)

    def renew(self) -> None:
        assert self.membership.renewed(current_moment(), current_moment())

    def observe(self, *others: MemberState) -> None:
        self.membership.observe([state(ME), *others], now(), now())
        self.slots.apply()

    async def run(self, request: Request) -> int:
        """Begin a run, and return the set of its slot."""
        self.shard.add(request)
        self.tasks.append(asyncio.create_task(self._work()))
        await asyncio.sleep(0.01)
        slot = self.shard.slot_of(request)
        assert slot is not None
        return 1 << slot

    async def _work(self) -> None:
        async def handle(item: WorkItem) -> None:
            try:
                await self.release.wait()
                item.succeed()
            finally:
                if not self.release.is_set() and self.cleanup:
                    await asyncio.sleep(self.cleanup)
                self.ends.append(round(now(), 1))

        async with self.queue.take() as item:
            await self.shard.handle(item, handle)

    async def follow(self, until: float) -> None:
        """Apply what follows whenever it is due, as the member does."""
        while now() < until:
            self.slots.has_news.clear()
            self.slots.apply()
            deadline = min(until, self.slots.next_deadline(now()))
            try:
                async with asyncio.timeout_at(deadline):
                    await self.slots.has_news.wait()
            except TimeoutError:
                await asyncio.sleep(0)


@asynccontextmanager
async def bench(*others: MemberState, handover: float = 5) -> AsyncIterator[Bench]:
    made = Bench(handover)
    made.begin(*others)
    try:
        yield made
    finally:
        made.release.set()
        made.shard.cancel(all_slots())
        for task in made.tasks:
            task.cancel()
        await asyncio.gather(*made.tasks, return_exceptions=True)


# --- taking and yielding ---


async def test_a_replica_that_has_joined_takes_its_slots() -> None:
    """Alone a replica takes all slots, and each may begin to run and write."""
    async with bench() as own:
        assert own.slots.taken == all_slots()
        assert own.slots.has(5)
        assert own.slots.may_begin(5)
        assert own.slots.may_write(5, ME.term)
        assert own.slots.taken_count == 1024


async def test_a_replica_yields_what_another_wins_and_acknowledges_it_at_once() -> None:
    """With nothing running the slots of a replica that joins are yielded, and its Lease is to say so."""
    async with bench() as own:
        own.observe(state(B))
        assert own.slots.taken == own.membership.held == MINE
        assert own.membership.acknowledged == {B.term}
        assert own.slots.must_write.is_set()
        assert own.slots.yielded_count == 1024 - MINE.bit_count()


async def test_a_replica_acknowledges_once_a_run_has_ended() -> None:
    """A run in a slot that moves may end and write; then the replica is notified, and acknowledges."""
    async with bench() as own:
        slot = await own.run(key_in(all_slots() & ~MINE))
        number = slot.bit_length() - 1
        own.observe(state(B))
        assert (own.slots.has(number), own.slots.may_begin(number)) == (False, False)
        assert own.slots.may_write(number, ME.term)
        assert own.membership.acknowledged == frozenset()

        own.slots.has_news.clear()
        own.release.set()
        await own.slots.has_news.wait()
        own.slots.apply()
        assert own.membership.acknowledged == {B.term}
        assert not own.slots.may_write(number, ME.term)


@pytest.mark.parametrize(("answered_at", "acknowledged_at"), [(8, 8), (60, 14)])
async def test_a_slot_is_yielded_once_its_writes_are_answered(answered_at: int, acknowledged_at: int) -> None:
    """A write of a run that was cancelled keeps its slot until it is answered, at most for the safe time."""
    async with bench(handover=0) as own:
        slot = await own.run(key_in(all_slots() & ~MINE))
        write = asyncio.create_task(asyncio.sleep(answered_at - now()))
        own.slots.gate(slot.bit_length() - 1).sent(write)
        own.observe(state(B))
        await own.follow(1)
        assert own.ends == [0.0]
        assert own.membership.held & slot
        assert own.membership.acknowledged == frozenset()
        for second in range(2, 20):
            own.renew()
            await own.follow(second + 0.5)
            assert bool(own.membership.acknowledged) == (second >= acknowledged_at), second
        assert not own.membership.held & slot
        await write


async def test_an_unanswered_write_does_not_end_the_replica() -> None:
    """A lost Lease is given up although the server does not answer: only runs must have ended."""
    async with bench() as own:
        slot = await own.run(key_in(all_slots()))
        write = asyncio.create_task(asyncio.sleep(60))
        own.slots.gate(slot.bit_length() - 1).sent(write)
        await own.slots.stop()
        assert now() < 5
        assert (own.slots.running, own.slots.busy) == (0, slot)
        write.cancel()


async def test_controllers_get_the_requests_of_taken_slots() -> None:
    """A request that was left out runs when the replica takes its slot, and is dropped when it yields it."""
    async with bench(state(B, acknowledged=ME.term)) as own:
        key = key_in(all_slots() & ~MINE)
        own.shard.add(key)
        assert own.queue.remaining() == []
        own.observe(state(B, holder=""))
        await asyncio.sleep(0.1)
        assert own.queue.remaining() == [key]
        own.observe(state(replace(B, term="b-2")))
        await asyncio.sleep(0.1)
        assert own.queue.remaining() == []


async def test_those_who_follow_moves_are_called() -> None:
    """A callback is called whenever slots have moved, and not otherwise."""
    async with bench() as own:
        seen: list[int] = []
        own.slots.on_move(lambda: seen.append(own.slots.taken))
        own.observe()
        own.observe(state(B))
        assert seen == [MINE]


async def test_a_controller_that_has_ended_is_forgotten() -> None:
    """Runs and requests of a controller that has ended do not count."""
    async with bench() as own:
        await own.run(key_in(all_slots()))
        assert own.slots.busy
        assert own.slots.requests == 1
        own.slots.release(own.shard)
        assert (own.slots.busy, own.slots.requests) == (0, 0)


# --- a lease that is not renewed ---


async def test_requests_that_were_refused_are_added_again() -> None:
    """A request that comes after the renew deadline waits, and runs when the Lease has been renewed."""
    async with bench() as own:
        key = key_in(all_slots())
        slot = own.shard.slot_of(key)
        assert slot is not None
        await asyncio.sleep(10)
        own.slots.has_news.clear()
        assert not own.slots.may_begin(slot)
        assert own.slots.has_news.is_set()
        own.shard.add(key)
        own.slots.apply()
        await asyncio.sleep(0.1)
        assert (own.slots.taken, own.queue.remaining()) == (0, [])

        own.renew()
        own.slots.apply()
        await asyncio.sleep(0.1)
        assert own.queue.remaining() == [key]


async def test_a_refusal_that_is_followed_by_a_renewal_loses_nothing() -> None:
    """A slot that was refused once, and is still taken when the replica looks, adds its requests again."""
    async with bench() as own:
        key = key_in(all_slots())
        await asyncio.sleep(10)
        own.shard.add(key)
        async with own.queue.take() as item:
            await own.shard.handle(item, lambda _item: asyncio.sleep(0))
        assert own.queue.remaining() == []
        own.renew()
        own.slots.apply()
        await asyncio.sleep(0.1)
        assert own.queue.remaining() == [key]


async def test_a_replica_without_a_renewal_may_not_write_after_the_safe_time() -> None:
    """Writes are refused from 14 seconds after the last renewal, with a message that names the replica."""
    async with bench() as own:
        gate = own.slots.gate(5)
        await asyncio.sleep(13.9)
        gate.check(WRITE)
        await asyncio.sleep(0.1)
        with pytest.raises(NotLeading, match=r"was not sent: this replica \(me\) no longer holds the shard"):
            gate.check(WRITE)


async def test_a_run_of_an_earlier_term_may_not_write() -> None:
    """The gate of a run belongs to the term in which it began, also when the slot is held again."""
    async with bench() as own:
        gate = own.slots.gate(5)
        await own.slots.stop()
        own.membership.end_term()
        own.membership.begin_term(member("me", term="me-2"))
        own.renew()
        own.observe()
        assert own.slots.may_write(5, "me-2")
        with pytest.raises(NotLeading):
            gate.check(WRITE)


# --- deadlines ---


async def test_runs_in_slots_that_move_are_cancelled_after_the_handover_timeout() -> None:
    """A run in a slot that another replica wins has five seconds, and those in other slots go on."""
    async with bench() as own:
        await own.run(key_in(all_slots() & ~MINE))
        kept = await own.run(key_in(MINE))
        own.observe(state(B))
        await own.follow(3)
        own.renew()
        await own.follow(9)
        assert own.ends == [5.0]
        assert own.slots.busy == kept
        assert own.slots.cancelled_count == 1
        assert own.membership.acknowledged == {B.term}


async def test_the_deadline_of_a_move_does_not_change() -> None:
    """Further moves do not delay the cancellation of a run that must end already."""
    async with bench() as own:
        await own.run(key_in(all_slots() & ~MINE))
        own.observe(state(B))
        await own.follow(4)
        own.observe(state(B, renewal="2"), state(member("c")))
        await own.follow(8)
        assert own.ends == [5.0]


async def test_all_runs_are_cancelled_before_the_term_is_over() -> None:
    """Without a renewal runs are cancelled at 12.5 seconds, halfway between renew deadline and the Lease's end."""
    async with bench(handover=10) as own:
        await own.run(key_in(MINE))
        await own.follow(13)
        assert own.ends == [12.5]


async def test_a_renewal_in_time_saves_the_runs() -> None:
    """A renewal after the renew deadline, but before runs are cancelled, lets them go on."""
    async with bench(handover=10) as own:
        await own.run(key_in(MINE))
        await own.follow(12)
        own.renew()
        await own.follow(21)
        assert own.ends == []


async def test_a_slot_that_comes_back_saves_its_run() -> None:
    """A run whose slot moves away and back before its deadline goes on."""
    async with bench() as own:
        await own.run(key_in(all_slots() & ~MINE))
        own.observe(state(B))
        await own.follow(4)
        own.observe(state(B, renewal="2", holder=""))
        await own.follow(9)
        assert own.ends == []


async def test_a_run_that_does_not_end_ends_the_replica() -> None:
    """A run that ignores its cancellation for too long raises, since its slot can never be yielded."""
    async with bench() as own:
        own.cleanup = 1000
        await own.run(key_in(all_slots() & ~MINE))
        own.observe(state(B))
        with pytest.raises(LeadershipLost, match="although they were cancelled: their shards move"):
            await own.follow(60)
        assert 5 < now() < 60


# --- the end of a term ---


async def test_stopping_ends_all_runs() -> None:
    """At the end of a term all runs are cancelled and all requests dropped before `stop` returns."""
    async with bench() as own:
        own.cleanup = 1
        await own.run(key_in(MINE))
        own.shard.add(key_in(all_slots() & ~MINE))
        await own.slots.stop()
        assert (own.slots.taken, own.slots.busy) == (0, 0)
        assert own.ends == [1.0]


async def test_stopping_does_not_wait_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    """A run that ignores its cancellation at the end of a term raises."""
    async with bench() as own:
        own.cleanup = 1000
        await own.run(key_in(MINE))
        with pytest.raises(LeadershipLost, match="a lease was lost"):
            await own.slots.stop()
    assert "Cancelled reconciles whose shards move" in [
        record.message for record in caplog.records if record.levelno == logging.WARNING
    ]


async def test_a_replica_that_leaves_yields_each_slot_once_nothing_runs_in_it() -> None:
    """On leaving the Lease is to name the slots in which something runs, and to be written again as they end."""
    async with bench() as own:
        slot = await own.run(key_in(MINE))
        own.membership.is_leaving = True
        own.slots.must_write.clear()
        own.slots.apply()
        assert (own.slots.taken, own.membership.held) == (0, slot)
        assert own.slots.must_write.is_set()

        own.slots.must_write.clear()
        own.slots.apply()
        assert not own.slots.must_write.is_set()
        own.release.set()
        await own.slots.has_news.wait()
        own.slots.apply()
        assert own.membership.held == 0
        assert own.slots.must_write.is_set()
