"""What this process has written and its informer has not seen yet, so that it reads its own writes."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from pyctrl.api import Key
from pyctrl.cache._record import UNORDERED, Record
from pyctrl.cache._store import Store

__all__ = ["Overlay"]

LIMIT = 10_000  # entries; only a watch that is down while thousands are written gets there


@dataclass(slots=True)
class _Written:
    """The object is at least this new."""

    record: Record
    waiting: int  # the feeds, as bits, that have not come to this version yet

    @property
    def version(self) -> int:
        return self.record.version

    def hides(self, stored: Record) -> bool:
        return True


@dataclass(slots=True)
class _Left:
    """The write took the object out of the coverage: what the store has of it is older."""

    version: int
    waiting: int

    def hides(self, stored: Record) -> bool:
        return stored.version <= self.version


@dataclass(slots=True)
class _Deleted:
    """The object with this uid is gone; this version is the last one known of it."""

    uid: str
    version: int
    waiting: int

    def hides(self, stored: Record) -> bool:
        return stored.uid == self.uid or stored.version <= self.version


_Entry: TypeAlias = _Written | _Left | _Deleted


class Overlay:
    """Own writes over a store: what was written is read at once, what was deleted is gone at once.

    An entry is dropped as soon as the informer has caught up: when the store takes this version of the object or a
    newer one, when it loses the object, or when every feed that could tell of the write has passed its version. An
    answer that comes after the informer has seen as much is ignored. A write whose outcome is unknown leaves nothing
    here. Objects whose versions are no numbers are not kept: nobody could say when to drop them.

    Feeds are numbered by `Feed`; `waiting` sets of them are bits.
    """

    def __init__(self, store: Store, *, limit: int = LIMIT) -> None:
        self._store = store
        self._limit = limit
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._queues: dict[int, list[tuple[int, Key]]] = {}  # by feed: versions it must pass, as heaps
        #: The records of objects that were written, with the same indexes as the store.
        self.written = Store()
        #: How many entries were given up because there were too many; their objects read as old as the informer.
        self.overflowed = 0

    def __len__(self) -> int:
        return len(self._entries)

    # --- own writes ---

    def wrote(self, record: Record, waiting: int, *, is_covered: bool) -> None:
        """Take the answer of a create, update, patch or apply.

        Args:
            record: the object in the answer.
            waiting: the feeds that will tell of this write and have not come to its version.
            is_covered: whether any coverage selects the object as it is now.
        """
        key = record.key
        stored, entry = self._store.get(key.namespace, key.name), self._entries.get(key)
        if not waiting or record.version == UNORDERED:
            return
        if stored is not None and stored.version >= record.version:
            return
        if isinstance(entry, _Deleted) and entry.uid == record.uid:
            return  # this write was before the deletion, its answer came later
        if entry is not None and entry.version >= record.version:
            return
        if is_covered:
            self._enter(key, _Written(record, waiting))
        elif stored is not None or entry is not None:
            self._enter(key, _Left(record.version, waiting))

    def deleted(self, key: Key, uid: str, version: int, waiting: int) -> None:
        """Take the answer of a delete after which the object with this uid is gone.

        Args:
            key: which object.
            uid: which of the objects that have had this name.
            version: the last version known of it; see `last_version`.
            waiting: the feeds that have not come to that version.
        """
        stored, entry = self._store.get(key.namespace, key.name), self._entries.get(key)
        is_stored = stored is not None and stored.uid == uid
        if version == UNORDERED or not (waiting or is_stored):
            return
        if stored is not None and not is_stored and stored.version > version:
            return  # the name is used again
        if isinstance(entry, _Written) and entry.record.uid != uid and entry.version > version:
            return  # so it is here
        self._enter(key, _Deleted(uid, version, waiting))

    def last_version(self, key: Key, uid: str) -> int:
        """Return the newest version that is known of an object with this uid, `UNORDERED` if none is."""
        stored, entry = self._store.get(key.namespace, key.name), self._entries.get(key)
        written = entry.record if isinstance(entry, _Written) else None
        return max((r.version for r in (stored, written) if r is not None and r.uid == uid), default=UNORDERED)

    def _enter(self, key: Key, entry: _Entry) -> None:
        self._leave(key)
        self._entries[key] = entry
        if isinstance(entry, _Written):
            self.written.put(entry.record)
        for feed in _bits(entry.waiting):
            self._wait(feed, entry.version, key)
        if len(self._entries) > self._limit:
            self._leave(next(iter(self._entries)))
            self.overflowed += 1

    def _wait(self, feed: int, version: int, key: Key) -> None:
        queue = self._queues.setdefault(feed, [])
        heapq.heappush(queue, (version, key))
        if len(queue) > 2 * self._limit:  # while a watch is down, the same objects may be written again and again
            queue[:] = [(v, k) for v, k in queue if (entry := self._entries.get(k)) and entry.version == v]
            heapq.heapify(queue)

    def _leave(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if isinstance(entry, _Written):
            self.written.remove(entry.record)

    # --- what the informer sees ---

    def saw(self, record: Record) -> None:
        """Drop what the store's new record makes old. Call after the store has taken it."""
        key = record.key
        entry = self._entries.get(key)
        if entry is None:
            return
        is_newer = record.version >= entry.version
        if is_newer and not (isinstance(entry, _Deleted) and entry.uid == record.uid):
            self._leave(key)

    def lost(self, record: Record) -> None:
        """Drop what waited for the end of this object. Call after the store has lost it."""
        key = record.key
        match self._entries.get(key):
            case _Deleted(uid=uid) if uid == record.uid:
                self._leave(key)
            case _Written(record=written) if written.uid == record.uid and written.version <= record.version:
                self._leave(key)
            case _Left(version=version) if version <= record.version:
                self._leave(key)

    def caught_up(self, feed: int, version: int) -> None:
        """Drop what waited for this feed to pass a version, and for no other feed."""
        queue = self._queues.get(feed)
        while queue and queue[0][0] <= version:
            waited_for, key = heapq.heappop(queue)
            entry = self._entries.get(key)
            if entry is None or entry.version != waited_for:
                continue  # left already, or another write has taken its place
            entry.waiting &= ~(1 << feed)
            if not entry.waiting and not self._awaits_deletion(key, entry):
                self._leave(key)

    def _awaits_deletion(self, key: Key, entry: _Entry) -> bool:
        """The version of a deletion is not in its answer: while the store has the object, the deletion is to come."""
        stored = self._store.get(key.namespace, key.name)
        return isinstance(entry, _Deleted) and stored is not None and stored.uid == entry.uid

    def clear(self) -> None:
        """Forget everything: the versions of the server have begun anew."""
        for key in list(self._entries):
            self._leave(key)
        self._queues.clear()

    # --- reading ---

    def find(self, key: Key) -> Record | None:
        """Return the object as this process has left it: as written, or else as the store has it and if it is there."""
        stored, entry = self._store.get(key.namespace, key.name), self._entries.get(key)
        if isinstance(entry, _Written):
            return entry.record
        return None if stored is None or (entry is not None and entry.hides(stored)) else stored

    def select(self, namespace: str | None = None, index: tuple[str, str] | None = None) -> Iterable[Record]:
        """Return records as `Store.select` does, own writes in the place of what they have changed."""
        stored = self._store.select(namespace, index)
        if not self._entries:
            return stored
        entries = self._entries
        visible = [r for r in stored if (entry := entries.get(r.key)) is None or not entry.hides(r)]
        return [*visible, *self.written.select(namespace, index)]


def _bits(bits: int) -> Iterable[int]:
    number = 0
    while bits:
        if bits & 1:
            yield number
        bits >>= 1
        number += 1
