"""An informer of hash ranges against a model: ranges, writes, broken watches, 410s and slow lists in any order."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, TypeAlias
from zlib import crc32

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pyctrl.api import Key, ShardRange, Unstructured
from pyctrl.cache import Change, Created, Deleted, KindOptions, ListQuery, Record, Selector, ShardMemory, Updated
from pyctrl.cache._shard_uid import SHARD_LABEL, shard_label, shard_uid
from pyctrl.errors import CacheError, NotFound
from pyctrl.testing import run_virtual
from tests.unit.cache._kit import CONFIGMAP, until
from tests.unit.cache._sharded import OCTANTS, OWNERS, Shards, in_ranges, owned, sharded

NAMES = "abcdefgh"
OWNER_UIDS = [f"0b1c{number}-owner" for number in range(12)]

#: A kind of step with its argument: the ranges as bits, the number of a name, or seconds.
Act: TypeAlias = tuple[
    Literal["cover", "write", "own", "delete", "own_delete", "break", "expire", "slow", "lag", "pass"], int
]

ACTS: st.SearchStrategy[Act] = st.one_of(
    st.tuples(st.just("cover"), st.integers(0, 255)),
    st.tuples(st.sampled_from(["write", "own", "delete", "own_delete"]), st.integers(0, len(NAMES) - 1)),
    st.tuples(st.sampled_from(["break", "expire"]), st.just(0)),
    st.tuples(st.sampled_from(["slow", "lag", "pass"]), st.integers(0, 3)),
)


def ranges_of(bits: int) -> list[ShardRange]:
    return [part for number, part in enumerate(OCTANTS) if bits >> number & 1]


ALL = KindOptions()
OVERLAPPING = KindOptions(selectors=[Selector(), Selector(fields="metadata.namespace=default")])


class Listener:
    """Follows the changes of the informer, and fails when they contradict each other or are of other ranges."""

    def __init__(self, *, is_owned: bool, may_come_back: bool) -> None:
        self._owners, self._may_come_back = OWNERS if is_owned else (), may_come_back
        self.wanted: list[ShardRange] = []
        self.versions: dict[str, Record] = {}
        self.gone: set[str] = set()  # the uids of deleted objects

    def cover(self, wanted: list[ShardRange]) -> None:
        self.wanted = wanted
        self.versions = {name: seen for name, seen in self.versions.items() if self.is_wanted(seen)}

    def is_wanted(self, record: Record) -> bool:
        return in_ranges(shard_uid(record.uid, record.owners, self._owners), self.wanted)

    def push(self, change: Change) -> None:
        if isinstance(change, Created | Updated):
            assert self.is_wanted(change.new), "an object of other ranges"
            assert change.new.uid not in self.gone, "a deleted object came back"
            known = self.versions.get(change.new.name)
            assert (known is None) == isinstance(change, Created), f"{change} after {known}"
            assert known is None or known.version < change.new.version or known.uid != change.new.uid
            self.versions[change.new.name] = change.new
        elif isinstance(change, Deleted):
            assert self.versions.pop(change.old.name).uid == change.old.uid
            if not self._may_come_back:
                self.gone.add(change.old.uid)


class World:
    """One history: the informer, its listener and the server."""

    def __init__(self, shards: Shards, listener: Listener) -> None:
        self._shards, self._listener = shards, listener
        self._writes = 0
        self._uids: dict[int, str] = {}

    async def act(self, kind: str, argument: int) -> None:
        """Take one step, and let the informer run for a moment, or for less."""
        await getattr(self, f"_{kind}")(argument)
        await asyncio.sleep(0)
        self.check()

    async def _cover(self, bits: int) -> None:
        self._listener.cover(ranges_of(bits))
        self._shards.informer.cover(ranges_of(bits))

    def _next(self, number: int) -> Unstructured:
        """Return the next state of an object; where owners decide it has none, another one, or two."""
        self._writes += 1
        count = len(OWNER_UIDS) if self._shards.is_owned else 0
        picked = crc32(f"{number} {self._writes}".encode())
        uids = [OWNER_UIDS[picked % count]] * (picked % 5 > 0) + [OWNER_UIDS[0]] * (picked % 7 == 0) if count else []
        obj = owned(NAMES[number], *dict.fromkeys(uids), n=str(self._writes))
        if self._shards.informer.shards.by_label and (known := self._uids.get(number)):
            # Most have the right label; others none, or that of the first slot, which may be covered, too.
            uid = shard_uid(known, obj.metadata.owner_references, OWNERS if count else ())
            obj.metadata.labels = (
                {SHARD_LABEL: shard_label(uid)} if picked % 3 else {SHARD_LABEL: "0"} if picked % 2 else {}
            )
        return obj

    async def _write(self, number: int) -> None:
        obj = self._next(number)
        try:
            written = await self._shards.direct.update(obj)
        except NotFound:
            written = await self._shards.direct.create(obj)
        self._uids[number] = written.metadata.uid

    async def _own(self, number: int) -> None:
        """Write with the client of the cache, which shows the write at once if it is covered."""
        written = await self._shards.own.apply(self._next(number), force=True)
        key, meta = Key("default", NAMES[number]), written.metadata
        self._uids[number] = meta.uid
        uid = shard_uid(meta.uid, meta.owner_references, OWNERS if self._shards.is_owned else ())
        is_hidden = self._shards.informer.shards.by_label and meta.labels.get(SHARD_LABEL) != shard_label(uid)
        if in_ranges(uid, self._shards.informer.covered) and not is_hidden:
            assert (await self._shards.cache.get(CONFIGMAP, key))["data"] == {"n": str(self._writes)}

    async def _delete(self, number: int) -> None:
        with contextlib.suppress(NotFound):
            await self._shards.direct.delete(CONFIGMAP, Key("default", NAMES[number]))

    async def _own_delete(self, number: int) -> None:
        with contextlib.suppress(NotFound):
            await self._shards.own.delete(CONFIGMAP, Key("default", NAMES[number]))

    async def _break(self, _: int) -> None:
        self._shards.network.break_watches()

    async def _expire(self, _: int) -> None:
        self._shards.server.compact()
        self._shards.network.break_watches()

    async def _slow(self, seconds: int) -> None:
        self._shards.network.delay = float(seconds)

    async def _lag(self, seconds: int) -> None:
        self._shards.network.lag = float(seconds)

    async def _pass(self, seconds: int) -> None:
        await asyncio.sleep(seconds)

    def check(self) -> None:
        """Check what holds at any time: nothing of other ranges can be read."""
        assert all(self._listener.is_wanted(record) for record in self._shards.informer.lister.select(ListQuery()))
        for name in NAMES:
            try:
                record = self._shards.informer.find(Key("default", name))
            except CacheError:
                continue
            assert record is None or self._listener.is_wanted(record)
            assert record is not None or self._shards.informer.covered == (ShardRange(0, 1 << 64),)

    async def settle(self) -> None:
        """Check what holds once nothing happens any more: the store is the server's state of the ranges."""
        self._shards.network.lag = 0.0
        await self._shards.informer.wait_until_covered(timedelta(minutes=10))
        wanted = await self._shards.expected(self._listener.wanted)
        await until(lambda: self._shards.stored == wanted)
        assert {name: str(seen.version) for name, seen in self._listener.versions.items()} == wanted


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a history runs on."""

    has_feature: bool = True  # whether the server applies selectors
    memory: ShardMemory = ShardMemory.AUTO
    is_direct: bool = False  # whether the server is in this process: watches without end and bookmarks
    kind: KindOptions = ALL
    is_owned: bool = False  # whether the uid of an object's owner decides


OPTIONS = st.builds(
    Options,
    has_feature=st.booleans(),
    memory=st.sampled_from([ShardMemory.AUTO, ShardMemory.FILTER, ShardMemory.LABEL]),
    is_direct=st.booleans(),
    is_owned=st.booleans(),
    kind=st.sampled_from(
        [
            ALL,
            KindOptions(namespaces=["default", "other"], compress=True, strip_managed_fields=True),
            OVERLAPPING,
        ]
    ),
)


async def history(bits: int, acts: list[Act], options: Options, seed: int) -> None:
    """Run a history."""
    may_come_back = options.is_owned or options.memory is ShardMemory.LABEL  # with the former owner, or its label
    listener = Listener(is_owned=options.is_owned, may_come_back=may_come_back)
    listener.cover(ranges_of(bits))
    async with sharded(
        ranges_of(bits),
        has_feature=options.has_feature,
        options=replace(options.kind, shard_memory=options.memory),
        before=NAMES[: seed % len(NAMES)],
        seed=seed,
        is_direct=options.is_direct,
        is_owned=options.is_owned,
    ) as shards:
        with shards.informer.notifying(listener):
            world = World(shards, listener)
            for kind, argument in acts:
                await world.act(kind, argument)
            await world.settle()


@pytest.mark.slow("runs some hundred histories")
@settings(deadline=None, max_examples=150)
@given(bits=st.integers(0, 255), acts=st.lists(ACTS, max_size=25), options=OPTIONS, seed=st.integers(0, 10_000))
@example(bits=255, acts=[("cover", 198), ("pass", 2), ("cover", 193), ("cover", 202)], options=Options(), seed=4587)
@example(
    bits=224,
    acts=[("cover", 33), ("delete", 2), ("pass", 3), ("slow", 3), ("expire", 1), ("pass", 1), ("cover", 200)],
    options=Options(memory=ShardMemory.FILTER, is_direct=True),
    seed=2571,
)
@example(
    bits=255,
    acts=[("write", 3), ("delete", 0), ("slow", 1), ("pass", 1), ("cover", 7), ("cover", 157), ("own", 0)],
    options=Options(has_feature=False),
    seed=7913,
)
@example(
    bits=255,
    acts=[
        *[("slow", 1), ("cover", 165), ("pass", 3), ("cover", 127), ("write", 6), ("delete", 0)],
        *[("own", 4), ("write", 2), ("write", 7), ("break", 2)],
    ],
    options=Options(has_feature=False, memory=ShardMemory.FILTER, is_direct=True, kind=OVERLAPPING),
    seed=9412,
)
def test_once_quiet_the_store_is_the_servers_state_of_the_ranges(
    bits: int, acts: list[Act], options: Options, seed: int
) -> None:
    """After any history the store has exactly the objects of the covered ranges, and never had one of others."""
    run_virtual(history(bits, acts, options, seed), limit=timedelta(hours=5))
