"""The store of one kind: records by namespace and name, with indexes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from pyctrl.cache._index import Index, IndexFunc
from pyctrl.cache._record import Record

__all__ = ["Store"]


class Store:
    """Records by namespace and name, with indexes that are updated in the same step.

    The two levels of dictionaries are an index by namespace. They hold strings and records only, which the garbage
    collector does not track, so that a collection costs the same for any number of objects.
    """

    def __init__(self) -> None:
        self._namespaces: dict[str, dict[str, Record]] = {}
        self._indexes: dict[str, Index] = {}
        #: The bytes of all records: JSON, compressed where the options of the kind say so.
        self.size: int = 0

    def get(self, namespace: str, name: str) -> Record | None:
        """Return a record, or None."""
        names = self._namespaces.get(namespace)
        return None if names is None else names.get(name)

    def put(self, record: Record) -> Record | None:
        """Put a record and return the one that it replaces."""
        names = self._namespaces.get(record.namespace)
        if names is None:
            names = self._namespaces[record.namespace] = {}
        old = names.get(record.name)
        names[record.name] = record
        self.size += len(record.kept) - (0 if old is None else len(old.kept))
        if self._indexes:
            for index in self._indexes.values():
                index.put(record)
        return old

    def remove(self, record: Record) -> None:
        """Remove the record with the name of this one, if there is one."""
        names = self._namespaces.get(record.namespace, {})
        old = names.pop(record.name, None)
        if old is None:
            return
        self.size -= len(old.kept)
        if not names:
            del self._namespaces[record.namespace]
        for index in self._indexes.values():
            index.remove(old)

    def select(
        self,
        namespace: str | None = None,
        index: tuple[str, str] | None = None,
        *,
        also: Iterable[tuple[str, str]] = (),
    ) -> Iterable[Record]:
        """Return the records of a namespace (None: of all), with ``index`` only those with a value in an index.

        With ``also`` they must have values in other indexes, too. The result is a view: consume it before the store
        changes. The indexes must exist.
        """
        if index is not None:
            name, value = index
            found: Iterable[Record] = self._indexes[name].find(value)
            for name, value in also:
                has = self._indexes[name].has
                found = [record for record in found if has(value, record)]
            return found if namespace is None else (record for record in found if record.namespace == namespace)
        return self if namespace is None else self._namespaces.get(namespace, {}).values()

    def count(self, namespace: str | None = None, index: tuple[str, str] | None = None) -> int:
        """Return the number of records that `select` would scan."""
        if index is not None:
            return len(self._indexes[index[0]].find(index[1]))
        return len(self) if namespace is None else len(self._namespaces.get(namespace, ()))

    def add_index(self, name: str, values_of: IndexFunc) -> None:
        """Add an index over all records. It replaces one of the same name."""
        index = self._indexes[name] = Index(name, values_of)
        for record in self:
            index.put(record)

    def index_values(self, name: str, record: Record) -> tuple[str, ...]:
        """Return the values of a record in an index, which need not contain it."""
        return self._indexes[name].values_of(record)

    @property
    def index_names(self) -> Collection[str]:
        """The names of the indexes."""
        return self._indexes.keys()

    def __iter__(self) -> Iterator[Record]:
        for names in self._namespaces.values():
            yield from names.values()

    def __len__(self) -> int:
        return sum(map(len, self._namespaces.values()))
