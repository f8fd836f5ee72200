"""The writer of hash ranges: names that are used again, lists of added ranges, and own writes."""

from __future__ import annotations

import asyncio

from pyctrl._time_slices import STEPS
from pyctrl.api import Key, ShardRange, hash_field
from pyctrl.cache._coverage import Coverage, ListQuery
from pyctrl.cache._covered_ranges import EVERYTHING, CoveredRanges
from pyctrl.cache._lister import Lister
from pyctrl.cache._record import RecordReader
from pyctrl.cache._sharded_store_writer import ShardedStoreWriter
from tests.unit.cache._kit import CONFIGMAP, Mirror, body, record

LOWER, UPPER = ShardRange.split(2)
IN_LOWER = [uid for number in range(99) if hash_field(uid := f"{number}-uid-of-an-object") in LOWER]
IN_UPPER = [uid for number in range(99) if hash_field(uid := f"{number}-uid-of-an-object") in UPPER]


def lister_of(*ranges: ShardRange, version: int = 10) -> tuple[Lister, ShardedStoreWriter, Mirror]:
    """Return a lister that covers ranges in which there is nothing, its writer and a listener."""
    lister, mirror = Lister(CONFIGMAP, RecordReader()), Mirror()
    writer = lister.add_sharded_writer(Coverage(), [mirror], CoveredRanges(ranges))
    writer.begin_list()
    writer.end_list(version)
    return lister, writer, mirror


async def test_an_older_deletion_does_not_remove_a_later_object_of_the_name() -> None:
    """The list of an added range may have the next object of a name before the deletion of the last one arrives."""
    lister, writer, _ = lister_of(LOWER)
    writer.put(record("a", 11, uid=IN_LOWER[0]))
    writer.advance_to(11)
    writer.ranges.want(EVERYTHING)
    assert await writer.add_listed([record("a", 14, uid=IN_UPPER[0])], (UPPER,), 15)
    writer.remove(record("a", 13, uid=IN_LOWER[0]))
    assert [(r.uid, r.version) for r in lister.store] == [(IN_UPPER[0], 14)]


async def test_an_older_object_of_a_name_does_not_replace_a_later_one() -> None:
    """The list of an added range may be behind the watch: its object has been deleted, and the name is in use again."""
    lister, writer, _ = lister_of(LOWER)
    writer.put(record("a", 20, uid=IN_LOWER[0]))
    writer.advance_to(20)
    writer.ranges.want(EVERYTHING)
    assert await writer.add_listed([record("a", 5, uid=IN_UPPER[0])], (UPPER,), 15)
    assert writer.progress == 15
    writer.remove(record("a", 18, uid=IN_UPPER[0]))
    assert [(r.uid, r.version) for r in lister.store] == [(IN_LOWER[0], 20)]


async def test_an_own_write_that_the_list_of_an_added_range_lacks_is_shown() -> None:
    """An own write of a range that is being listed is read once the range is covered, and brought by the watch."""
    lister, writer, mirror = lister_of(LOWER)
    writer.ranges.want(EVERYTHING)
    lister.wrote(body("a", 12, uid=IN_UPPER[0]))
    writer.advance_to(13)
    assert lister.overlay.find(Key("default", "a")) is None
    assert await writer.add_listed([], (UPPER,), 11)
    assert (found := lister.find(Key("default", "a"))) is not None
    assert found.version == 12
    assert mirror.changes == []
    writer.put(record("a", 12, uid=IN_UPPER[0]))
    writer.advance_to(13)
    assert len(lister.overlay) == 0
    assert mirror.versions == {("default", "a"): 12}


def test_dropping_a_range_forgets_its_own_writes() -> None:
    """Own writes of removed ranges cannot be read any more, and nobody is told that they are gone."""
    lister, writer, mirror = lister_of(*EVERYTHING)
    lister.wrote(body("a", 12, uid=IN_UPPER[0]))
    lister.wrote(body("b", 13, uid=IN_LOWER[0]))
    writer.ranges.want([LOWER])
    lister.begin_to_drop()
    assert (lister.overlay.find(Key("default", "a")), len(lister.overlay)) == (None, 1)
    writer.advance_to(12)
    assert mirror.changes == []


async def test_many_objects_enter_the_store_in_slices() -> None:
    """While the objects of an added range enter, the loop runs other tasks; none of them counts as covered before."""
    lister, writer, _ = lister_of(LOWER)
    writer.ranges.want(EVERYTHING)
    uids = [f"{number}-uid" for number in range(3000)]
    records = [record(f"object-{number}", 11, uid=uid) for number, uid in enumerate(uids) if hash_field(uid) in UPPER]
    adding = asyncio.ensure_future(writer.add_listed(records, (UPPER,), 11))
    turns = 0
    while not adding.done():
        turns += 1
        assert writer.ranges.covered == (LOWER,)
        assert lister.is_partial
        await asyncio.sleep(0)
    assert await adding
    assert turns >= len(records) / STEPS
    assert len(lister.store) == len(records)
    assert not lister.is_partial


async def test_a_range_that_is_removed_while_its_objects_enter_leaves_none() -> None:
    """What has entered leaves, and the rest does not enter."""
    lister, writer, _ = lister_of(LOWER)
    writer.ranges.want(EVERYTHING)
    uids = [f"{number}-uid" for number in range(3000)]
    records = [record(f"object-{number}", 11, uid=uid) for number, uid in enumerate(uids) if hash_field(uid) in UPPER]
    adding = asyncio.ensure_future(writer.add_listed(records, (UPPER,), 11))
    while not len(lister.store):
        await asyncio.sleep(0)
    writer.ranges.want([LOWER])
    lister.begin_to_drop()
    assert lister.select(ListQuery()) == []
    assert not await adding
    while lister.drop_some(100):
        pass
    assert len(lister.store) == 0
