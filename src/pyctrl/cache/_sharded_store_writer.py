"""The store writer of a coverage that has some hash ranges of uids only."""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl._time_slices import TimeSlice
from pyctrl.cache._changes import Created, Deleted
from pyctrl.cache._coverage import Coverage
from pyctrl.cache._covered_ranges import CoveredRanges, Ranges
from pyctrl.cache._overlay import Overlay
from pyctrl.cache._record import UNORDERED, Record
from pyctrl.cache._store import Store
from pyctrl.cache._store_writer import StoreListener, StoreWriter

__all__ = ["ShardedStoreWriter"]


class ShardedStoreWriter(StoreWriter):
    """Writes the objects whose uid, or that of their owner, has a hash in the ranges, and leaves all others out.

    Args:
        ranges: decides which records are taken; it follows the lists of this writer.
    """

    def __init__(
        self,
        number: int,
        coverage: Coverage,
        store: Store,
        overlay: Overlay,
        listeners: Sequence[StoreListener],
        siblings: Sequence[StoreWriter],
        tombstones: dict[str, int],
        ranges: CoveredRanges,
    ) -> None:
        super().__init__(number, coverage, store, overlay, listeners, siblings, tombstones)
        self.ranges = ranges

    def begin_list(self) -> None:
        """Begin a list of all wanted ranges."""
        super().begin_list()
        self.ranges.begin_list()

    def end_list(self, version: int) -> None:
        """End a list, as `StoreWriter.end_list` does; its ranges are covered then."""
        self._older = [record for record in self._older if self.ranges.accepts(self.ranges.uid_of(record))]
        super().end_list(version)
        self.ranges.end_list()
        self._show_own_writes()

    def hold(self, record: Record) -> None:
        """Hold an object that another writer releases, if it is in the ranges: only then its events release it."""
        if self.ranges.accepts(self.ranges.uid_of(record)):
            super().hold(record)

    def put(self, record: Record) -> None:
        """Take an object of the list, or of an ADDED or MODIFIED event, if it is in the ranges.

        An object that leaves the ranges, because of another owner or label, leaves the store as if it were deleted.
        """
        if self.ranges.accepts(uid := self.ranges.uid_of(record), record.version):
            super().put(record)
        else:
            self._drop_if_left(record, uid)

    def remove(self, record: Record) -> None:
        """Take a DELETED event, if its object is in the ranges."""
        if not self.ranges.accepts(uid := self.ranges.uid_of(record), record.version):
            self._drop_if_left(record, uid)
            return
        old = self._store.get(record.namespace, record.name)
        if old is not None and old.uid != record.uid and UNORDERED < record.version < old.version:
            return  # the list of an added range has brought a later object of the same name
        super().remove(record)

    def _drop_if_left(self, record: Record, uid: str) -> None:
        """Drop an object of the store of which this is the first state that is not in the ranges."""
        if not (self.ranges.owners or self.ranges.by_label) or self.ranges.has(uid):
            return
        old = self._store.get(record.namespace, record.name)
        if old is None or old.uid != record.uid or not UNORDERED < old.version < record.version:
            return
        self._release(old, record)
        if not old.held:
            self._add_tombstone(record)
            self._remove(old, Deleted(old))  # with the former owner, which must be reconciled

    def advance_to(self, version: int) -> None:
        """Record that the store has everything of the ranges up to a version."""
        super().advance_to(version)
        self.ranges.passed(version)

    def skip_list(self) -> None:
        """Count as listed, because no range is wanted."""
        self.is_synced = True

    async def add_listed(self, records: Sequence[Record], listed: Ranges, version: int) -> bool:
        """Take the complete list of added ranges, and go back to the lower version: the watch continues there.

        The objects enter the store a time slice at a time, while no watch runs. They are covered at the end, without
        the ranges that are no longer wanted by then.

        Returns:
            Whether any of the ranges was still to be covered.
        """
        slice_ = TimeSlice.current()
        self.ranges.begin_add(listed)
        for record in records:
            if self.ranges.adds(self.ranges.uid_of(record)):
                self._add_listed(record)
            await slice_.step()
        # No await from here on: what is covered is in the store.
        if not self.ranges.end_add(version, self.progress):
            return False
        self.go_back_to(version)
        self._show_own_writes()
        return True

    def _show_own_writes(self) -> None:
        """Show own writes of ranges that are covered from now on, until the watch brings them."""
        for record in self.ranges.take_own_writes():
            if record.version > self.progress and self.coverage.matches(record):
                self._overlay.wrote(record, waiting=1 << self.number, bringing=1 << self.number)

    def _may_come_back(self, state: Record) -> bool:
        return super()._may_come_back(state) or self._is_sibling_listing()

    def _forget_tombstones(self) -> None:
        if not self._is_sibling_listing():
            super()._forget_tombstones()

    def _is_sibling_listing(self) -> bool:
        """Return whether another writer waits for a list of added ranges, which may have older states."""
        return any(
            isinstance(writer, ShardedStoreWriter) and writer is not self and bool(writer.ranges.pending)
            for writer in self._siblings
        )

    def _add_listed(self, record: Record) -> None:
        old = self._store.get(record.namespace, record.name)
        if old is not None:
            if self._is_newer(old, record):
                self._replace(old, record)
            else:
                old.held |= self._current
        elif record.version >= self._tombstones.get(record.uid, UNORDERED):
            record.held = self._current
            self._store.put(record)
            self._overlay.saw(record)
            self._notify(Created(record, initial=True, was_seen=False))
