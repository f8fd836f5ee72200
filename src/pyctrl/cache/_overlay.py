"""The overlay: own writes that the informer has not seen yet, so that a process reads its own writes."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from pyctrl.api import Key
from pyctrl.cache._record import UNORDERED, Record
from pyctrl.cache._store import Store

__all__ = ["Overlay"]

MAX_OWN_WRITES = 10_000  # entries; reached only when a watch is down while thousands of objects are written
MAX_UNKNOWN_DELETED = 1000  # uids; they matter only until earlier writes of the same objects are answered


class _Entry(Struct):
    """The newest own write of an object: reads must not return anything older than `version`."""

    version: int
    waiting: int  # the store writers, as bits, that have not reached this version and may bring older states
    record: Record | None = None  # the object; None after a deletion, without coverage, or when a watch has shown it
    bringing: int = 0  # the store writers, as bits, any of which will bring the record
    deleted_uid: str = ""  # after a deletion, the uid of the object
    since: float = 0.0  # the time of the write
    unreported: Record | None = None  # an object that reads return, but listeners have not been notified of

    def hides(self, stored: Record) -> bool:
        return self.record is not None or stored.version < self.version or self._is_end_of(stored)

    def _is_end_of(self, stored: Record) -> bool:
        return bool(self.deleted_uid) and (stored.uid == self.deleted_uid or stored.version == self.version)


class Overlay:
    """Own writes on top of a store: written objects are readable, and deleted objects are gone, at once.

    An entry shows the written object until a watch has shown it. It is dropped when every store writer of its namespace
    has reached its version, because a writer that lags may still bring an older state. An answer with a version that
    the informer has already seen is ignored. A write whose outcome is unknown has no entry. Objects with versions that
    are not numbers have none either, because it could not be dropped. Nor has the deletion of an object that neither
    the informer nor an own write has shown: a watch that lags may still show the object until it shows the deletion.

    Sets of store writers are bits, by `StoreWriter.number`.
    """

    def __init__(self, store: Store, *, limit: int = MAX_OWN_WRITES, clock: Callable[[], float] = lambda: 0.0) -> None:
        self._store = store
        self._limit = limit
        self._clock = clock
        #: The entries by key. Store writers read whether it is empty.
        self.entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._unknown_deleted: OrderedDict[str, None] = OrderedDict()  # uids of deleted objects without an entry
        self._queues: dict[int, list[tuple[int, Key]]] = {}  # by store writer: heaps of the versions it must reach
        #: The written objects, with the same indexes as the store.
        self.written: Store = Store()
        #: Entries that were dropped because there were too many. Reads of their objects may return older states.
        self.overflowed: int = 0

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def lag(self) -> float:
        """The seconds since the oldest write that the informer has not seen yet."""
        oldest = next(iter(self.entries.values()), None)  # entries are in order of time
        return 0.0 if oldest is None else self._clock() - oldest.since

    # --- own writes ---

    def wrote(self, record: Record, *, waiting: int, bringing: int) -> None:
        """Take the answer of a create, update, patch or apply.

        Args:
            record: the object in the answer.
            waiting: the store writers of its namespace that have not reached its version.
            bringing: those of them that will bring the record; none when it is not covered, or has been shown.
        """
        key = record.key
        stored, entry = self._store.get(key.namespace, key.name), self.entries.get(key)
        if not waiting or record.version == UNORDERED:
            return
        if (stored is not None and stored.version >= record.version) or (entry and entry.version >= record.version):
            return
        if record.uid in self._unknown_deleted or (entry is not None and entry.deleted_uid == record.uid):
            return  # the write preceded the deletion, although its answer came later
        is_reported = stored is not None and stored.uid == record.uid
        shown = record if bringing else None
        self._set(key, _Entry(record.version, waiting, shown, bringing, unreported=None if is_reported else shown))

    def deleted(self, key: Key, uid: str, version: int, waiting: int) -> None:
        """Take the answer of a delete after which the object with this uid is gone.

        Args:
            key: the key of the object.
            uid: its uid; other objects may have had the same key.
            version: its last known version; see `last_version`.
            waiting: the store writers of its namespace that have not reached that version.
        """
        stored, entry = self._store.get(key.namespace, key.name), self.entries.get(key)
        is_stored = stored is not None and stored.uid == uid
        if version == UNORDERED and uid:
            self._unknown_deleted[uid] = None
            if len(self._unknown_deleted) > MAX_UNKNOWN_DELETED:
                self._unknown_deleted.popitem(last=False)
        if version == UNORDERED or not (waiting or is_stored):
            return
        if (stored is not None and not is_stored and stored.version > version) or (entry and entry.version > version):
            return  # another object has the name by now
        self._set(key, _Entry(version, waiting, deleted_uid=uid))

    def last_version(self, key: Key, uid: str) -> int:
        """Return the newest known version of the object with this uid, `UNORDERED` if there is none."""
        entry = self.entries.get(key)
        known = (self._store.get(key.namespace, key.name), entry.record if entry else None)
        return max((r.version for r in known if r is not None and r.uid == uid), default=UNORDERED)

    def _set(self, key: Key, entry: _Entry) -> None:
        former = self.entries.get(key)
        if former is not None and former.unreported is not None and entry.record is None:
            # Listeners must still be notified of it, although the deletion hides it now.
            entry.unreported, entry.bringing = former.unreported, former.bringing
        self._drop(key)
        entry.since = self._clock()
        self.entries[key] = entry
        if entry.record is not None:
            self.written.put(entry.record)
        for writer in _bits(entry.waiting):
            self._wait(writer, entry.version, key)
        if len(self.entries) > self._limit:
            self._drop(next(iter(self.entries)))
            self.overflowed += 1

    def _wait(self, writer: int, version: int, key: Key) -> None:
        queue = self._queues.setdefault(writer, [])
        heapq.heappush(queue, (version, key))
        if len(queue) > 2 * self._limit:  # while a watch is down, the same objects may be written many times
            queue[:] = [(v, k) for v, k in queue if (entry := self.entries.get(k)) and entry.version == v]
            heapq.heapify(queue)

    def _drop(self, key: Key) -> None:
        entry = self.entries.pop(key, None)
        if entry is not None:
            self._show_stored(entry)

    def _show_stored(self, entry: _Entry) -> None:
        """Show the stored state from now on: a store writer has brought the written one, or a newer one."""
        if entry.record is not None:
            self.written.remove(entry.record)
            entry.record = None

    # --- events ---

    def saw(self, record: Record) -> None:
        """Take a new record of the store. Call it after the store has the record."""
        entry = self.entries.get(record.key)
        if entry is None:
            return
        entry.unreported = None  # listeners are notified of this record; also if it is another object of the same name
        if record.version >= entry.version:
            self._show_stored(entry)

    def lost(self, record: Record) -> None:
        """Take the last state of an object that has left the store. Call it after the store has removed the object."""
        entry = self.entries.get(record.key)
        if entry is None:
            return
        if entry.record is not None and entry.record.uid == record.uid and entry.version < record.version:
            self._show_stored(entry)
        if entry.deleted_uid == record.uid and not entry.waiting:
            self._drop(record.key)

    def caught_up(self, writer: int, version: int) -> list[Record]:
        """Drop entries that waited for a store writer to reach a version; return objects that it did not bring.

        It does not bring an object that was deleted before a watch has shown it, and that the next list lacks.
        """
        vanished: list[Record] = []
        queue = self._queues.get(writer)
        while queue and queue[0][0] <= version:
            waited_for, key = heapq.heappop(queue)
            entry = self.entries.get(key)
            if entry is None or entry.version != waited_for:
                continue  # dropped already, or replaced by another write
            entry.waiting &= ~(1 << writer)
            if entry.bringing & 1 << writer:
                self._show_stored(entry)
                entry.bringing &= ~(1 << writer)
                if not entry.bringing:
                    vanished += _take_unreported(entry)
            if not entry.waiting and not self._awaits_deletion(key, entry):
                self._drop(key)
        return vanished

    def _awaits_deletion(self, key: Key, entry: _Entry) -> bool:
        """Return whether the watch has not shown a deletion yet: the answer of a delete does not have its version."""
        stored = self._store.get(key.namespace, key.name)
        return stored is not None and stored.uid == entry.deleted_uid

    def clear(self) -> list[Record]:
        """Drop all entries, as the server's versions started over. Return objects that were never reported."""
        vanished = [record for entry in self.entries.values() for record in _take_unreported(entry)]
        for key in list(self.entries):
            self._drop(key)
        self._queues.clear()
        self._unknown_deleted.clear()  # a backup may bring them back
        return vanished

    def discard(self, is_kept: Callable[[Record], bool]) -> None:
        """Drop the entries of objects that are no longer covered, without notifying listeners.

        Those of deletions stay until the watch has shown them: nothing can be read by them.
        """
        for key, entry in list(self.entries.items()):
            shown = entry.record or entry.unreported
            if shown is not None and not is_kept(shown):
                self._drop(key)

    # --- reading ---

    def find(self, key: Key) -> Record | None:
        """Return an object as this process has last written it, else as the store has it; None if it does not exist."""
        stored, entry = self._store.get(key.namespace, key.name), self.entries.get(key)
        if entry is None:
            return stored
        return entry.record or (None if stored is None or entry.hides(stored) else stored)

    def select(
        self,
        namespace: str | None = None,
        index: tuple[str, str] | None = None,
        *,
        also: Sequence[tuple[str, str]] = (),
    ) -> Iterable[Record]:
        """Return records as `Store.select` does, with own writes applied."""
        stored = self._store.select(namespace, index, also=also)
        if not self.entries:
            return stored
        entries = self.entries
        visible = [r for r in stored if (entry := entries.get(r.key)) is None or not entry.hides(r)]
        return [*visible, *self.written.select(namespace, index, also=also)]


def _take_unreported(entry: _Entry) -> list[Record]:
    unreported, entry.unreported = entry.unreported, None
    return [] if unreported is None else [unreported]


def _bits(bits: int) -> Iterable[int]:
    number = 0
    while bits:
        if bits & 1:
            yield number
        bits >>= 1
        number += 1
