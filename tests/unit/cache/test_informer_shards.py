"""Who selects the objects of an informer's ranges: the server by hash or by label, or the informer."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pyctrl.api import HASH_SPACE, Key, ShardRange, hash_field
from pyctrl.cache import SHARD_LABEL, SLOTS, Created, KindOptions, Selector, ShardMemory, Synced
from pyctrl.cache._shard_uid import shard_label
from pyctrl.client import MergePatch
from pyctrl.errors import NotCovered
from tests.unit.cache._kit import CONFIGMAP, Mirror, until
from tests.unit.cache._sharded import LOWER, OCTANTS, Shards, owned, sharded

pytestmark = pytest.mark.virtual_time

MINE, ITS = (
    next(uid for number in range(99) if hash_field(uid := f"{number}-uid-of-an-owner") in part)
    for part in ShardRange.split(2)
)
WIDTH = HASH_SPACE // SLOTS


async def label(shards: Shards, name: str, value: str) -> None:
    """Label a ConfigMap."""
    patch = MergePatch({"metadata": {"labels": {SHARD_LABEL: value}}})
    await shards.direct.patch(CONFIGMAP, Key("default", name), patch)


@pytest.mark.parametrize("hides_shards", [False, True])
@pytest.mark.parametrize("has_feature", [True, False])
async def test_the_server_is_asked_whether_it_selects_by_hash(has_feature: bool, hides_shards: bool) -> None:
    """By hash if it does, also where lists do not say so; else by label."""
    async with sharded([LOWER], has_feature=has_feature, before="abcdefgh", selects_by_label=True) as shards:
        shards.network.hides_shards = hides_shards
        assert await shards.informer.shards.selects_by_label() is not has_feature
        await shards.informer.wait_for_sync()
        assert any(SHARD_LABEL in query.get("labelSelector", "") for query in shards.network.lists) is not has_feature


async def test_without_any_object_the_label_is_taken() -> None:
    """Where nothing shows what the server does, the label works in any case."""
    async with sharded([LOWER], before="", selects_by_label=True) as shards:
        shards.network.hides_shards = True
        assert await shards.informer.shards.selects_by_label()


@pytest.mark.parametrize("memory", [ShardMemory.SERVER, ShardMemory.FILTER])
async def test_the_option_of_the_kind_comes_first(memory: ShardMemory) -> None:
    """With SERVER or FILTER for the kind nothing is selected by label."""
    async with sharded([LOWER], has_feature=False, before="ab", memory=memory, selects_by_label=True) as shards:
        assert not await shards.informer.shards.selects_by_label()
        await shards.informer.wait_for_sync()
        assert len(shards.network.lists) == 1  # the server is not asked


async def test_only_objects_with_the_label_are_there() -> None:
    """An object appears once it has its label, and is never taken for one of the ranges because of a wrong one."""
    async with sharded([LOWER], memory=ShardMemory.LABEL, is_owned=True) as shards:
        await shards.informer.wait_for_sync()
        mirror = Mirror()
        wrong: list[str] = []
        shards.informer.lister.ranges[0].on_wrong_label = lambda record: wrong.append(record.name)
        with shards.informer.notifying(mirror):
            for name, uid in (("mine", MINE), ("its", ITS)):
                await shards.direct.create(owned(name, uid))
            await until(lambda: shards.informer.lister.writers[0].progress > 0)
            assert shards.stored == {}
            await label(shards, "its", shard_label(MINE))
            await until(lambda: wrong == ["its"])
            await label(shards, "mine", shard_label(MINE))
            await until(lambda: set(shards.stored) == {"mine"})
        assert [type(change) for change in mirror.changes] == [Synced, Created]


async def test_an_object_that_gets_the_label_of_another_slot_is_hidden() -> None:
    """It leaves, although the cache selects that slot, too: once it does not, changes of the object would be missed."""
    async with sharded([LOWER], memory=ShardMemory.LABEL, before="abcdefgh") as shards:
        await shards.informer.wait_for_sync()
        uids = {name: await shards.uid(name) for name in "abcdefgh"}
        mine = next(name for name, uid in uids.items() if hash_field(uid) in LOWER)
        right = shard_label(uids[mine])
        other = str((int(right) + 1) % (SLOTS // 2))
        for value, stored in ((right, {mine}), (other, set[str]()), (right, {mine})):
            await label(shards, mine, value)
            await until(lambda stored=stored: set(shards.stored) == stored)


async def test_added_slots_are_listed_by_their_label() -> None:
    """Of added slots only their own objects are listed; shared ones are there already. Then one watch has all."""
    slot = ShardRange(700 * WIDTH, 701 * WIDTH)
    async with sharded([OCTANTS[0]], memory=ShardMemory.LABEL, is_owned=True) as shards:
        await shards.informer.wait_for_sync()
        await until(lambda: shards.network.watches)
        shards.informer.cover([OCTANTS[0], slot])
        await shards.informer.wait_until_covered(timedelta(seconds=10))
        lists = [query["labelSelector"] for query in shards.network.lists if query.get("limit") == "500"]
        first = f"{SHARD_LABEL} in ({','.join(map(str, range(128)))},all)"
        assert lists == [first, f"{SHARD_LABEL} in (700)"]
        await until(lambda: shards.network.watches[-1]["labelSelector"] == first.replace("127,", "127,700,"))


async def test_where_all_is_covered_an_object_without_the_label_may_exist() -> None:
    """A key that is not there raises NotCovered, as do lists of everything; the request selects by the label alone."""
    async with sharded(None, memory=ShardMemory.LABEL, is_owned=True, covers_all=True) as shards:
        await shards.informer.wait_for_sync()
        assert not shards.informer.covers_all
        with pytest.raises(NotCovered):
            await shards.cache.get(CONFIGMAP, Key("default", "missing"))
        with pytest.raises(NotCovered):
            await shards.cache.list(CONFIGMAP)
        assert await shards.cache.list(CONFIGMAP, index=("owner", MINE)) == []
        assert shards.network.lists[0]["labelSelector"] == SHARD_LABEL


async def test_a_selector_of_the_kind_holds_as_well() -> None:
    """The label selector of the options and that of the slots are sent as one."""
    options = KindOptions(selectors=[Selector(labels="app=web")], shard_memory=ShardMemory.LABEL)
    async with sharded([OCTANTS[0]], options=options) as shards:
        await shards.informer.wait_for_sync()
        assert shards.network.lists[0]["labelSelector"].startswith(f"app=web,{SHARD_LABEL} in (0,1,")
