"""What one list and watch brings into the store: news are told, repetitions are not, and a new list sweeps the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from pyctrl.cache._changes import Change, Created, Deleted, Updated
from pyctrl.cache._coverage import Coverage
from pyctrl.cache._overlay import Overlay
from pyctrl.cache._record import UNORDERED, Record
from pyctrl.cache._store import Store

__all__ = ["Listener", "StoreWriter"]

MAX_TOMBSTONES = 10_000  # some 2 MB; there are as many only where a feed has not moved for long


class Listener(Protocol):
    """Is told of changes, in their order, as soon as store, indexes and overlay have them.

    Must return at once and not raise: the informer waits for it, and so does everything else.
    """

    def push(self, change: Change) -> None:
        """Take a change."""
        ...


class StoreWriter:
    """The way of one coverage's objects into the store that it shares with the others.

    Each record carries two bits for each feed that holds it (`Record.held`): of the objects that a feed holds, those
    of its latest list and later have one of them, older ones the other. So a new list needs no memory of what it
    replaces: what still has the old bit at its end is gone. An object leaves the store when no feed holds it.

    Nothing here waits. After each call store, indexes, overlay and whoever is told agree.

    Args:
        number: which feed of its kind, counted from 0.
        listeners: are told of each change, after the store has made it. The list may change.
        siblings: all feeds of the kind, this one among them. The list grows.
        tombstones: of objects that have left while a feed was not that far, by uid, the version at which they left.
    """

    def __init__(
        self,
        number: int,
        coverage: Coverage,
        store: Store,
        overlay: Overlay,
        listeners: Sequence[Listener],
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
        self._older: list[Record] = []  # of the list that is on its way: what the store has in a newer state

    def keep(self, record: Record) -> None:
        """Hold an object that another feed lets go; a list that is on its way has to confirm it, or has already."""
        if not record.held & (self._current | self._former):
            record.held |= self._former if self._is_listing else self._current

    def begin_list(self) -> None:
        """Begin a list from its start, also when the one before has not come to its end."""
        if self._is_listing:
            self._restore_marks()
        self._is_listing, self._older = True, []
        self._current, self._former = self._former, self._current

    def _restore_marks(self) -> None:
        """Make the marks as they were before a list that has not come to its end."""
        for record in self._store:
            if record.held & self._current:
                record.held = record.held & self._others | self._former
        self._current, self._former = self._former, self._current

    def end_list(self, version: int) -> None:
        """End a list: the store loses what was not in it and no other feed holds. `version` is the list's."""
        is_restored = version < self.progress  # from a backup: versions cannot be compared with before
        self._go_back(version, is_restored=is_restored)
        for record in self._unlisted():
            if record.version > version and not is_restored:  # of another feed, which is further than this list
                record.held = record.held & self._others | self._current
                continue
            self._let_go(record, record)
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
        """Forget who left at a version that every feed has come to: nobody brings them back."""
        reached = min(writer.progress for writer in self._siblings)
        while self._tombstones and next(iter(self._tombstones.values())) <= reached:
            del self._tombstones[next(iter(self._tombstones))]

    def _go_back(self, version: int, *, is_restored: bool) -> None:
        """Take older states than the store's after all, unless another feed was just further than the list.

        What the list should have known is a server that was restored from a backup, too.
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
        """Take an object from the list, or from an event that it was added or modified."""
        if not self._is_listing and UNORDERED < record.version <= self.progress:
            return  # it has come before
        old = self._store.get(record.namespace, record.name)
        if old is None:
            if record.version < self._tombstones.get(record.uid, UNORDERED):
                self._older += [record] * self._is_listing
                return  # this feed has not come to where it left
            self._add(record)
        elif self._is_news(old, record):
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
        # Told last: whoever is told may look, and finds what he was told of.
        if self._listeners:
            self._notify(Created(record, not self.is_synced))

    def _replace(self, old: Record, new: Record) -> None:
        new.held = old.held & self._others | self._current
        self._store.put(new)
        is_another = old.uid != new.uid
        if self._overlaid:
            if is_another:
                self._overlay.lost(old)
            self._overlay.saw(new)
        if not is_another:
            if self._listeners:
                self._notify(Updated(old, new))
        else:  # the end of the one and the beginning of the other were missed
            self._notify(Deleted(old, was_seen=False))
            self._notify(Created(new))

    def _notify(self, change: Change) -> None:
        for listener in self._listeners:
            listener.push(change)

    def _is_news(self, old: Record, new: Record) -> bool:
        if UNORDERED in (old.version, new.version):
            return old.data != new.data
        return old.version < new.version

    def remove(self, record: Record) -> None:
        """Take an event that an object was deleted or no longer matches the selectors, with its last state."""
        old = self._store.get(record.namespace, record.name)
        if old is None or UNORDERED < record.version <= min(self.progress, old.version - 1):
            return  # it is gone, or the event has come before and the name is in use again
        self._let_go(old, record)
        if not old.held:
            self._add_tombstone(record)
            self._remove(old, Deleted(record if old.uid == record.uid else old))

    def _add_tombstone(self, state: Record) -> None:
        """Remember an object that has left, while another feed may still bring an older state of it."""
        if any(
            writer is not self
            and writer.progress < state.version
            and writer.coverage.namespace in (None, state.namespace)
            for writer in self._siblings
        ):
            self._tombstones[state.uid] = state.version
            if len(self._tombstones) > MAX_TOMBSTONES:
                del self._tombstones[next(iter(self._tombstones))]

    def _let_go(self, record: Record, state: Record) -> None:
        """Hold an object no longer. Feeds that have not come to its last state and select it hold it still.

        They will see it leave too, or stay; dropping it now, they would bring it back in an older state.
        """
        record.held &= self._others
        if len(self._siblings) > 1 and record.uid == state.uid:
            for writer in self._siblings:
                if writer is not self and writer.progress < state.version and writer.coverage.matches(state):
                    writer.keep(record)

    def _remove(self, old: Record, change: Deleted) -> None:
        self._store.remove(old)
        self._overlay.lost(change.old)
        self._notify(change)

    def advance_to(self, version: int) -> None:
        """Note that everything up to a version has come: an event's, or a bookmark's."""
        if version > self.progress:
            self.progress = version
            if self._tombstones:
                self._forget_tombstones()
            if self._overlaid:
                self._notify_vanished(self._overlay.caught_up(self.number, version))

    def _notify_vanished(self, records: Iterable[Record]) -> None:
        """Tell of own writes that could be read until now, and that no feed has brought: they were and are no more."""
        for record in records:
            if self._store.get(record.namespace, record.name) is not None:
                continue  # another has the name: what follows of that one is told anyway
            self._notify(Created(record))
            self._notify(Deleted(record, was_seen=False))
