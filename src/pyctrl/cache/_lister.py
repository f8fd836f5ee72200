"""The lister of one kind: reads from the store, with this process's own writes on top, and checks coverage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec

from pyctrl._json import UNREADABLE
from pyctrl.api import GroupVersionKind, Key
from pyctrl.cache._coverage import (
    COVERED_ONLY,
    Coverage,
    ListQuery,
    covers_list,
    covers_object,
    remedy_for_list,
    remedy_for_object,
)
from pyctrl.cache._covered_ranges import CoveredRanges
from pyctrl.cache._index import MAX_LABEL_INDEXES, MIN_OBJECTS_FOR_INDEX, IndexFunc, by_label, single_values
from pyctrl.cache._overlay import Overlay
from pyctrl.cache._record import UNORDERED, Record, RecordReader
from pyctrl.cache._store import Store
from pyctrl.cache._store_writer import StoreListener, StoreWriter
from pyctrl.cache._unreadable import UnreadableObjects
from pyctrl.errors import IndexMissing, NotCovered

if TYPE_CHECKING:
    from pyctrl.cache._sharded_store_writer import ShardedStoreWriter

__all__ = ["OWNER_INDEX", "Lister"]

MAX_OWN_VERSIONS = 10_000  # versions that this process wrote, to recognise events that they cause; some 2 MB
_DELETION = b'"deletionTimestamp"'  # searching the bytes takes a tenth of decoding the metadata
OWNER_INDEX = "owner"  # index by the uids of owners

_K = TypeVar("_K")


class Lister:
    """Answers reads of one kind. Never waits.

    Args:
        gvk: the kind, for errors.
        reader: makes records of own writes.
        clock: returns seconds, to measure how long own writes stay unconfirmed.
    """

    def __init__(
        self, gvk: GroupVersionKind, reader: RecordReader, *, clock: Callable[[], float] = lambda: 0.0
    ) -> None:
        self._gvk, self._reader = gvk, reader
        self.store: Store = Store()
        self.overlay: Overlay = Overlay(self.store, clock=clock)
        #: The objects that cannot be decoded.
        self.unreadable: UnreadableObjects = UnreadableObjects(gvk, self.store)
        self.writers: list[StoreWriter] = []
        #: The hash ranges of each writer; empty if all objects are covered.
        self.ranges: list[CoveredRanges] = []
        self._unchecked: list[Record] = []  # objects of which some are in ranges that are no longer wanted
        self._tombstones: dict[str, int] = {}  # see `StoreWriter`
        #: Whether the kind is namespaced. If not, the namespace of a key is ignored.
        self.is_namespaced = True
        #: Whether the watched namespaces come from the options of the kind; for errors.
        self.has_own_namespaces = False
        self._label_indexes: set[str] = set()
        # The versions that this process wrote, the newest last, with their writers; see `ReadObserver`.
        self._own_versions: dict[tuple[Key, str], object] = {}
        self._own_deletions: dict[str, object] = {}  # the same for the uids of objects that it deleted

    def add_writer(self, coverage: Coverage, listeners: Sequence[StoreListener]) -> StoreWriter:
        """Add a coverage and return the writer for its objects."""
        writer = StoreWriter(
            len(self.writers), coverage, self.store, self.overlay, listeners, self.writers, self._tombstones
        )
        self.writers.append(writer)
        return writer

    def add_sharded_writer(
        self, coverage: Coverage, listeners: Sequence[StoreListener], ranges: CoveredRanges
    ) -> ShardedStoreWriter:
        """Add a coverage of some hash ranges and return the writer for its objects."""
        from pyctrl.cache._sharded_store_writer import ShardedStoreWriter  # here: most programs cover all objects

        parts = (self.store, self.overlay, listeners, self.writers, self._tombstones)
        writer = ShardedStoreWriter(len(self.writers), coverage, *parts, ranges)
        self.writers.append(writer)
        self.ranges.append(ranges)
        return writer

    def begin_to_drop(self) -> None:
        """Hide objects of hash ranges that are no longer wanted, until `drop_some` has dropped them.

        Listeners are not notified: the objects are not deleted.
        """
        if self.ranges:
            self._unchecked = list(self.store)
            self.overlay.discard(self._is_wanted)

    def drop_some(self, count: int) -> bool:
        """Drop what is not wanted of some objects, and return whether any is left to check."""
        for record in self._unchecked[-count:]:
            if not self._is_wanted(record) and self.store.get(record.namespace, record.name) is record:
                self.store.remove(record)
        del self._unchecked[-count:]
        return bool(self._unchecked)

    def _is_wanted(self, record: Record) -> bool:
        ranges = self.ranges[0]  # all writers want the same
        return ranges.wants(ranges.uid_of(record))

    @property
    def is_partial(self) -> bool:
        """Whether some hash ranges are not covered."""
        return not all(ranges.is_complete for ranges in self.ranges)

    def add_index(self, name: str, values_of: IndexFunc) -> None:
        """Add an index over present and future objects."""
        self.store.add_index(name, values_of)
        self.overlay.written.add_index(name, values_of)

    # --- reading ---

    def find(self, key: Key) -> Record | None:
        """Return an object, or None when it does not exist.

        Raises:
            NotCovered: the object is not watched and may exist nevertheless.
        """
        if not self.is_namespaced:
            key = Key("", key.name)
        record = self.overlay.find(key)
        if record is not None and self._unchecked and not self._is_wanted(record):
            record = None
        if record is None:
            if not covers_object(self._coverages, key):
                action = remedy_for_object(self._coverages, key, is_kind_option=self.has_own_namespaces)
                raise NotCovered(self._gvk, asked=f"{key}", covered=self._covered, remedy=action)
            if self.ranges and self.is_partial:
                action = "another replica may cover it; read with client.live"
                raise NotCovered(self._gvk, asked=f"{key}", covered=self._covered, remedy=action)
        return record

    def select(
        self,
        query: ListQuery,
        index: tuple[str, str] | None = None,
        *,
        is_cluster_wide: bool = False,
        covered_only: bool = True,
    ) -> list[Record]:
        """Return the objects that match, in no particular order; see `covers_list` for ``is_cluster_wide``.

        With ``covered_only`` these are the objects of the covered hash ranges.

        Raises:
            NotCovered: objects that are not watched may match, too.
            IndexMissing: there is no such index.
        """
        if not covers_list(self._coverages, query, is_cluster_wide=is_cluster_wide):
            action = remedy_for_list(self._coverages, query, is_kind_option=self.has_own_namespaces)
            raise NotCovered(self._gvk, asked=str(query), covered=self._covered, remedy=action)
        if not covered_only and self.ranges and self.is_partial and not self._covers_owner(index):
            raise NotCovered(self._gvk, asked=str(query), covered=self._covered, remedy=COVERED_ONLY)
        also: list[tuple[str, str]] = []
        is_exact = not query.labels.requirements  # the index finds only objects with the labels
        if index is None:
            if by_labels := self._indexes_for(query):
                index, *also = by_labels
                is_exact = len(by_labels) == len(query.labels.requirements)
        else:
            self._need_index(index[0])
        found = self.overlay.select(query.namespace, index, also=also)
        if self._unchecked:
            found = [record for record in found if self._is_wanted(record)]
        if is_exact and not query.fields.requirements:
            return list(found)
        return [record for record in found if query.matches(record)]

    def _covers_owner(self, index: tuple[str, str] | None) -> bool:
        """Return whether all objects of an owner are covered, in a kind of owned objects."""
        if index is None or index[0] != OWNER_INDEX:
            return False
        return all(ranges.owners and ranges.covers(index[1]) for ranges in self.ranges)

    def _indexes_for(self, query: ListQuery) -> list[tuple[str, str]]:
        """Return the label indexes that a query can use, with values, most selective first; none for few objects."""
        if not query.labels.requirements or (of_all := self.store.count(query.namespace)) < MIN_OBJECTS_FOR_INDEX:
            return []
        counted: list[tuple[int, tuple[str, str]]] = []
        for key, name, value in single_values(query.labels):
            if name not in self.store.index_names:
                if len(self._label_indexes) >= MAX_LABEL_INDEXES:
                    continue
                self._label_indexes.add(name)
                self.add_index(name, by_label(key))
            counted.append((self.store.count(None, (name, value)), (name, value)))
        counted.sort()
        return [index for _, index in counted] if counted and counted[0][0] < of_all else []

    def _need_index(self, name: str) -> None:
        if name in self.store.index_names:
            return
        if name != OWNER_INDEX:
            known = set(self.store.index_names) - self._label_indexes | {OWNER_INDEX}
            raise IndexMissing(self._gvk, name, known)
        self.add_index(OWNER_INDEX, lambda record: record.owner_uids)  # at its first use: many kinds have no owners

    @property
    def _coverages(self) -> Sequence[Coverage]:
        return [writer.coverage for writer in self.writers]

    @property
    def _covered(self) -> str:
        text = "; ".join(map(str, self._coverages))
        return f"{text}, {self.ranges[0]}" if self.ranges and self.is_partial else text

    # --- own writes ---

    def wrote(self, body: bytes, writer: object = None) -> None:
        """Take the answer of a create, update, patch or apply."""
        self._keep(self._reader(body), writer)

    def deleted(self, key: Key, body: bytes, writer: object = None) -> None:
        """Take the answer of a delete: a Status when the object is gone, else its last state."""
        try:
            answer = msgspec.json.decode(body, type=_DeleteAnswer)
        except UNREADABLE:
            answer = _DeleteAnswer()  # an object that cannot be decoded; a Status always can
        if answer.kind == "Status":
            uid = answer.details.uid
            self._delete(key, uid, self.overlay.last_version(key, uid), writer)
            return
        record = self._reader(body)
        if record.is_deleting or record.finalizers:
            self._keep(record, writer)
        else:
            self._delete(key, record.uid, record.version, writer)

    def _keep(self, record: Record, writer: object) -> None:
        version = record.version
        if _DELETION in record.data and record.is_gone:  # the write removed the last finalizer
            self._delete(record.key, record.uid, version, writer)
            return
        _remember(self._own_versions, (record.key, str(version)), writer)
        if self.ranges and not self._is_readable(record):
            return
        waiting, bringing, is_told = self._behind(record.namespace, version), 0, False
        for writer in self.writers:
            if writer.coverage.matches(record):
                bringing |= 1 << writer.number
                is_told |= writer.progress >= version
        self.overlay.wrote(record, waiting=waiting, bringing=0 if is_told else bringing)

    def _is_readable(self, record: Record) -> bool:
        """Return whether the hash range of an own write is covered; if it is still to be, keep the write until then."""
        matching = [r for w, r in zip(self.writers, self.ranges, strict=True) if w.coverage.matches(record)]
        for ranges in matching:
            if not ranges.covers(ranges.uid_of(record)):
                ranges.keep_own_write(record)
        return any(ranges.covers(ranges.uid_of(record)) for ranges in matching or self.ranges)

    def is_own_write(self, key: Key, version: str) -> bool:
        """Return whether this process has written this version of an object; for metrics.

        It knows older versions, too: a reconcile that a version has caused may have written the next one already.
        """
        return (key, version) in self._own_versions

    def writer_of(self, record: Record, *, is_deletion: bool) -> object:
        """Return the writer of this version of an object or, with ``is_deletion``, the one that has deleted it."""
        if is_deletion:
            return self._own_deletions.get(record.uid)
        if record.version == UNORDERED or not self._own_versions:  # often: kinds that are only read
            return None
        return self._own_versions.get((record.key, str(record.version)))

    def _delete(self, key: Key, uid: str, version: int, writer: object) -> None:
        _remember(self._own_deletions, uid, writer)
        self.overlay.deleted(key, uid, version, self._behind(key.namespace, version))

    def _behind(self, namespace: str, version: int) -> int:
        """Return, as bits, the writers of a namespace that have not reached a version."""
        waiting = 0
        for writer in self.writers:
            if writer.progress < version and writer.coverage.namespace in (None, namespace):
                waiting |= 1 << writer.number
        return waiting


def _remember(known: dict[_K, object], key: _K, writer: object) -> None:
    known[key] = writer
    if len(known) > MAX_OWN_VERSIONS:
        del known[next(iter(known))]


class _StatusDetails(msgspec.Struct):
    uid: str = ""


class _DeleteAnswer(msgspec.Struct):
    kind: str = ""
    details: _StatusDetails = msgspec.field(default_factory=_StatusDetails)
