"""The writer of one list and watch into the store: drops repeated states, notifies listeners of changes, ends lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from pyctrl.cache._changes import Change, Created, Deleted, Updated
from pyctrl.cache._coverage import Coverage
from pyctrl.cache._overlay import Overlay
from pyctrl.cache._record import UNORDERED, Record
from pyctrl.cache._store import Store

__all__ = ["StoreListener", "StoreWriter"]

MAX_TOMBSTONES = 10_000  # some 2 MB; there are as many only while a watch makes no progress


class StoreListener(Protocol):
    """Is called with changes, in their order, as soon as store, indexes and overlay have them.

    It must return at once and must not raise: it runs inside the informer, on the event loop.
    """

    def push(self, change: Change) -> None:
        """Take a change."""
        ...


class StoreWriter:
    """Writes the objects of one coverage into the store that the coverages of a kind share.

    Each record has two bits for each writer that holds it (`Record.held`). Objects of the writer's latest list, or of
    events since, have the current bit, older ones the former bit. So a new list needs no copy of what it replaces: an
    object that still has the former bit at the end of the list is gone. An object leaves the store when no writer
    holds it.

    Never waits. After each call store, indexes, overlay and listeners agree.

    Args:
        number: the number of the writer within its kind, from 0.
        listeners: are notified of each change, after the store has it. The list may change.
        siblings: all writers of the kind, this one included. The list grows.
        tombstones: versions of objects that have left before every writer had reached that version, by uid.
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
    ) -> None:
        self.number = number
        self.coverage = coverage
        #: The version up to which the store has everything of this coverage.
        self.progress: int = UNORDERED
        #: Whether the first list is complete.
        self.is_synced: bool = False
        self._store, self._overlay, self._listeners, self._siblings = store, overlay, listeners, siblings
        self._tombstones = tombstones
        self._overlaid = overlay.entries
        self._current, self._former = 1 << 2 * number, 2 << 2 * number
        self._others = ~(self._current | self._former)
        self._is_listing = False
        self._older: list[Record] = []  # objects of the present list that are newer in the store

    def hold(self, record: Record) -> None:
        """Hold an object that another writer releases. A list in progress must still confirm it, or has done so."""
        if not record.held & (self._current | self._former):
            record.held |= self._former if self._is_listing else self._current

    def begin_list(self) -> None:
        """Begin a list from its start, also when the one before was not completed."""
        if self._is_listing:
            self._restore_marks()
        self._is_listing, self._older = True, []
        self._current, self._former = self._former, self._current

    def _restore_marks(self) -> None:
        """Undo the marks of a list that was not completed."""
        for record in self._store:
            if record.held & self._current:
                record.held = record.held & self._others | self._former
        self._current, self._former = self._former, self._current

    def end_list(self, version: int) -> None:
        """End a list of a version: remove the objects that it lacks and that no other writer holds."""
        is_restored = version < self.progress  # from a backup: versions cannot be compared with before
        self._go_back(version, is_restored=is_restored)
        for record in self._unlisted():
            if record.version > version and not is_restored:  # by another writer, which is ahead of this list
                record.held = record.held & self._others | self._current
                continue
            self._release(record, record)
            if not record.held:
                self._remove(record, Deleted(record, was_seen=False))
        self._is_listing = False
        self.is_synced = True
        if is_restored:
            self._notify_vanished(self._overlay.clear())
            self._tombstones.clear()
        self.progress = version
        self._forget_tombstones()
        self._notify_vanished(self._overlay.caught_up(self.number, version))

    def _forget_tombstones(self) -> None:
        """Forget tombstones of versions that every writer has reached: no older state can come any more."""
        reached = min(writer.progress for writer in self._siblings)
        while self._tombstones and next(iter(self._tombstones.values())) <= reached:
            del self._tombstones[next(iter(self._tombstones))]

    def _go_back(self, version: int, *, is_restored: bool) -> None:
        """Replace newer states in the store by those of the list, unless another writer is ahead of the list.

        If the list is recent enough to contain the state of the store, and has an older one, then the server was
        restored from a backup, too.
        """
        for record in self._older:
            old = self._store.get(record.namespace, record.name)
            if old is not None and record.version < old.version and (is_restored or old.version <= version):
                self._replace(old, record)
            elif old is None and (is_restored or self._tombstones.get(record.uid, UNORDERED) <= version):
                self._add(record)
        self._older = []

    def _unlisted(self) -> list[Record]:
        return [record for record in self._store if record.held & self._former]

    def put(self, record: Record) -> None:
        """Take an object of the list, or of an ADDED or MODIFIED event."""
        if not self._is_listing and UNORDERED < record.version <= self.progress:
            return  # a repeated event
        old = self._store.get(record.namespace, record.name)
        if old is None:
            if record.version < self._tombstones.get(record.uid, UNORDERED):
                self._older += [record] * self._is_listing
                return  # an old state of an object that is gone
            self._add(record)
        elif self._is_newer(old, record):
            self._replace(old, record)
        else:
            old.held = old.held & self._others | self._current
            if self._is_listing and UNORDERED < record.version < old.version:
                self._older.append(record)

    def _add(self, record: Record) -> None:
        record.held = self._current
        self._store.put(record)
        if self._overlaid:
            self._overlay.saw(record)
        # Last: a listener may read the object that it is notified of.
        if self._listeners:
            self._notify(Created(record, not self.is_synced, not self._is_listing))

    def _replace(self, old: Record, new: Record) -> None:
        new.held = old.held & self._others | self._current
        new.name = old.name  # one string for all states: the store and subscriptions hold it too
        self._store.put(new)
        is_another = old.uid != new.uid
        if self._overlaid:
            if is_another:
                self._overlay.lost(old)
            self._overlay.saw(new)
        if not is_another:
            if self._listeners:
                self._notify(Updated(old, new, not self._is_listing))
        else:  # the deletion of the one and the creation of the other were missed
            self._notify(Deleted(old, was_seen=False))
            self._notify(Created(new, was_seen=False))

    def _notify(self, change: Change) -> None:
        for listener in self._listeners:
            listener.push(change)

    def _is_newer(self, old: Record, new: Record) -> bool:
        if UNORDERED in (old.version, new.version):
            return old.data != new.data
        return old.version < new.version

    def remove(self, record: Record) -> None:
        """Take a DELETED event: an object is gone, or no longer matches the selectors. `record` is its last state."""
        old = self._store.get(record.namespace, record.name)
        if old is None or UNORDERED < record.version <= min(self.progress, old.version - 1):
            return  # the object is gone already, or the event is repeated and the name is in use again
        self._release(old, record)
        if not old.held:
            self._add_tombstone(record)
            self._remove(old, Deleted(record if old.uid == record.uid else old))

    def _add_tombstone(self, state: Record) -> None:
        """Remember an object that has left, while another writer may still receive an older state of it."""
        if self._may_come_back(state):
            self._tombstones[state.uid] = state.version
            if len(self._tombstones) > MAX_TOMBSTONES:
                del self._tombstones[next(iter(self._tombstones))]

    def _may_come_back(self, state: Record) -> bool:
        return any(
            writer is not self
            and writer.progress < state.version
            and writer.coverage.namespace in (None, state.namespace)
            for writer in self._siblings
        )

    def _release(self, record: Record, state: Record) -> None:
        """Release an object. Writers that select it and have not reached its last state keep holding it.

        Their own events will release it or confirm it. Otherwise they would bring it back in an older state.
        """
        record.held &= self._others
        if len(self._siblings) > 1 and record.uid == state.uid:
            for writer in self._siblings:
                if writer is not self and writer.progress < state.version and writer.coverage.matches(state):
                    writer.hold(record)

    def _remove(self, old: Record, change: Deleted) -> None:
        self._store.remove(old)
        self._overlay.lost(change.old)
        self._notify(change)

    def advance_to(self, version: int) -> None:
        """Record that the store has everything up to the version of an event or bookmark."""
        if version > self.progress:
            self.progress = version
            if self._tombstones:
                self._forget_tombstones()
            if self._overlaid:
                self._notify_vanished(self._overlay.caught_up(self.number, version))

    def go_back_to(self, version: int) -> None:
        """Record that events after a version come again, unless the store has not reached it."""
        self.progress = min(self.progress, version)

    def _notify_vanished(self, records: Iterable[Record]) -> None:
        """Notify listeners of own writes that were readable, but are gone before any watch has shown them."""
        for record in records:
            if self._store.get(record.namespace, record.name) is not None:
                continue  # another object has the name, of which listeners are notified anyway
            self._notify(Created(record))
            self._notify(Deleted(record, was_seen=False))
