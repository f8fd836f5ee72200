"""The objects of one kind, as bytes, by namespace and name, with their indexes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from pyctrl.cache._index import Index, IndexFunc
from pyctrl.cache._record import Record

__all__ = ["Store"]


class Store:
    """Keeps one record for each name, and its indexes in step with it.

    Two levels of plain dictionaries, so that a namespace is an index by itself; they hold strings and records only,
    and therefore cost a garbage collection nothing however many objects there are.
    """

    def __init__(self) -> None:
        self._namespaces: dict[str, dict[str, Record]] = {}
        self._indexes: dict[str, Index] = {}
        #: Bytes that are kept of all objects: their JSON, or that compressed.
        self.size: int = 0

    def get(self, namespace: str, name: str) -> Record | None:
        """Return a record, or None."""
        names = self._namespaces.get(namespace)
        return None if names is None else names.get(name)

    def put(self, record: Record) -> Record | None:
        """Take a record and return the one whose place it takes."""
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
        """Forget the record with the name of this one, if there is one."""
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
        """Return the records of a namespace (None: of all), those with a value in an index if one is given.

        With ``also`` only those that have values in other indexes too. The result is a view: use it up before the store
        changes. The indexes must be there.
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
        """Return how many records `select` has to go through."""
        if index is not None:
            return len(self._indexes[index[0]].find(index[1]))
        return len(self) if namespace is None else len(self._namespaces.get(namespace, ()))

    def add_index(self, name: str, values_of: IndexFunc) -> None:
        """Add an index and put every record into it. One of the same name is replaced."""
        index = self._indexes[name] = Index(name, values_of)
        for record in self:
            index.put(record)

    @property
    def index_names(self) -> Collection[str]:
        """The indexes that there are."""
        return self._indexes.keys()

    def __iter__(self) -> Iterator[Record]:
        for names in self._namespaces.values():
            yield from names.values()

    def __len__(self) -> int:
        return sum(map(len, self._namespaces.values()))
