"""The reads of lists of one kind, found by the object that changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from pyctrl.api import LabelOperator
from pyctrl.cache import Informer, ListQuery, Record
from pyctrl.controller._reads.reader import ReaderCounts, ReadTarget
from pyctrl.controller._reads.views import ReadView

__all__ = ["ListRead", "ListReads"]

Index: TypeAlias = tuple[str, str]
#: What an object must have so that a list can contain it: a type of value, its name, and the value.
_Trait: TypeAlias = tuple[str, str, str]

_INDEX, _LABEL, _FIELD, _NAMESPACE = "index", "label", "field", "namespace"
_EQUAL = ("=", "==")


class ListRead(ReadTarget, gc=False, eq=False, kw_only=True):
    """A read of the objects that match a query and, with an index, have a value in it."""

    home: ListReads
    query: ListQuery
    index: Index | None
    trait: _Trait

    @property
    def counts(self) -> ReaderCounts:
        """The counts of the kind."""
        return self.home.counts

    def forget(self) -> None:
        """Forget a read that no request has any more."""
        self.home.forget(self)

    def selects(self, record: Record) -> bool:
        """Return whether the list contains an object."""
        if not self.query.matches(record):
            return False
        return self.index is None or self.index[1] in self.home.informer.index_values(self.index[0], record)

    def view(self) -> ReadView:
        """Return what was read, for people."""
        return ReadView.of_list(self.home.informer, self.query, self.index)


class ListReads:
    """The lists that requests have read, each once, by one trait that all of their objects have.

    The trait is a value of an index, else of a label, else of a field, else the namespace. A change is compared only
    with the lists for the traits of the object before and after it.
    """

    def __init__(self, informer: Informer, counts: ReaderCounts) -> None:
        self.informer: Informer = informer
        self.counts: ReaderCounts = counts
        self._reads: dict[tuple[ListQuery, Index | None], ListRead] = {}
        self._by_trait: dict[_Trait, dict[ListRead, None]] = {}
        self._names: dict[tuple[str, str], int] = {}  # how many traits have a type and a name

    def __len__(self) -> int:
        return len(self._reads)

    def __iter__(self) -> Iterator[ListRead]:
        return iter(self._reads.values())

    def get(self, query: ListQuery, index: Index | None) -> ListRead:
        """Return the read of a list."""
        read = self._reads.get((query, index))
        if read is None:
            # The trait that the fewest lists have: of app=web, instance=NAME it is the second.
            trait = min(_traits(query, index), key=lambda each: len(self._by_trait.get(each, ())))
            read = self._reads[query, index] = ListRead(home=self, query=query, index=index, trait=trait)
            if trait not in self._by_trait:
                self._by_trait[trait] = {}
                self._names[trait[:2]] = self._names.get(trait[:2], 0) + 1
            self._by_trait[trait][read] = None
        return read

    def forget(self, read: ListRead) -> None:
        """Forget the read of a list."""
        del self._reads[read.query, read.index]
        trait = read.trait
        reads = self._by_trait[trait]
        del reads[read]
        if reads:
            return
        del self._by_trait[trait]
        self._names[trait[:2]] -= 1
        if not self._names[trait[:2]]:
            del self._names[trait[:2]]

    def affected(self, before: Record | None, after: Record | None) -> Iterator[ListRead]:
        """Yield the lists that contain an object before or after its change, each once."""
        states = [state for state in (before, after) if state is not None]
        traits = dict.fromkeys(trait for state in states for trait in self._traits_of(state))
        for trait in traits:
            for read in self._by_trait.get(trait, ()):
                if any(read.selects(state) for state in states):
                    yield read

    def _traits_of(self, record: Record) -> Iterator[_Trait]:
        """Yield the traits of an object, of those types and names that some list has."""
        for kind, name in self._names:
            if kind == _NAMESPACE:
                yield (_NAMESPACE, "", "")
                yield (_NAMESPACE, "", record.namespace)
            elif kind == _INDEX:
                yield from ((_INDEX, name, value) for value in self.informer.index_values(name, record))
            else:
                value = record.labels.get(name) if kind == _LABEL else record.field(name)
                if value is not None:
                    yield (kind, name, value)


def _traits(query: ListQuery, index: Index | None) -> list[_Trait]:
    """Return the traits by any of which a list is found: the index alone, else labels, fields, or the namespace."""
    if index is not None:
        return [(_INDEX, *index)]
    found = [
        (_LABEL, term.key, term.values[0])
        for term in query.labels.requirements
        if len(term.values) == 1 and term.operator in (LabelOperator.EQUALS, LabelOperator.IN)
    ]
    found = found or [
        (_FIELD, field.field, field.value)
        for field in query.fields.requirements
        if field.operator in _EQUAL and field.value  # an absent field equals ""
    ]
    return found or [(_NAMESPACE, "", query.namespace or "")]
