"""Versioned storage in memory, in the place of etcd and the watch cache of kube-apiserver.

A `Backend` keeps the contents over restarts. Reads never use it, and a write that it refuses changes nothing.

All resources share one resource version. A `Collection` holds the objects of one resource as encoded JSON, sorted by
key, and the history of `WatchCacheEvent`s that led to them. Watches, lists at an older version and continue tokens read
this history. A watch is a position in it, so nothing is buffered per watcher. The history is bounded: reading a
position that was compacted raises `Compacted`, which clients get as 410.

Reads and writes are synchronous, so a read-modify-write without an await is one transaction.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from pyctrl.apiserver._schema.raw_json import encode_with_texts
from pyctrl.apiserver._storage.backend import Backend, Revision
from pyctrl.apiserver._storage.heartbeats import Heartbeats
from pyctrl.apiserver._storage.stored_object import EventType, NotConverted, StoredObject, WatchCacheEvent, key_of
from pyctrl.errors import StorageError

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = [
    "HISTORY",
    "Collection",
    "Compacted",
    "NotConverted",
    "Storage",
    "StorageBackup",
    "StoredObject",
    "WatchCacheEvent",
]

HISTORY = 10_000  # events a collection keeps; kube-apiserver's watch cache holds 100 to 102,400

BUMP = 1_000  # versions that a restored storage skips; etcd's documentation advises a billion

FIRST_VERSION = 40_000  # arbitrary; far from limits and ports, so that it stands out in messages

log = logging.getLogger("pyctrl.apiserver")

_decode = msgspec.json.decode
_version_of = attrgetter("version")
_key_of = attrgetter("key")


class Compacted(Exception):
    """The requested version is older than the history."""

    def __init__(self, wanted: int, oldest: int) -> None:
        super().__init__(f"too old resource version: {wanted} ({oldest})")
        self.wanted = wanted
        self.oldest = oldest


@dataclass(frozen=True, slots=True)
class StorageBackup:
    """All objects of a storage at one version, by resource and key."""

    version: int
    objects: Mapping[tuple[str, str], Mapping[str, StoredObject]]


class Storage:
    """All collections, and the resource version that they share.

    Args:
        history: Events kept for each collection.
        backend: Keeps the contents over restarts. `load` reads them. Without it, they are lost with the storage.
    """

    def __init__(self, *, history: int = HISTORY, backend: Backend | None = None) -> None:
        self.version: int = FIRST_VERSION
        self.backend: Backend | None = backend
        #: The heartbeats of nodes in this process that are not written yet.
        self.heartbeats: Heartbeats = Heartbeats()
        self._history = history
        self._collections: dict[tuple[str, str], Collection] = {}
        self._listeners: list[StorageListener] = []
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []

    def collection(self, group: str, resource: str) -> Collection:
        """Return the collection of a resource, which all versions of its group share."""
        key = (group, resource)
        found = self._collections.get(key)
        if found is None:
            found = self._collections[key] = Collection(self, key, self._history)
            for listener in self._listeners:
                found.listen(partial(listener, group, resource))
        return found

    def load(self) -> None:
        """Read what the backend has: objects, and the history of earlier runs.

        Call it once, when the listeners are registered and before the first write. They get an ADDED event for each
        object. A watch can resume at a version of an earlier run.

        Raises:
            StorageError: The backend cannot be read.
        """
        if self.backend is None:
            return
        state = self.backend.load()
        self.version = max(self.version, state.version)
        read: dict[tuple[str, str], list[Revision]] = {key: [] for key in state.compacted}
        for revision in state.revisions:
            read.setdefault((revision.group, revision.resource), []).append(revision)
        for key, revisions in read.items():
            self.collection(*key).load(revisions, state.compacted.get(key, 0))

    def secret(self, name: str, new: Callable[[], bytes]) -> bytes:
        """Return a secret of the server that the backend keeps, such as a signing key; at first a new one."""
        found = None if self.backend is None else self.backend.find_secret(name)
        if found is None:
            found = new()
            if self.backend is not None:
                self.backend.put_secret(name, found)
        return found

    def collections(self) -> Iterator[tuple[tuple[str, str], Collection]]:
        """Yield every collection that exists, by group and resource."""
        yield from self._collections.items()

    def listen(self, listener: StorageListener) -> None:
        """Call `listener` synchronously for every event of every collection, with its group and resource."""
        self._listeners.append(listener)
        for (group, resource), collection in self._collections.items():
            collection.listen(partial(listener, group, resource))

    def advance(self) -> int:
        """Increment the version and wake the requests that wait for it."""
        self.version += 1
        if self._waiting:
            due = [waiter for wanted, waiter in self._waiting if wanted <= self.version]
            self._waiting = [(wanted, waiter) for wanted, waiter in self._waiting if wanted > self.version]
            for waiter in due:
                if not waiter.done():
                    waiter.set_result(None)
        return self.version

    async def reaches(self, version: int, *, seconds: float) -> bool:
        """Wait until the storage has reached `version`; return False if it has not after `seconds`."""
        if version <= self.version:
            return True
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append((version, waiter))
        try:
            async with asyncio.timeout(seconds):
                await waiter
        except TimeoutError:
            return False
        finally:
            self._waiting = [entry for entry in self._waiting if entry[1] is not waiter]
        return True

    def compact(self) -> None:
        """Drop all history: reads of older versions raise `Compacted` from now on."""
        for collection in self._collections.values():
            collection.compact(self.version)

    def backup(self) -> StorageBackup:
        """Return a backup of all objects, which `restore` takes."""
        return StorageBackup(self.version, {key: each.objects() for key, each in self._collections.items()})

    def restore(self, backup: StorageBackup) -> None:
        """Put back the objects of a backup, as ``etcdutl snapshot restore --bump-revision --mark-compacted`` does.

        Objects have their older versions again. The storage's own version jumps ahead, so that no version is given
        twice, and every watch has to list again. Listeners get an event for each object that differs.

        Raises:
            StorageError: The backend cannot store them. Nothing was restored.
        """
        version = self.version + BUMP
        if self.backend is not None:
            self.backend.restore(_revisions(backup.objects), dict.fromkeys(self._collections, version))
        self.version = version
        for key, collection in list(self._collections.items()):
            collection.restore(backup.objects.get(key, {}), self.version)


class Collection:
    """The objects of one resource, sorted by key, and their bounded history."""

    def __init__(self, storage: Storage, resource: tuple[str, str], limit: int) -> None:
        self._storage = storage
        self._resource = resource
        self._limit = limit
        self._objects: dict[str, StoredObject] = {}
        self._keys: list[str] = []
        self._events: list[WatchCacheEvent] = []
        self._first = 0  # the position of self._events[0]
        self._compacted = 0  # every version up to this one is dropped
        #: Watches start at this version or later, as those of upstream's watch cache. Lists still read older states.
        self.watched_from: int = 0
        self._undropped: list[int] = []  # revisions that a failed compaction has left in the backend
        self._past: tuple[int, list[StoredObject]] | None = None  # the last older state that a list read, for its pages
        self._waiters: dict[asyncio.Future[bool], None] = {}  # a dict keeps their order: runs must be reproducible
        self._listeners: list[Callable[[WatchCacheEvent], None]] = []
        #: Incremented when the resource is no longer served, which ends all watches.
        self.era: int = 0

    def __len__(self) -> int:
        return len(self._objects)

    # -- reading -----------------------------------------------------------------------------------------------

    def find(self, namespace: str, name: str) -> StoredObject | None:
        """Return the current version of an object, None when it does not exist."""
        return self._objects.get(key_of(namespace, name))

    def current(self, namespace: str) -> list[StoredObject]:
        """Return all objects of a namespace (of all namespaces with ""), sorted by key."""
        keys, objects = self._keys, self._objects
        if namespace:
            keys = keys[bisect_left(keys, f"{namespace}/") : bisect_left(keys, f"{namespace}{_AFTER_SLASH}")]
        return [objects[key] for key in keys]

    def at(self, version: int, namespace: str) -> list[StoredObject]:
        """Return the objects as they were at `version`.

        Raises:
            Compacted: The history does not reach back so far.
        """
        start = self.position_after(version) - self._first
        if start == len(self._events):
            return self.current(namespace)
        if self._past is None or self._past[0] != version:
            self._past = version, self._rewound(start)
        return _of_namespace(self._past[1], namespace)

    def _rewound(self, start: int) -> list[StoredObject]:
        """Return the objects before the events from `start` on."""
        then: dict[str, StoredObject] = dict(self._objects)
        for event in reversed(self._events[start:]):
            if event.previous is not None:
                then[event.previous.key] = event.previous
            elif event.current is not None:
                del then[event.current.key]
        return [then[key] for key in sorted(then)]

    # -- writing -----------------------------------------------------------------------------------------------

    def put(self, obj: dict[str, Any], resource: ResourceType | None) -> StoredObject:
        """Store `obj` under the next version, which is written into it.

        Args:
            resource: The type in whose version the object is; None when it is unknown.

        Raises:
            StorageError: The backend refused the write. Nothing was stored.
        """
        version = self._storage.version + 1
        obj["metadata"]["resourceVersion"] = str(version)
        raw = () if resource is None else resource.raw_paths
        stored = StoredObject(obj, version, resource, encode_with_texts(obj, raw) if raw else None)
        if self._storage.backend is not None:
            self._storage.backend.write(Revision(version, *self._resource, stored.key, stored.data))
        self._storage.advance()
        previous = self._objects.get(stored.key)
        self._objects[stored.key] = stored
        if previous is None:
            insort(self._keys, stored.key)
        self._record(WatchCacheEvent("ADDED" if previous is None else "MODIFIED", version, stored, previous))
        return stored

    def remove(self, stored: StoredObject) -> WatchCacheEvent:
        """Remove an object; the event shows its last state under the version of the removal.

        Raises:
            StorageError: The backend refused the removal. The object is still stored.
        """
        if self._storage.backend is not None:
            self._storage.backend.write(Revision(self._storage.version + 1, *self._resource, stored.key, None))
        version = self._storage.advance()
        del self._objects[stored.key]
        del self._keys[bisect_left(self._keys, stored.key)]
        event = WatchCacheEvent("DELETED", version, None, stored)
        self._record(event)
        return event

    def _record(self, event: WatchCacheEvent) -> None:
        self._events.append(event)
        if len(self._events) >= 2 * self._limit:  # trimmed by halves, so that a write costs O(1) on average
            self._forget(len(self._events) - self._limit)
        for listener in self._listeners:
            listener(event)
        self._wake()

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, {}
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(True)

    def _forget(self, count: int) -> None:
        if count:
            dropped = self._events[:count]
            self._compacted = max(self._compacted, dropped[-1].version)
            del self._events[:count]
            self._past = None
            self._first += count
            self._compact_backend(_superseded(dropped))

    def _compact_backend(self, dropped: Iterable[int]) -> None:
        """Drop revisions from the backend. Those that it keeps because it fails are dropped by the next compaction.

        None may be left out: a load would take the revision of an object whose removal was dropped for the object.
        """
        if self._storage.backend is None:
            return
        self._undropped += dropped
        try:
            self._storage.backend.compact(*self._resource, self._compacted, self._undropped)
            self._undropped = []
        except StorageError as error:
            log.warning("Cannot compact the storage", extra={"resource": self._resource[1], "error": str(error)})

    def load(self, revisions: Iterable[Revision], compacted: int) -> None:
        """Read the revisions of a backend: up to `compacted` they are objects, after it they are history, too."""
        self._compacted = compacted
        left: list[int] = []  # revisions that a compaction should have dropped
        for revision in revisions:
            previous = self._objects.pop(revision.key, None)
            current = None
            if revision.data is not None:
                current = StoredObject(_decode(revision.data), revision.version, None, revision.data)
                self._objects[revision.key] = current
            change: EventType = "DELETED" if current is None else "ADDED" if previous is None else "MODIFIED"
            event = WatchCacheEvent(change, revision.version, current, previous)
            if revision.version > compacted:
                self._events.append(event)
            else:
                left += _superseded([event])
        self._keys = sorted(self._objects)
        if left:
            self._compact_backend(left)
        self._forget(max(0, len(self._events) - self._limit))
        for stored in self.current(""):
            for listener in self._listeners:
                listener(WatchCacheEvent("ADDED", stored.version, stored, None))

    def objects(self) -> dict[str, StoredObject]:
        """Return all objects by key."""
        return dict(self._objects)

    def restore(self, objects: Mapping[str, StoredObject], version: int) -> None:
        """Put back objects of a backup, and drop the history up to `version`."""
        before, self._objects = self._objects, dict(objects)
        self._keys = sorted(self._objects)
        self._past = None
        self._first += len(self._events)
        self._events.clear()
        self._compacted = version
        for key in sorted(before.keys() | self._objects.keys()):
            old, new = before.get(key), self._objects.get(key)
            if old is not new:
                change: EventType = "DELETED" if new is None else "ADDED" if old is None else "MODIFIED"
                for listener in self._listeners:
                    listener(WatchCacheEvent(change, version, new, old))
        self.end_watches()

    # -- history -----------------------------------------------------------------------------------------------

    def compact(self, version: int) -> None:
        """Drop the history up to `version`."""
        self._compacted = max(self._compacted, version)
        self._forget(bisect_right(self._events, version, key=_version_of))

    @property
    def end(self) -> int:
        """The position after the last event."""
        return self._first + len(self._events)

    def position_after(self, version: int) -> int:
        """Return the position of the first event that is newer than `version`.

        Raises:
            Compacted: Events newer than `version` may have been dropped.
        """
        if version < self._compacted:
            raise Compacted(version, self._compacted)
        return self._first + bisect_right(self._events, version, key=_version_of)

    def events_from(self, position: int) -> list[WatchCacheEvent]:
        """Return the events from `position` on.

        Raises:
            Compacted: The history was trimmed past the position because the reader was too slow.
        """
        if position < self._first:
            raise Compacted(self._compacted, self._storage.version)
        return self._events[position - self._first :]

    async def wait_for_event(self, deadline: float) -> bool:
        """Wait for the next event; return False when `deadline`, on the loop's clock, passes first."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        self._waiters[waiter] = None
        timer = loop.call_at(deadline, _expire, waiter)
        try:
            return await waiter
        finally:
            timer.cancel()
            self._waiters.pop(waiter, None)

    def end_watches(self) -> None:
        """End all watches of this collection."""
        self.era += 1
        self._wake()

    def listen(self, listener: Callable[[WatchCacheEvent], None]) -> None:
        """Call `listener` synchronously for every event, for state that must never lag behind the storage."""
        self._listeners.append(listener)


#: Called with the group and the resource of an event.
StorageListener = Callable[[str, str, WatchCacheEvent], None]

_AFTER_SLASH = "0"  # the character after "/": sorts after every key of a namespace


def _superseded(events: Iterable[WatchCacheEvent]) -> list[int]:
    """Return the versions of which no list and no watch has a use without these events."""
    versions = [event.previous.version for event in events if event.previous is not None]
    return versions + [event.version for event in events if event.current is None]


def _revisions(objects: Mapping[tuple[str, str], Mapping[str, StoredObject]]) -> Iterator[Revision]:
    for (group, resource), collection in objects.items():
        for key, stored in collection.items():
            yield Revision(stored.version, group, resource, key, stored.data)


def _of_namespace(objects: list[StoredObject], namespace: str) -> list[StoredObject]:
    if not namespace:
        return objects
    first = bisect_left(objects, f"{namespace}/", key=_key_of)
    return objects[first : bisect_left(objects, f"{namespace}{_AFTER_SLASH}", key=_key_of)]


def _expire(waiter: asyncio.Future[bool]) -> None:
    if not waiter.done():
        waiter.set_result(False)
