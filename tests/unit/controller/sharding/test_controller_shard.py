"""The requests of one controller in the slots of its replica: taken, left out, dropped and cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from datetime import timedelta

import pytest

from pyctrl._time_slices import STEPS
from pyctrl.cache import CachedClient, Record
from pyctrl.client import HttpRequest, MergePatch
from pyctrl.client._transport.leader_gate import check_gates
from pyctrl.controller import (
    ControllerShard,
    KindSource,
    Queue,
    Request,
    ShardBy,
    TriggerCause,
    WorkItem,
    all_slots,
    by_label,
)
from pyctrl.controller._handlers import for_object
from pyctrl.controller._sharding.shard_key import slot_of_text, slot_of_uid
from pyctrl.errors import NotLeading
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.controller.sharding._shards import Bench, Slots, config_map, request, shard

NAMES = [f"map-{number}" for number in range(20)]
WRITE = HttpRequest(method="POST", path="/api/v1/namespaces/default/configmaps")


async def succeed(item: WorkItem) -> None:
    item.succeed()


async def handled(bench: Bench, name: str) -> None:
    """Let a worker handle the next request, which must be that for an object."""
    async with bench.queue.take() as item:
        assert item.request.name == name
        await bench.shard.handle(item, succeed)


@pytest.fixture
def began() -> asyncio.Event:
    """Set when a reconcile has begun."""
    return asyncio.Event()


def working(bench: Bench, began: asyncio.Event, result: type[BaseException] | None = None) -> asyncio.Task[None]:
    """Start a worker that reconciles the next request until it is cancelled; then it raises an error of a type."""

    async def work(_item: WorkItem) -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            if result is not None:
                raise result("of the reconciler")

    async def take() -> None:
        async with bench.queue.take() as item:
            await bench.shard.handle(item, work)

    return asyncio.create_task(take())


# --- the slot of a request ---


async def test_a_request_has_the_slot_of_the_uid_of_its_object() -> None:
    """By default requests are divided by uid."""
    async with shard(ShardBy.UID, "a") as bench:
        found = await bench.client.get(ConfigMap, request("a").key)
        assert bench.slot("a") == slot_of_uid(found.metadata.uid)


async def test_a_request_without_an_object_has_the_slot_of_its_name() -> None:
    """A request for an object that does not exist is divided by namespace and name."""
    async with shard() as bench:
        assert bench.slot("none") == slot_of_text("default/none")


async def test_requests_follow_their_namespace_or_cluster() -> None:
    """By namespace or cluster all requests of one of them have one slot, whether the object exists or not."""
    async with shard(ShardBy.NAMESPACE, "a") as bench:
        assert bench.slot("a") == bench.slot("none") == slot_of_text("default")
        assert bench.shard.slot_of(request("a", "other")) == slot_of_text("other")
    async with shard(ShardBy.CLUSTER, "a") as bench:
        assert bench.slot("a") == bench.slot("none") == slot_of_text("")
        assert bench.shard.slot_of(Request("default", "a", "west")) == slot_of_text("west")


async def test_a_label_divides_requests() -> None:
    """Objects with the same label have one slot; an object without it has that of namespace and name."""
    async with shard(by_label("tenant"), "free") as bench:
        for name in ("a", "b"):
            await bench.client.create(config_map(name, tenant="red"))
        await asyncio.sleep(1)
        assert bench.slot("a") == bench.slot("b") == slot_of_text("red")
        assert bench.slot("free") == slot_of_text("default/free")


async def test_a_key_that_raises_falls_back_to_the_name_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """A shard key with a bug stops no controller: requests are divided by name, and one error says so."""

    def key(record: Record) -> str:
        raise KeyError(record.name)

    async with shard(key, "a", "b") as bench:
        assert (bench.slot("a"), bench.slot("b")) == (slot_of_text("default/a"), slot_of_text("default/b"))
    errors = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert errors == ["The shard key failed, namespace and name are used instead"]


async def test_a_deleted_object_keeps_its_slot_for_a_while() -> None:
    """The request for a deletion has the slot of the object's last state, later that of its name."""
    async with shard(ShardBy.UID, "a") as bench:
        slot = bench.slot("a")
        await bench.client.delete(ConfigMap, request("a").key)
        await asyncio.sleep(1)
        assert bench.slot("a") == slot
        await bench.empty()
        await asyncio.sleep(41)
        bench.slots.slots = 0
        bench.shard.add(request("another"))
        assert bench.slot("a") == slot_of_text("default/a")


async def test_a_deleted_object_keeps_its_slot_while_it_is_retried() -> None:
    """A retry for a deleted object has the slot of its first run, however long it takes."""
    async with shard(ShardBy.UID, "a") as bench:
        slot = bench.slot("a")
        await bench.client.delete(ConfigMap, request("a").key)
        await asyncio.sleep(1)
        async with bench.queue.take() as item:
            item.fail(OSError("not yet"))
        bench.queue.add(request("a"), after=timedelta(seconds=300))
        await asyncio.sleep(100)
        bench.slots.slots &= ~(1 << bench.slot("another"))
        bench.shard.add(request("another"))
        assert bench.slot("a") == slot


async def test_an_object_that_is_created_again_has_a_slot_of_its_own() -> None:
    """The uid of the new object counts, not that of the deleted one."""
    async with shard(ShardBy.UID, "a") as bench:
        await bench.client.delete(ConfigMap, request("a").key)
        await asyncio.sleep(1)
        again = await bench.client.create(config_map("a"))
        await asyncio.sleep(1)
        assert bench.slot("a") == slot_of_uid(again.metadata.uid)


# --- what it accepts ---


async def test_only_requests_of_its_slots_are_added() -> None:
    """Changes of objects of other replicas add nothing."""
    async with shard(slots=0) as bench:
        mine = bench.slots_of("none-1", "none-2")
        bench.slots.slots = mine
        for number in range(10):
            bench.shard.add(request(f"none-{number}"))
        assert bench.pending() == ["none-1", "none-2"]


async def test_changes_of_objects_are_divided() -> None:
    """Of the objects that a cache lists the controller gets those of its slots, with the same result as `take`."""
    async with shard(ShardBy.UID, *NAMES, slots=0) as bench:
        assert bench.pending() == []
        half = bench.slots_of(*NAMES[:10])
        bench.slots.slots = half
        for name in NAMES:
            await bench.client.patch(ConfigMap, request(name).key, MergePatch({"data": {"a": "b"}}))
        await asyncio.sleep(1)
        assert bench.pending() == sorted(name for name in NAMES if half >> bench.slot(name) & 1)


async def test_a_request_that_was_left_out_comes_with_its_slot() -> None:
    """A request without an object that came while another replica had its slot runs here if the slot comes in time."""
    async with shard(slots=0) as bench:
        cause = TriggerCause("test")
        bench.shard.add(request("none"), priority=7, cause=cause, is_gone=True)
        await asyncio.sleep(39)
        await bench.move(gained=bench.slots_of("none"))
        async with bench.queue.take() as item:
            assert (item.request, item.priority, item.causes) == (request("none"), 7, (cause,))
            item.succeed()
        await bench.move(gained=bench.slots_of("none"))
        assert bench.pending() == []


async def test_a_request_that_was_left_out_is_forgotten() -> None:
    """After the time for which requests are kept a left out one does not come back."""
    async with shard(slots=0) as bench:
        bench.shard.add(request("none"))
        await asyncio.sleep(41)
        bench.shard.add(request("another"))
        await bench.move(gained=all_slots())
        assert bench.pending() == ["another"]


async def test_a_request_for_an_object_is_not_kept() -> None:
    """What is in the cache is found by `take`; nothing is kept for it, and it is not added twice."""
    async with shard(ShardBy.UID, "a", slots=0) as bench:
        bench.shard.add(request("a"), priority=7)
        await bench.move(gained=all_slots())
        async with bench.queue.take() as item:
            assert item.priority < 0
            item.succeed()
        assert bench.pending() == []


# --- slots that move ---


async def test_a_taken_slot_adds_its_objects_and_no_others() -> None:
    """Taking slots adds the requests of all objects in them."""
    async with shard(ShardBy.UID, *NAMES, slots=0) as bench:
        half = bench.slots_of(*NAMES[:10])
        await bench.move(gained=half)
        assert bench.pending() == sorted(name for name in NAMES if half >> bench.slot(name) & 1)


@pytest.mark.slow(reason="creates 10,000 objects")
@pytest.mark.timeout(60)
async def test_taking_many_objects_does_not_block_the_loop() -> None:
    """While 10,000 requests are added the loop runs everything else, at least once for each time slice."""
    count = 10_000
    async with shard(ShardBy.UID, *map(str, range(count)), slots=0) as bench:
        taking = asyncio.create_task(bench.move(gained=all_slots()))
        turns = 0
        while not taking.done():
            await asyncio.sleep(0)
            turns += 1
        assert bench.queue.statistics().ready >= count
        assert turns >= count / STEPS


async def test_objects_that_are_listed_before_their_slot_comes_run_once() -> None:
    """A slot that comes while the objects of a list wait to be handled runs each of them once, not twice."""
    async with shard(ShardBy.UID, *map(str, range(500)), slots=0) as bench:
        source = KindSource(CachedClient(bench.cache, bench.client), ConfigMap, for_object, is_reconciled=True)
        queue, slots, runs = Queue(), Slots(0), Counter[str]()
        mine = ControllerShard("late", queue, ShardBy.UID, source, slots)
        following = asyncio.create_task(source.run(mine))
        await asyncio.sleep(0)
        slots.slots = all_slots()
        taking = asyncio.create_task(mine.take(all_slots()))
        while not (taking.done() and source.synced.is_set() and not queue.statistics().ready):
            await asyncio.sleep(0)
            while queue.statistics().ready:
                async with queue.take() as item:
                    runs[item.request.name] += 1
                    item.succeed()
        assert (len(runs), set(runs.values())) == (500, {1})
        following.cancel()


async def test_what_another_replica_has_is_not_handled() -> None:
    """Of listed objects those in slots of others are left to `take`, and before the first list is complete none is."""
    async with shard(ShardBy.UID, "a", "b", slots=0) as bench:
        records = [bench.source.informer.find(request(name).key) for name in "ab"]
        bench.slots.slots = bench.slots_of("a")
        assert bench.source.is_added_later is not None
        assert [record is not None and bench.source.is_added_later(record) for record in records] == [False, True]
    unsynced = Bench(ShardBy.UID, 0)
    assert unsynced.source.is_added_later is not None
    assert not unsynced.source.is_added_later(Record(b"{}", "a", "default", "a", 1))


async def test_a_slot_that_is_lost_while_it_is_taken_adds_nothing_more() -> None:
    """A slot that another replica gets before all its objects were added adds none of the others."""
    async with shard(ShardBy.UID, *NAMES, slots=0) as bench:
        bench.slots.slots = 0
        await bench.shard.take(all_slots())
        assert bench.pending() == []


async def test_a_lost_slot_drops_its_requests() -> None:
    """Requests that are ready, delayed, retried or on a timer are dropped with their slot; others stay."""
    async with shard(ShardBy.UID, *NAMES[:5]) as bench:
        ready, late, retried, timed, other = NAMES[:5]
        for name in (retried, timed):
            bench.shard.add(request(name))
            async with bench.queue.take() as item:
                if name == retried:
                    item.fail(OSError("not yet"))
                else:
                    item.succeed(requeue_after=timedelta(hours=1))
        bench.shard.add(request(ready))
        bench.shard.add(request(other))
        bench.shard.add(request(late), after=timedelta(hours=1))
        assert bench.pending() == sorted(NAMES[:5])
        await bench.move(lost=all_slots() & ~bench.slots_of(other))
        assert bench.pending() == [other]
        await asyncio.sleep(7200)
        assert bench.pending() == [other]


async def test_a_lost_request_without_an_object_comes_back_with_its_slot() -> None:
    """A pending deletion whose slot is lost and taken again, before another replica had it, still runs."""
    async with shard(ShardBy.UID, "a") as bench:
        await bench.client.delete(ConfigMap, request("a").key)
        await asyncio.sleep(1)
        assert bench.pending() == ["a"]
        await bench.move(lost=all_slots())
        assert bench.pending() == []
        await bench.move(gained=all_slots())
        assert bench.pending() == ["a"]


async def test_a_shard_without_objects_takes_what_it_left_out() -> None:
    """A controller that reconciles no kind of the cache has only requests that were added."""
    slots = Slots()
    lonely = ControllerShard("lonely", queue := Queue(), ShardBy.UID, None, slots)
    lonely.add(request("a"))
    slots.slots = all_slots()
    await lonely.take(all_slots())
    assert queue.remaining() == [request("a")]
    assert lonely.informer is None


async def test_a_cluster_that_is_gone_drops_its_requests() -> None:
    """The requests of a cluster are dropped and returned."""
    async with shard() as bench:
        west = Request("default", "a", "west")
        bench.shard.add(west)
        bench.shard.add(request("a"))
        assert list(bench.shard.drop("west")) == [west]
        assert bench.pending() == ["a"]


# --- runs ---


async def test_a_run_is_counted_in_its_slot() -> None:
    """While a request runs its slot is busy; afterwards it is not, and the replica is notified."""
    async with shard(ShardBy.UID, "a") as bench:
        seen: list[tuple[int, int]] = []

        async def look(item: WorkItem) -> None:
            seen.append((bench.shard.busy, bench.shard.requests))
            item.succeed()

        bench.shard.add(request("a"))
        assert (bench.shard.busy, bench.shard.requests) == (0, 1)
        async with bench.queue.take() as item:
            await bench.shard.handle(item, look)
        assert seen == [(bench.slots_of("a"), 1)]
        assert (bench.shard.busy, bench.shard.requests, bench.slots.finished_runs) == (0, 0, 1)


async def test_a_failing_run_is_no_longer_busy() -> None:
    """A slot is free also after a worker's handler has raised, with the handler's error."""
    async with shard(ShardBy.UID, "a") as bench:

        async def fail(_item: WorkItem) -> None:
            raise TimeoutError("of the reconciler")

        bench.shard.add(request("a"))
        with pytest.raises(TimeoutError, match="of the reconciler"):
            async with bench.queue.take() as item:
                await bench.shard.handle(item, fail)
        assert (bench.shard.busy, bench.slots.finished_runs) == (0, 1)


async def test_a_request_that_may_not_begin_is_left_out() -> None:
    """A request whose slot another replica may have by now does not run, and comes back with its slot."""
    async with shard() as bench:
        bench.shard.add(request("none"), priority=3)
        bench.slots.may_not_begin = all_slots()
        async with bench.queue.take() as item:
            await bench.shard.handle(item, succeed)
            assert item.outcome is not None
        assert (bench.pending(), bench.slots.finished_runs) == ([], 0)
        bench.slots.may_not_begin = 0
        await bench.move(gained=all_slots())
        await handled(bench, "none")


async def test_the_writes_of_a_run_pass_its_gate() -> None:
    """Writes of a run are refused once its slot may not write; those outside of it are not."""
    async with shard(ShardBy.UID, "a") as bench:
        outcomes: list[bool] = []

        async def write(item: WorkItem) -> None:
            for refused in (0, all_slots()):
                bench.slots.may_not_write = refused
                try:
                    check_gates(WRITE)
                    outcomes.append(True)
                except NotLeading:
                    outcomes.append(False)
            item.succeed()

        bench.shard.add(request("a"))
        async with bench.queue.take() as item:
            await bench.shard.handle(item, write)
        assert outcomes == [True, False]
        check_gates(WRITE)


async def test_a_run_in_a_slot_that_moves_is_cancelled_once(began: asyncio.Event) -> None:
    """A run is cancelled when its slot must move, and counted once; nothing of its request stays here."""
    async with shard(ShardBy.UID, "a") as bench:
        bench.shard.add(request("a"))
        ended = working(bench, began)
        await began.wait()
        slot = bench.slots_of("a")
        await bench.move(lost=slot)
        assert bench.shard.cancel(all_slots() & ~slot) == 0
        assert (bench.shard.cancel(slot), bench.shard.cancel(slot)) == (1, 0)
        await ended
        await asyncio.sleep(3600)
        assert (bench.shard.busy, bench.pending()) == (0, [])


async def test_the_error_of_a_cancelled_run_is_kept(began: asyncio.Event) -> None:
    """An error that a reconciler raises because it was cancelled is not hidden by the cancellation."""
    async with shard(ShardBy.UID, "a") as bench:
        bench.shard.add(request("a"))
        ended = working(bench, began, OSError)
        await began.wait()
        bench.shard.cancel(all_slots())
        with pytest.raises(OSError, match="of the reconciler"):
            await ended


async def test_a_worker_that_is_cancelled_is_cancelled(began: asyncio.Event) -> None:
    """The cancellation of a worker reaches its caller, and frees the slot."""
    async with shard(ShardBy.UID, "a") as bench:
        bench.shard.add(request("a"))
        ended = working(bench, began)
        await began.wait()
        ended.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ended
        assert bench.shard.busy == 0


async def test_a_cancelled_run_whose_slot_comes_back_runs_again(began: asyncio.Event) -> None:
    """A reconcile that was cancelled because its slot moved runs again if the slot comes back before it has ended."""
    async with shard() as bench:
        bench.shard.add(request("none"))
        ended = working(bench, began)
        await began.wait()
        slot = bench.slots_of("none")
        await bench.move(lost=slot)
        bench.shard.cancel(slot)
        await bench.move(gained=slot)
        await ended
        await handled(bench, "none")


@pytest.mark.parametrize("fails", [True, False])
async def test_retries_and_timers_do_not_stay(fails: bool) -> None:
    """A run that fails, or sets a timer, after its slot was lost leaves neither a retry nor a timer here."""
    async with shard(ShardBy.UID, "a") as bench:

        async def lose(item: WorkItem) -> None:
            await bench.move(lost=all_slots())
            if fails:
                item.fail(OSError("not yet"))
            else:
                item.succeed(requeue_after=timedelta(minutes=1))

        bench.shard.add(request("a"))
        async with bench.queue.take() as item:
            await bench.shard.handle(item, lose)
        assert bench.pending() == []
        await asyncio.sleep(3600)
        assert bench.pending() == []
