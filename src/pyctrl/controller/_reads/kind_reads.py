"""The reads of one kind by the requests of one controller, found by the object that changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from msgspec import json

from pyctrl._json import UNREADABLE, json_equal
from pyctrl.api import Key
from pyctrl.cache import Informer, ListQuery, Record
from pyctrl.controller._reads.list_reads import ListRead, ListReads
from pyctrl.controller._reads.list_selection import Index, ListSelection
from pyctrl.controller._reads.reader import ReaderCounts, ReadTarget, Subscriber
from pyctrl.controller._reads.views import ReadView

__all__ = ["KindReads", "ObjectRead"]


class ObjectRead(ReadTarget, gc=False, eq=False, kw_only=True):
    """A read of one object, whether it exists or not."""

    home: KindReads
    namespace: str
    name: str

    @property
    def informer(self) -> Informer:
        """The informer of the kind."""
        return self.home.informer

    @property
    def counts(self) -> ReaderCounts:
        """The counts of the kind."""
        return self.home.counts

    def forget(self) -> None:
        """Forget a read that no request has any more."""
        self.home.forget_object(self)

    def view(self) -> ReadView:
        """Return what was read, for people."""
        informer = self.home.informer
        return ReadView(kind=informer.gvk, cluster=informer.cluster, namespace=self.namespace, name=self.name)


class UnsyncedRead(ReadTarget, gc=False, eq=False, kw_only=True):
    """A read that failed because the first list of the kind was not complete."""

    home: KindReads

    @property
    def informer(self) -> Informer:
        """The informer of the kind."""
        return self.home.informer

    @property
    def counts(self) -> ReaderCounts:
        """The counts of the kind."""
        return self.home.counts

    def forget(self) -> None:
        """Forget a read that no request has any more."""
        self.home.forget_unsynced()

    def view(self) -> ReadView:
        """Return what was read, for people: everything."""
        return ReadView(kind=self.home.informer.gvk, cluster=self.home.informer.cluster)


class KindReads:
    """What the requests of a controller have read of one kind in one cluster.

    The work of `readers_of` is proportional to the requests that it returns, plus one lookup for each label, field and
    index of the changed object that some list selects by. Lists that select by neither are tried one by one; equal
    lists count once.

    Args:
        informer: the informer of the kind.
        parts: dotted paths; an update of an object counts only if it changes one of them. Empty: each counts.
    """

    def __init__(self, informer: Informer, parts: tuple[str, ...] = ()) -> None:
        self.informer: Informer = informer
        self.parts: tuple[str, ...] = parts
        # Two levels, as in the store: a key of a namespace and a name would take 72 bytes more for each object.
        self._objects: dict[str, dict[str, ObjectRead]] = {}
        #: The numbers of reads and of their readers.
        self.counts: ReaderCounts = ReaderCounts()
        self._lists = ListReads(informer, self.counts)
        self._unsynced: UnsyncedRead | None = None
        #: The requests that changes have enqueued so far.
        self.enqueued: int = 0

    # --- from reads ---

    def object(self, key: Key) -> ObjectRead:
        """Return the read of an object."""
        namespace = key.namespace if self.informer.lister.is_namespaced else ""
        names = self._objects.get(namespace)
        if names is None:
            names = self._objects[namespace] = {}
        read = names.get(key.name)
        if read is None:
            record = self.informer.lister.store.get(namespace, key.name)
            if record is not None:
                namespace, name = record.namespace, record.name  # not second strings of the same text
            else:
                name = key.name
            read = names[name] = ObjectRead(home=self, namespace=namespace, name=name)
        return read

    def list(self, query: ListQuery, index: Index | None) -> ListRead:
        """Return the read of a list."""
        return self._lists.get(query, index)

    def list_of(self, selection: ListSelection) -> ListRead:
        """Return the read of what a list selects."""
        return self._lists.of(selection)

    def unsynced(self) -> UnsyncedRead:
        """Return the read that fails while the kind is not synced."""
        if self._unsynced is None:
            self._unsynced = UnsyncedRead(home=self)
        return self._unsynced

    def forget_object(self, read: ObjectRead) -> None:
        """Forget the read of an object."""
        names = self._objects[read.namespace]
        del names[read.name]
        if not names:
            del self._objects[read.namespace]

    def keep_unread_lists(self) -> None:
        """Keep lists that no request has read, as while a restart compares lists that it may restore."""
        self._lists.keeps_unread = True

    def forget_unread_lists(self) -> None:
        """Forget the lists that no request has read, and keep none any more."""
        self._lists.forget_unread()

    def forget_unsynced(self) -> None:
        """Forget the read that fails while the kind is not synced."""
        self._unsynced = None

    # --- from changes ---

    def readers_of(self, before: Record | None, after: Record | None) -> Collection[Subscriber]:
        """Return the requests whose last run has read what a change of an object affects, each once."""
        current = after or before
        assert current is not None  # a change has a state before or after it
        names = self._objects.get(current.namespace)
        read = None if names is None else names.get(current.name)
        lists = [*self._lists.affected(before, after)] if self._lists else []
        if read is None and not lists:
            return ()
        if before is not None and after is not None and not self._counts(before, after):
            lists = [each for each in lists if not (each.selects(before) and each.selects(after))]
            read = None
        if read is not None and not lists:
            return read.readers
        found = dict.fromkeys(read.readers) if read is not None else {}
        for each in lists:
            found.update(dict.fromkeys(each.readers))
        return found

    @property
    def has_lists(self) -> bool:
        """Whether a list was read."""
        return len(self._lists) > 0

    def lists_of(self, record: Record) -> Collection[ListRead]:
        """Return the lists that contain an object."""
        return self._lists.containing(record)

    def readers(self) -> Collection[Subscriber]:
        """Return all requests that have read something of the kind, each once."""
        return dict.fromkeys(reader for read in self.reads() for reader in read.readers)

    def readers_of_object(self, key: Key, record: Record | None) -> Collection[Subscriber]:
        """Return the requests that have read an object, alone or in a list, as it is now; each once."""
        namespace = key.namespace if self.informer.lister.is_namespaced else ""
        read = self._objects.get(namespace, {}).get(key.name)
        found = dict.fromkeys(read.readers) if read is not None else {}
        for each in self._lists.affected(record, record) if record is not None else ():
            found.update(dict.fromkeys(each.readers))
        return found

    def reads(self) -> Iterator[ReadTarget]:
        """Yield all reads."""
        for names in self._objects.values():
            yield from names.values()
        yield from self._lists
        if self._unsynced is not None:
            yield self._unsynced

    def _counts(self, before: Record, after: Record) -> bool:
        """Return whether an update is a change, and changes one of the parts."""
        if before.version == after.version and before.version > 0:
            return False  # a resync
        return not self.parts or before.uid != after.uid or _differ(before, after, self.parts)


def _differ(before: Record, after: Record, parts: tuple[str, ...]) -> bool:
    try:
        old, new = json.decode(before.data), json.decode(after.data)
    except UNREADABLE:
        return True
    return any(not json_equal(_part(old, path), _part(new, path)) for path in parts)


def _part(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
