"""An informer that covers some hash ranges of uids: reads, added and removed ranges, servers without the feature."""

from __future__ import annotations

import logging
import string
from datetime import timedelta

import pytest

from pyctrl.api import HASH_SPACE, Key, ShardRange, ShardSelector, Unstructured, hash_field
from pyctrl.cache import Created, Deleted, KindOptions, ListQuery, Outside, ShardMemory, Synced, Updated
from pyctrl.errors import CacheError, NotCovered, NotFound
from tests.unit.cache._kit import CONFIGMAP, Mirror, until
from tests.unit.cache._sharded import LOWER, OCTANTS, UPPER, Shards, owned, sharded

pytestmark = pytest.mark.virtual_time

LETTERS = string.ascii_lowercase
LOWER_TEXT, UPPER_TEXT = (str(ShardSelector((part,))) for part in (LOWER, UPPER))


async def one_of(shards: Shards, part: ShardRange) -> Key:
    """Return the key of an object of the server that is in a range."""
    return Key("default", min(await shards.expected([part])))


@pytest.mark.parametrize("has_feature", [True, False])
@pytest.mark.parametrize("memory", [ShardMemory.AUTO, ShardMemory.SERVER, ShardMemory.FILTER])
async def test_an_informer_has_the_objects_of_its_ranges_only(has_feature: bool, memory: ShardMemory) -> None:
    """The store has the objects of the ranges, also new ones, whether the server selects them or not."""
    async with sharded([LOWER], has_feature=has_feature, memory=memory, before=LETTERS) as shards:
        await shards.informer.wait_for_sync()
        assert shards.stored == await shards.expected([LOWER])
        await shards.create("new-1", "new-2", "new-3", "new-4")
        wanted = await shards.expected([LOWER])
        assert len(wanted) < 30
        await until(lambda: shards.stored == wanted)
        assert {query.get("shardSelector") for query in shards.network.watches + shards.network.lists} == {
            None if memory is ShardMemory.FILTER else LOWER_TEXT
        }


async def test_a_read_of_what_is_not_covered_raises_not_covered() -> None:
    """An object in a range is found. Any other key raises NotCovered, as its object may be in another range."""
    async with sharded([LOWER], before=LETTERS) as shards:
        await shards.informer.wait_for_sync()
        mine = await one_of(shards, LOWER)
        assert (await shards.cache.get(CONFIGMAP, mine)).metadata.name == mine.name
        for key in (await one_of(shards, UPPER), Key("default", "missing")):
            with pytest.raises(NotCovered, match="hash ranges 0x0000000000000000-0x8000000000000000"):
                await shards.cache.get(CONFIGMAP, key)
        with pytest.raises(NotCovered, match="covered_only=True"):
            await shards.cache.list(CONFIGMAP)
        listed = await shards.cache.list(CONFIGMAP, covered_only=True)
        assert sorted(obj.metadata.name for obj in listed) == sorted(await shards.expected([LOWER]))


async def test_with_all_ranges_a_missing_object_is_not_found() -> None:
    """An informer whose ranges are the whole hash space answers every read, and sends no selector."""
    async with sharded([UPPER, LOWER], before="abc") as shards:
        await shards.informer.wait_for_sync()
        with pytest.raises(NotFound):
            await shards.cache.get(CONFIGMAP, Key("default", "missing"))
        assert len(await shards.cache.list(CONFIGMAP)) == 3
        assert not any("shardSelector" in query for query in shards.network.lists + shards.network.watches)


async def test_reads_outside_of_the_ranges_can_go_to_the_server() -> None:
    """With Outside.LIVE the server answers what the ranges do not cover."""
    options = KindOptions(shard_ranges=[LOWER], outside=Outside.LIVE)
    async with sharded(None, options=options, before=LETTERS) as shards:
        await shards.informer.wait_for_sync()
        other = await one_of(shards, UPPER)
        assert (await shards.cache.get(CONFIGMAP, other)).metadata.name == other.name
        assert len(await shards.cache.list(CONFIGMAP)) == len(LETTERS)


async def test_added_ranges_are_listed_alone() -> None:
    """Added ranges are listed by themselves, and then watched together with the others from that version on."""
    async with sharded([LOWER], before=LETTERS) as shards:
        await shards.informer.wait_for_sync()
        await until(lambda: shards.network.watches)
        shards.informer.cover([LOWER, OCTANTS[5]])
        await shards.informer.wait_until_covered(timedelta(seconds=10))
        assert shards.informer.covered == (LOWER, OCTANTS[5])
        assert shards.stored == await shards.expected([LOWER, OCTANTS[5]])
        added = str(ShardSelector((OCTANTS[5],)))
        assert [query["shardSelector"] for query in shards.network.lists if "limit" in query] == [LOWER_TEXT, added]
        await shards.create(*(f"new-{number}" for number in range(20)))
        await until(lambda: len(shards.network.watches) == 2)
        assert shards.network.watches[-1]["shardSelector"] == str(ShardSelector((LOWER, OCTANTS[5])))
        wanted = await shards.expected([LOWER, OCTANTS[5]])
        await until(lambda: shards.stored == wanted)


async def test_objects_of_added_ranges_are_reported_as_existing() -> None:
    """A listener learns the objects of an added range as those of a first list, each once."""
    async with sharded([LOWER], before=LETTERS) as shards:
        mirror = Mirror()
        with shards.informer.notifying(mirror):
            await shards.informer.wait_for_sync()
            mirror.changes.clear()
            shards.informer.cover(None)
            await shards.informer.wait_until_covered()
            assert {change.key.name for change in mirror.changes if isinstance(change, Created)} == set(
                await shards.expected([UPPER])
            )
            assert all(isinstance(change, Created) and change.initial for change in mirror.changes)


async def test_removed_ranges_leave_the_store_at_once_and_nothing_is_deleted() -> None:
    """Objects of removed ranges cannot be read any more. No listener is told that they were deleted."""
    async with sharded(None, options=KindOptions(shard_ranges=[LOWER, UPPER]), before=LETTERS) as shards:
        mirror = Mirror()
        with shards.informer.notifying(mirror):
            await shards.informer.wait_for_sync()
            other = await one_of(shards, UPPER)
            mirror.changes.clear()
            shards.informer.cover([LOWER])
            with pytest.raises(NotCovered):
                await shards.cache.get(CONFIGMAP, other)
            left = {record.name for record in shards.informer.select(ListQuery())}
            assert left == set(await shards.expected([LOWER]))
            await until(lambda: set(shards.stored) == left)
            await until(lambda: shards.network.watches[-1].get("shardSelector") == LOWER_TEXT)
            await shards.direct.delete(CONFIGMAP, other)
            mine = await one_of(shards, LOWER)
            await shards.direct.delete(CONFIGMAP, mine)
            await until(lambda: mirror.changes)
            assert [
                (type(change), change.key) for change in mirror.changes if isinstance(change, Updated | Deleted)
            ] == [(Deleted, mine)]


async def test_without_ranges_nothing_is_listed_and_the_informer_is_synced() -> None:
    """An informer that covers nothing sends no request, and lists as soon as it covers something."""
    async with sharded([], before=LETTERS) as shards:
        await shards.informer.wait_for_sync(timedelta(seconds=5))
        assert (shards.network.lists, shards.network.watches, shards.stored) == ([], [], {})
        shards.informer.cover([UPPER])
        await shards.informer.wait_until_covered()
        assert shards.stored == await shards.expected([UPPER])
        shards.informer.cover([])
        assert shards.informer.select(ListQuery()) == []
        await until(lambda: shards.stored == {})
        with pytest.raises(NotCovered, match="hash ranges none"):
            await shards.cache.get(CONFIGMAP, await one_of(shards, UPPER))


async def test_an_own_write_of_an_object_that_is_not_covered_is_not_read() -> None:
    """What this process writes is readable at once in its ranges, and NotCovered elsewhere."""
    async with sharded([LOWER]) as shards:
        await shards.informer.wait_for_sync()
        for number in range(20):
            made = await shards.own.create(Unstructured.new(CONFIGMAP, name=f"o{number}", namespace="default"))
            if hash_field(made.metadata.uid) in LOWER:
                assert (await shards.cache.get(CONFIGMAP, made.key)).metadata.uid == made.metadata.uid
            else:
                with pytest.raises(NotCovered):
                    await shards.cache.get(CONFIGMAP, made.key)


async def test_events_between_the_list_of_an_added_range_and_its_watch_are_not_lost() -> None:
    """Changes of an added range while its list is on the way are seen, and no deleted object comes back."""
    async with sharded([LOWER], before=LETTERS) as shards:
        await shards.informer.wait_for_sync()
        await until(lambda: shards.network.watches)
        shards.network.delay = 5.0
        shards.informer.cover([LOWER, UPPER])
        await until(lambda: len(shards.network.lists) == 2)
        for name in [*await shards.expected([UPPER])][:5]:
            await shards.direct.delete(CONFIGMAP, Key("default", name))
        await shards.create(*(f"new-{number}" for number in range(10)))
        mirror = Mirror()
        with shards.informer.notifying(mirror):
            await shards.informer.wait_until_covered()
            wanted = await shards.expected([LOWER, UPPER])
            await until(lambda: shards.stored == wanted)
        assert {name for _, name in mirror.versions} == set(wanted)


async def test_an_object_that_was_gone_when_an_added_range_was_listed_does_not_appear() -> None:
    """When the watch is behind the list of an added range, older events of the range change nothing."""
    async with sharded([LOWER], before=LETTERS) as shards:
        await shards.informer.wait_for_sync()
        await until(lambda: shards.network.watches)
        shards.network.lag = 5.0
        for number in range(10):
            await shards.create(f"short-lived-{number}")
        gone = set(await shards.expected([UPPER])) - set(LETTERS)
        for number in range(10):
            await shards.direct.delete(CONFIGMAP, Key("default", f"short-lived-{number}"))
        mirror = Mirror()
        with shards.informer.notifying(mirror):
            shards.informer.cover(None)
            await shards.informer.wait_until_covered(timedelta(seconds=4))
            shards.network.lag = 0.0
            await shards.create("marker")
            await until(lambda: "marker" in shards.stored)
        assert gone
        assert not gone & {change.key.name for change in mirror.changes if not isinstance(change, Synced)}


@pytest.mark.parametrize(
    ("has_feature", "memory", "before", "level", "text"),
    [
        (True, ShardMemory.AUTO, "abc", logging.INFO, "The server selects the shard of"),
        (False, ShardMemory.AUTO, LETTERS, logging.INFO, "The server does not select the shard of"),
        (False, ShardMemory.SERVER, LETTERS, logging.WARNING, "The server does not select the shard of"),
    ],
)
async def test_it_is_logged_once_whether_the_server_selects(
    has_feature: bool, memory: ShardMemory, before: str, level: int, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says once whether the server selects. It is a warning only where the server was asked to."""
    caplog.set_level(logging.INFO, "pyctrl.cache")
    async with sharded([LOWER], has_feature=has_feature, memory=memory, before=before) as shards:
        await shards.informer.wait_for_sync()
        for _ in range(3):  # 410: three more lists
            shards.network.break_watches()
            await shards.create(f"x{len(shards.network.lists)}", f"y{len(shards.network.lists)}")
            shards.server.compact()
            lists = len(shards.network.lists)
            await until(lambda lists=lists: len(shards.network.lists) > lists)
        assert shards.informer.is_sharded_by_server is has_feature
    assert [(r.levelno, r.getMessage().startswith(text)) for r in caplog.records if "shard of" in r.getMessage()] == [
        (level, True)
    ]


@pytest.mark.parametrize(("before", "is_known"), [("abc", None), ("".join(LETTERS) * 2, True)])
async def test_lists_without_shard_info_show_the_server_by_their_objects(before: str, is_known: bool | None) -> None:
    """Where a list does not say that the selector was applied, many objects of the ranges and no other show it."""
    names = [f"{letter}-{number}" for number, letter in enumerate(before)]
    async with sharded([], before=names) as shards:
        shards.network.hides_shards = True
        shards.informer.cover([LOWER])
        await shards.informer.wait_until_covered()
        await until(lambda: shards.network.watches)
        assert shards.informer.is_sharded_by_server is is_known


async def test_an_informer_that_covers_everything_cannot_be_restricted_while_it_runs() -> None:
    """cover() of an informer that runs without ranges raises CacheError, and says what to do."""
    async with sharded(None, before="a") as shards:
        await shards.informer.wait_for_sync()
        with pytest.raises(CacheError, match=r"KindOptions\(shard_ranges=...\)"):
            shards.informer.cover([LOWER])


async def test_off_covers_all_objects() -> None:
    """With ShardMemory.OFF the ranges are ignored."""
    async with sharded([LOWER], memory=ShardMemory.OFF, before=LETTERS) as shards:
        await shards.informer.wait_for_sync()
        assert len(await shards.cache.list(CONFIGMAP)) == len(LETTERS)
        assert shards.informer.covered == (ShardRange(0, HASH_SPACE),)


# --- owned objects ---

MINE = next(uid for number in range(99) if hash_field(uid := f"{number}-uid-of-an-owner") in LOWER)
ITS = next(uid for number in range(99) if hash_field(uid := f"{number}-uid-of-an-owner") in UPPER)


async def with_owners(shards: Shards, **uids: tuple[str, ...]) -> None:
    """Create ConfigMaps with owners of these uids."""
    for name, owners in uids.items():
        await shards.direct.create(owned(name, *owners))


@pytest.mark.parametrize("memory", [ShardMemory.AUTO, ShardMemory.SERVER])
async def test_owned_objects_are_selected_by_the_uid_of_their_owner(memory: ShardMemory) -> None:
    """The store has those whose owner is in the ranges and those without one; the server gets no selector."""
    async with sharded([LOWER], memory=memory, is_owned=True) as shards:
        await shards.informer.wait_for_sync()
        await with_owners(shards, mine=(MINE,), its=(ITS,), both=(MINE, ITS), free=())
        await until(lambda: set(shards.stored) == {"mine", "both", "free"})
        assert not any("shardSelector" in query for query in shards.network.lists + shards.network.watches)
        for key in (Key("default", "its"), Key("default", "missing")):
            with pytest.raises(NotCovered):
                await shards.cache.get(CONFIGMAP, key)


async def test_a_list_by_an_owner_that_is_covered_is_complete() -> None:
    """It has all objects of the owner, also those that have another owner, too; other lists raise NotCovered."""
    async with sharded([LOWER], is_owned=True) as shards:
        await with_owners(shards, mine=(MINE,), its=(ITS,), both=(ITS, MINE))
        await until(lambda: set(shards.stored) == {"mine", "both"})
        listed = await shards.cache.list(CONFIGMAP, index=("owner", MINE))
        assert sorted(each.metadata.name for each in listed) == ["both", "mine"]
        with pytest.raises(NotCovered):
            await shards.cache.list(CONFIGMAP, index=("owner", ITS))
        with pytest.raises(NotCovered):
            await shards.cache.list(CONFIGMAP)


async def test_where_own_uids_decide_a_list_by_owner_raises() -> None:
    """In a kind that is selected by its own uids the objects of one owner may be anywhere."""
    async with sharded([LOWER]) as shards:
        await shards.informer.wait_for_sync()
        with pytest.raises(NotCovered):
            await shards.cache.list(CONFIGMAP, index=("owner", MINE))


async def test_an_object_that_changes_its_owner_leaves_as_if_deleted() -> None:
    """A listener learns the last state with the former owner, and the object as a new one when it comes back."""
    async with sharded([LOWER], is_owned=True) as shards:
        mirror = Mirror()
        with shards.informer.notifying(mirror):
            await with_owners(shards, a=(MINE,))
            await until(lambda: "a" in shards.stored)
            mirror.changes.clear()
            for uid, stored in ((ITS, set[str]()), (MINE, {"a"})):
                await shards.direct.update(owned("a", uid))
                await until(lambda stored=stored: set(shards.stored) == stored)
            gone, back = mirror.changes
            assert isinstance(gone, Deleted)
            assert isinstance(back, Created)
            assert (gone.old.owner_uids, back.new.owner_uids) == ((MINE,), (MINE,))


async def test_reads_that_the_server_answers_are_counted() -> None:
    """Statistics count the gets and lists that the cache does not cover."""
    options = KindOptions(shard_ranges=[LOWER], outside=Outside.LIVE)
    async with sharded(None, options=options, is_owned=True) as shards:
        await shards.informer.wait_for_sync()
        with pytest.raises(NotFound):
            await shards.cache.get(CONFIGMAP, Key("default", "missing"))
        await shards.cache.list(CONFIGMAP)
        assert shards.informer.statistics().live_reads == 2
