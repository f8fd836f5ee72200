"""What this process has written and its informer has not seen yet, so that it reads its own writes."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from pyctrl.api import Key
from pyctrl.cache._record import UNORDERED, Record
from pyctrl.cache._store import Store

__all__ = ["Overlay"]

MAX_OWN_WRITES = 10_000  # entries; only a watch that is down while thousands are written gets there


class _Entry(Struct):
    """What one own write, the newest of its object, says: nothing older than `version` may be shown."""

    version: int
    waiting: int  # the feeds, as bits, that have not come to this version and may still bring something older
    record: Record | None = None  # what was written; None when it was a deletion, is not covered, or was told
    bringing: int = 0  # the feeds, as bits, any of which will bring the record
    deleted_uid: str = ""  # the object that is gone, when it was a deletion
    since: float = 0.0  # when it came
    untold: Record | None = None  # what this process has read by now, and no feed has told of

    def hides(self, stored: Record) -> bool:
        return self.record is not None or stored.version < self.version or self._is_end_of(stored)

    def _is_end_of(self, stored: Record) -> bool:
        return bool(self.deleted_uid) and (stored.uid == self.deleted_uid or stored.version == self.version)


class Overlay:
    """Own writes over a store: what was written is read at once, what was deleted is gone at once.

    An entry shows what was written until a feed has told of it, and is dropped when every feed of its namespace has
    come to its version: until then one that lags behind may still bring what was before. An answer that comes after
    the informer has seen as much is ignored. A write whose outcome is unknown leaves nothing here. Objects whose
    versions are no numbers are not kept: nobody could say when to drop them.

    Feeds are numbered by `Feed`; sets of them are bits.
    """

    def __init__(self, store: Store, *, limit: int = MAX_OWN_WRITES, clock: Callable[[], float] = lambda: 0.0) -> None:
        self._store = store
        self._limit = limit
        self._clock = clock
        #: By object; for others to see whether there is anything.
        self.entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._queues: dict[int, list[tuple[int, Key]]] = {}  # by feed: versions it must pass, as heaps
        #: The records of objects that were written, with the same indexes as the store.
        self.written: Store = Store()
        #: How many entries were given up because there were too many; their objects read as old as the informer.
        self.overflowed: int = 0

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def lag(self) -> float:
        """How many seconds ago the oldest of the writes was made that the informer has not seen yet."""
        oldest = next(iter(self.entries.values()), None)  # in the order of their coming
        return 0.0 if oldest is None else self._clock() - oldest.since

    # --- own writes ---

    def wrote(self, record: Record, *, waiting: int, bringing: int) -> None:
        """Take the answer of a create, update, patch or apply.

        Args:
            record: the object in the answer.
            waiting: the feeds of its namespace that have not come to its version.
            bringing: those of them that will bring the record as it is; none when it is not covered, or was told.
        """
        key = record.key
        stored, entry = self._store.get(key.namespace, key.name), self.entries.get(key)
        if not waiting or record.version == UNORDERED:
            return
        if (stored is not None and stored.version >= record.version) or (entry and entry.version >= record.version):
            return
        if entry is not None and entry.deleted_uid == record.uid:
            return  # this write was before the deletion, its answer came later
        is_told = stored is not None and stored.uid == record.uid
        shown = record if bringing else None
        self._enter(key, _Entry(record.version, waiting, shown, bringing, untold=None if is_told else shown))

    def deleted(self, key: Key, uid: str, version: int, waiting: int) -> None:
        """Take the answer of a delete after which the object with this uid is gone.

        Args:
            key: which object.
            uid: which of the objects that have had this name.
            version: the last version known of it; see `last_version`.
            waiting: the feeds of its namespace that have not come to that version.
        """
        stored, entry = self._store.get(key.namespace, key.name), self.entries.get(key)
        is_stored = stored is not None and stored.uid == uid
        if version == UNORDERED or not (waiting or is_stored):
            return
        if (stored is not None and not is_stored and stored.version > version) or (entry and entry.version > version):
            return  # the name is used again
        self._enter(key, _Entry(version, waiting, deleted_uid=uid))

    def last_version(self, key: Key, uid: str) -> int:
        """Return the newest version that is known of an object with this uid, `UNORDERED` if none is."""
        entry = self.entries.get(key)
        known = (self._store.get(key.namespace, key.name), entry.record if entry else None)
        return max((r.version for r in known if r is not None and r.uid == uid), default=UNORDERED)

    def _enter(self, key: Key, entry: _Entry) -> None:
        former = self.entries.get(key)
        if former is not None and former.untold is not None and entry.record is None:
            entry.untold, entry.bringing = former.untold, former.bringing  # still to be told, although it is hidden now
        self._leave(key)
        entry.since = self._clock()
        self.entries[key] = entry
        if entry.record is not None:
            self.written.put(entry.record)
        for writer in _bits(entry.waiting):
            self._wait(writer, entry.version, key)
        if len(self.entries) > self._limit:
            self._leave(next(iter(self.entries)))
            self.overflowed += 1

    def _wait(self, writer: int, version: int, key: Key) -> None:
        queue = self._queues.setdefault(writer, [])
        heapq.heappush(queue, (version, key))
        if len(queue) > 2 * self._limit:  # while a watch is down, the same objects may be written again and again
            queue[:] = [(v, k) for v, k in queue if (entry := self.entries.get(k)) and entry.version == v]
            heapq.heapify(queue)

    def _leave(self, key: Key) -> None:
        entry = self.entries.pop(key, None)
        if entry is not None:
            self._told(entry)

    def _told(self, entry: _Entry) -> None:
        """A feed has brought what was written, or something newer: from now on the store shows it."""
        if entry.record is not None:
            self.written.remove(entry.record)
            entry.record = None

    # --- what the informer sees ---

    def saw(self, record: Record) -> None:
        """Take note of the store's new record. Call after the store has taken it."""
        entry = self.entries.get(record.key)
        if entry is None:
            return
        entry.untold = None  # if it is another object, then that is told in the place of the one that has gone
        if record.version >= entry.version:
            self._told(entry)

    def lost(self, record: Record) -> None:
        """Take note that the store has lost an object, with its last state. Call after the store has lost it."""
        entry = self.entries.get(record.key)
        if entry is None:
            return
        if entry.record is not None and entry.record.uid == record.uid and entry.version < record.version:
            self._told(entry)
        if entry.deleted_uid == record.uid and not entry.waiting:
            self._leave(record.key)

    def caught_up(self, writer: int, version: int) -> list[Record]:
        """Drop what waited for this feed to come to a version; return what it should have brought and has not.

        That happens when what was written is gone before it was seen, and the list that follows lacks it.
        """
        vanished: list[Record] = []
        queue = self._queues.get(writer)
        while queue and queue[0][0] <= version:
            waited_for, key = heapq.heappop(queue)
            entry = self.entries.get(key)
            if entry is None or entry.version != waited_for:
                continue  # left already, or another write has taken its place
            entry.waiting &= ~(1 << writer)
            if entry.bringing & 1 << writer:
                self._told(entry)
                entry.bringing &= ~(1 << writer)
                if not entry.bringing:
                    vanished += _taken(entry)
            if not entry.waiting and not self._awaits_deletion(key, entry):
                self._leave(key)
        return vanished

    def _awaits_deletion(self, key: Key, entry: _Entry) -> bool:
        """The version of a deletion is not in its answer: while the store has the object, the deletion is to come."""
        stored = self._store.get(key.namespace, key.name)
        return stored is not None and stored.uid == entry.deleted_uid

    def clear(self) -> list[Record]:
        """Forget everything: the versions of the server have begun anew. Returns what nobody has told of."""
        vanished = [record for entry in self.entries.values() for record in _taken(entry)]
        for key in list(self.entries):
            self._leave(key)
        self._queues.clear()
        return vanished

    # --- reading ---

    def find(self, key: Key) -> Record | None:
        """Return the object as this process has left it: as written, or else as the store has it and if it is there."""
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
        """Return records as `Store.select` does, own writes in the place of what they have changed."""
        stored = self._store.select(namespace, index, also=also)
        if not self.entries:
            return stored
        entries = self.entries
        visible = [r for r in stored if (entry := entries.get(r.key)) is None or not entry.hides(r)]
        return [*visible, *self.written.select(namespace, index, also=also)]


def _taken(entry: _Entry) -> list[Record]:
    """Take out what is untold, if there is something."""
    untold, entry.untold = entry.untold, None
    return [] if untold is None else [untold]


def _bits(bits: int) -> Iterable[int]:
    number = 0
    while bits:
        if bits & 1:
            yield number
        bits >>= 1
        number += 1
