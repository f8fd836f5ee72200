"""The hash ranges of a coverage: what is accepted, pending and known already."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.api import ShardRange, hash_field
from pyctrl.cache._covered_ranges import EVERYTHING, CoveredRanges, ShardedRecordReader, share_of
from pyctrl.cache._shard_uid import SHARED
from pyctrl.errors import DecodeError
from tests.unit.cache._kit import body, record
from tests.unit.cache._sharded import OWNERS

LOWER, UPPER = ShardRange.split(2)
IN_LOWER = next(uid for number in range(99) if hash_field(uid := f"{number}-uid-of-an-object") in LOWER)
IN_UPPER = next(uid for number in range(99) if hash_field(uid := f"{number}-uid-of-an-object") in UPPER)


def covering(*ranges: ShardRange) -> CoveredRanges:
    """Return ranges that a list has covered."""
    made = CoveredRanges(ranges)
    made.begin_list()
    made.end_list()
    return made


def test_a_list_accepts_what_is_wanted_and_then_covers_it() -> None:
    """During a list the wanted ranges are accepted; they are covered when it ends."""
    ranges = CoveredRanges([LOWER])
    assert not ranges.accepts(IN_LOWER)
    ranges.begin_list()
    assert (ranges.accepts(IN_LOWER), ranges.accepts(IN_UPPER)) == (True, False)
    assert ranges.pending == (LOWER,)
    ranges.end_list()
    assert ranges.covered == (LOWER,)
    assert not ranges.pending


def test_ranges_that_are_wanted_during_a_list_are_not_covered_by_it() -> None:
    """A list covers what was wanted at its beginning and is still wanted at its end."""
    ranges = CoveredRanges([LOWER])
    ranges.begin_list()
    ranges.want([UPPER])
    assert not (ranges.accepts(IN_LOWER))
    assert not (ranges.accepts(IN_UPPER))
    ranges.end_list()
    assert not ranges.covered
    assert ranges.pending == (UPPER,)


def test_each_range_has_its_own_floor_until_the_watch_has_passed_both() -> None:
    """After a list of added ranges, events up to the version of each range are known, and later ones are not."""
    ranges = covering(LOWER)
    ranges.want(EVERYTHING)
    ranges.begin_add((UPPER,))
    assert [ranges.adds(uid) for uid in (IN_LOWER, IN_UPPER, SHARED)] == [False, True, False]
    assert not ranges.covers(IN_UPPER)
    assert ranges.end_add(version=20, reached=10)
    assert [ranges.accepts(IN_LOWER, version) for version in (10, 11)] == [False, True]
    assert [ranges.accepts(IN_UPPER, version) for version in (20, 21)] == [False, True]
    ranges.passed(19)
    assert not ranges.accepts(IN_UPPER, 20)
    ranges.passed(20)
    assert ranges.accepts(IN_UPPER, 5)


def test_ranges_that_are_no_longer_wanted_are_not_added() -> None:
    """A list that arrives after its ranges were removed covers nothing."""
    ranges = covering(LOWER)
    ranges.want(EVERYTHING)
    ranges.want([LOWER])
    ranges.begin_add((UPPER,))
    assert not ranges.end_add(version=20, reached=10)
    assert ranges.covered == (LOWER,)


def test_ranges_that_go_and_come_while_they_are_added_are_listed_again() -> None:
    """Their objects have left the store, so they are still to be covered."""
    ranges = covering(LOWER)
    ranges.want(EVERYTHING)
    ranges.begin_add((UPPER,))
    ranges.want([LOWER])
    ranges.want(EVERYTHING)
    assert not ranges.adds(IN_UPPER)
    assert not ranges.end_add(version=20, reached=10)
    assert ranges.pending == (UPPER,)


async def test_a_change_ends_the_waits_for_it() -> None:
    """All that wait for a change continue after it."""
    ranges = CoveredRanges([LOWER])
    waits = [asyncio.ensure_future(ranges.changed()) for _ in range(2)]
    await asyncio.sleep(0)
    ranges.want([UPPER])
    async with asyncio.timeout(1):
        await asyncio.gather(*waits)


def test_own_writes_are_kept_until_their_range_is_covered() -> None:
    """An own write of a wanted range is returned once, when the range is covered; others are dropped."""
    ranges = CoveredRanges(EVERYTHING)
    ranges.keep_own_write(record("a", 3, uid=IN_LOWER))
    ranges.keep_own_write(record("b", 4, uid=IN_UPPER))
    assert ranges.take_own_writes() == []
    ranges.want([LOWER])
    ranges.begin_list()
    ranges.end_list()
    assert [own.name for own in ranges.take_own_writes()] == ["a"]
    assert ranges.take_own_writes() == []


def test_objects_of_other_ranges_are_neither_transformed_nor_counted_as_listed() -> None:
    """The reader leaves the bytes of foreign objects as they are, and counts them during a list."""
    ranges = CoveredRanges([LOWER])
    read = ShardedRecordReader(ranges, lambda data: data.replace(b"old", b"new"))
    ranges.begin_list()
    mine, other = read(body("a", 1, uid=IN_LOWER, data="old")), read(body("b", 2, uid=IN_UPPER, data="old"))
    assert (b"new" in mine.data, b"new" in other.data) == (True, False)
    assert (ranges.listed, ranges.foreign) == (1, 1)
    ranges.end_list()
    read(body("b", 3, uid=IN_UPPER))
    assert ranges.foreign == 1  # an event shows nothing: the ranges may just have changed
    with pytest.raises(DecodeError):
        read(b"[]")


def test_a_shared_object_belongs_to_whatever_is_covered() -> None:
    """An object that no owner has for itself is wanted and covered with any range, and with none it is not."""
    ranges = CoveredRanges([LOWER], OWNERS)
    assert (ranges.wants(SHARED), ranges.covers(SHARED), ranges.has(SHARED)) == (True, False, False)
    ranges.begin_list()
    assert (ranges.covers(SHARED), ranges.has(SHARED)) == (False, True)
    ranges.end_list()
    assert (ranges.covers(SHARED), ranges.has(SHARED)) == (True, True)
    ranges.want(EVERYTHING)
    ranges.begin_add((UPPER,))
    ranges.end_add(version=20, reached=10)
    assert [ranges.accepts(SHARED, version) for version in (10, 11)] == [False, True]  # that list does not have it
    ranges.want([])
    assert (ranges.wants(SHARED), ranges.covers(SHARED), ranges.has(SHARED)) == (False, False, False)


def test_share_of_ranges() -> None:
    """The share is that of the hash space."""
    assert [share_of(ranges) for ranges in ((), (LOWER,), EVERYTHING)] == [0, 0.5, 1]
