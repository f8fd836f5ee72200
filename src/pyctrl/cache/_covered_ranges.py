"""The hash ranges of uids that one coverage of a kind has, and those that it is to have."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from pyctrl.api import HASH_SPACE, ShardRange, hash_field, merge_ranges, subtract_ranges
from pyctrl.cache._compression import Compressor
from pyctrl.cache._metadata import ObjectIdentity
from pyctrl.cache._record import UNORDERED, Record, RecordReader, version_number
from pyctrl.cache._shard_uid import SHARD_LABEL, SHARED, OwnerKinds, shard_label, shard_uid
from pyctrl.cache._transform import BytesTransform

__all__ = ["EVERYTHING", "CoveredRanges", "Ranges", "ShardedRecordReader", "share_of"]

Ranges: TypeAlias = tuple[ShardRange, ...]

#: Stands for the uid of an object without its label: it is in no range, although its uid may be.
HIDDEN = "?"

MAX_OWN_WRITES = 10_000  # own writes of ranges that are still to be covered, as of the overlay

EVERYTHING: Ranges = (ShardRange(0, HASH_SPACE),)


class CoveredRanges:
    """What of the hash space is wanted, listed and covered, and which records of a list or watch belong to it.

    - ``wanted``: the ranges that the program asks for.
    - ``covered``: the ranges whose objects are in the store and watched, a part of ``wanted``.
    - ``listing``: the ranges of the list in progress, which replaces all of ``covered``; None while there is none.

    After a list of added ranges the watch continues at the lower of two versions. Until it has passed both, each range
    has a floor: the version up to which the store has it, so that repeated events change nothing.

    An object that is `SHARED` belongs to the ranges whenever there are any.

    Args:
        wanted: the ranges that the program asks for.
        owners: the kinds of owners by whose uid objects are selected; empty: by their own.
        by_label: whether only objects with the label are listed and watched.
    """

    def __init__(self, wanted: Iterable[ShardRange], owners: OwnerKinds = (), *, by_label: bool = False) -> None:
        self.wanted: Ranges = merge_ranges(wanted)
        self.owners: OwnerKinds = owners
        self.by_label: bool = by_label
        #: Called with each object whose label is not that of its slot.
        self.on_wrong_label: Callable[[Record], None] | None = None
        self.covered: Ranges = ()
        self.listing: Ranges | None = None
        #: The ranges whose objects are entering the store.
        self.adding: Ranges = ()
        #: The objects of the last list that are in the ranges of the list, and those that are not: a server that
        #: applies the selector sends none.
        self.listed: int = 0
        self.foreign: int = 0
        self._bounds: tuple[int, ...] = ()  # of the ranges whose records are accepted at present
        self._accepts_all = False
        self._floors: list[tuple[Ranges, int]] = []
        self._own_writes: dict[tuple[str, str], Record] = {}
        self._last = ("", hash_field(""))
        self._changes = 0
        self._waiters: list[asyncio.Future[None]] = []

    # --- changes ---

    def want(self, ranges: Iterable[ShardRange]) -> None:
        """Set what is wanted. Ranges that are no longer wanted are no longer covered; others are still to be listed."""
        self.wanted = merge_ranges(ranges)
        self.covered = _common(self.covered, self.wanted)
        self.adding = _common(self.adding, self.wanted)
        self._own_writes = {key: own for key, own in self._own_writes.items() if self.wants(self.uid_of(own))}
        self._changed()

    def begin_list(self) -> None:
        """Begin a list of everything that is wanted."""
        self.listing, self._floors = self.wanted, []
        self.listed = self.foreign = 0
        self._changed()

    def end_list(self) -> None:
        """End a list: what it has, and is still wanted, is covered."""
        self.covered, self.listing = _common(self.listing or (), self.wanted), None
        self._changed()

    def begin_add(self, listed: Ranges) -> None:
        """Begin to add ranges that were listed: those of them that are still to be covered."""
        self.adding = subtract_ranges(_common(listed, self.wanted), self.covered)

    def adds(self, uid: str) -> bool:
        """Return whether an object is in a range that is being added."""
        return uid not in (SHARED, HIDDEN) and _contains(_bounds(self.adding), hash_field(uid))

    def end_add(self, version: int, reached: int) -> bool:
        """Cover what was added and is still wanted; return whether that is anything.

        Args:
            version: the version of the list.
            reached: the version that the other ranges have reached.
        """
        added, self.adding = self.adding, ()
        if added:
            self._floors = [(self.covered, reached), (added, version)]
            self.covered = merge_ranges([*self.covered, *added])
        self._changed()
        return bool(added)

    def keep_own_write(self, record: Record) -> None:
        """Keep an own write of a range that is still to be covered: its list may be older."""
        if self.wants(self.uid_of(record)):
            self._own_writes[record.namespace, record.name] = record
            if len(self._own_writes) > MAX_OWN_WRITES:
                del self._own_writes[next(iter(self._own_writes))]

    def take_own_writes(self) -> list[Record]:
        """Return the own writes that were kept, of ranges that are covered now."""
        taken = [record for record in self._own_writes.values() if self.covers(self.uid_of(record))]
        for record in taken:
            del self._own_writes[record.namespace, record.name]
        return taken

    def passed(self, version: int) -> None:
        """Forget the floors once the watch has passed them."""
        if self._floors and version >= max(floor for _, floor in self._floors):
            self._floors = []

    def _changed(self) -> None:
        accepted = self.covered if self.listing is None else _common(self.listing, self.wanted)
        self._bounds = () if accepted == EVERYTHING else _bounds(accepted)
        self._accepts_all = accepted == EVERYTHING
        self._changes += 1
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def changed(self) -> None:
        """Wait for the next change."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def notify(self) -> None:
        """End the waits for a change."""
        self._changed()

    # --- questions ---

    @property
    def pending(self) -> Ranges:
        """The ranges that are wanted and not covered."""
        return subtract_ranges(self.wanted, self.covered)

    @property
    def is_complete(self) -> bool:
        """Whether all objects are covered: those without the label are not."""
        return self.covered == EVERYTHING and not self.by_label

    def uid_of(self, record: Record) -> str:
        """Return the uid by which an object is selected, for the questions below; `HIDDEN` if its label is wrong."""
        uid = shard_uid(record.uid, record.owners, self.owners) if self.owners else record.uid
        return HIDDEN if self.by_label and record.labels.get(SHARD_LABEL) != shard_label(uid) else uid

    def wants(self, uid: str) -> bool:
        """Return whether an object is in a range that is wanted."""
        if uid == HIDDEN:
            return False
        if self.wanted == EVERYTHING or uid == SHARED:
            return bool(self.wanted)
        return _contains(_bounds(self.wanted), hash_field(uid))

    def covers(self, uid: str) -> bool:
        """Return whether an object is in a range that is covered."""
        if uid == HIDDEN:
            return False
        if self.covered == EVERYTHING or uid == SHARED:
            return bool(self.covered)
        return _contains(_bounds(self.covered), hash_field(uid))

    def has(self, uid: str) -> bool:
        """Return whether a record belongs to the list or watch in progress."""
        if self._accepts_all or uid == HIDDEN:
            return uid != HIDDEN
        return bool(self._bounds) if uid == SHARED else _contains(self._bounds, self._hash(uid))

    def accepts(self, uid: str, version: int = UNORDERED) -> bool:
        """Return whether a record of the list or watch in progress belongs to it, and is not known already."""
        if not self.has(uid):
            return False
        return not self._floors or version == UNORDERED or version > self._floor_of(uid)

    def _hash(self, uid: str) -> int:
        if self._last[0] != uid:
            self._last = (uid, hash_field(uid))  # reader and writer both ask for the same object
        return self._last[1]

    def _floor_of(self, uid: str) -> int:
        if uid == SHARED:
            return self._floors[0][1]  # the list of an added range does not count for it
        hashed = self._hash(uid)
        return max((floor for ranges, floor in self._floors if _contains(_bounds(ranges), hashed)), default=0)

    def note_listed(self, uid: str, is_accepted: bool) -> None:
        """Count an object, if a list is in progress: only a list shows what the server does."""
        if is_accepted:
            self.listed += 1
        elif (
            self.listing is not None
            and uid not in (SHARED, HIDDEN)
            and not _contains(_bounds(self.listing), self._hash(uid))
        ):
            self.foreign += 1

    def __str__(self) -> str:
        return f"hash ranges {', '.join(map(str, self.covered)) or 'none'}"


def share_of(ranges: Ranges) -> float:
    """Return the share of the hash space that ranges have."""
    return sum(part.end - part.start for part in ranges) / HASH_SPACE


def _bounds(ranges: Sequence[ShardRange]) -> tuple[int, ...]:
    return tuple(bound for part in ranges for bound in (part.start, part.end))


def _contains(bounds: Sequence[int], hashed: int) -> bool:
    return bisect_right(bounds, hashed) % 2 == 1


def _common(some: Ranges, others: Ranges) -> Ranges:
    return subtract_ranges(some, subtract_ranges(some, others))


class ShardedRecordReader(RecordReader):
    """Makes records of the objects in the ranges; others are neither transformed nor compressed, as none is stored."""

    def __init__(
        self, ranges: CoveredRanges, shape: BytesTransform | None = None, packing: Compressor | None = None
    ) -> None:
        super().__init__(shape, packing)
        self._ranges = ranges

    def record(self, data: bytes, found: ObjectIdentity) -> Record:
        """Make the record of an object whose identity is decoded already."""
        bare = Record(data, found.name, found.namespace or "", found.uid or "", version_number(found.resource_version))
        uid = self._ranges.uid_of(bare)
        is_accepted = self._ranges.accepts(uid)
        if uid == HIDDEN and self._ranges.on_wrong_label is not None:
            self._ranges.on_wrong_label(bare)
        if self._ranges.listing is not None:
            self._ranges.note_listed(uid, is_accepted)
        return super().record(data, found) if is_accepted else bare
