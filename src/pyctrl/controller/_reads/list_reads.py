"""The reads of lists of one kind, found by the object that changes."""

from __future__ import annotations

from collections.abc import Iterator

from pyctrl.cache import Informer, ListQuery, Record
from pyctrl.controller._reads.list_selection import INDEX, LABEL, NAMESPACE, Index, ListSelection, Trait
from pyctrl.controller._reads.reader import ReaderCounts, ReadTarget
from pyctrl.controller._reads.views import ReadView

__all__ = ["ListRead", "ListReads"]


class ListRead(ReadTarget, gc=False, eq=False, kw_only=True):
    """A read of the objects that a list selects."""

    home: ListReads
    selection: ListSelection
    trait: Trait = ("", "", "")
    #: Whether it selects by nothing but the trait and a namespace, so an object with the trait need not be decoded.
    is_simple: bool = False

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
        self.home.forget(self)

    def selects(self, record: Record) -> bool:
        """Return whether the list contains an object."""
        return self.selection.selects(record, self.home.informer)

    def selects_among(self, record: Record) -> bool:
        """Return whether the list contains an object that has its trait."""
        if not self.is_simple:
            return self.selects(record)
        namespace = self.selection.namespace
        return namespace is None or namespace == record.namespace

    def view(self) -> ReadView:
        """Return what was read, for people."""
        return ReadView.of_list(self.home.informer, self.selection.query, self.selection.index)


_NONE: dict[ListRead, None] = {}


class ListReads:
    """The lists that requests have read, each once, by one trait that all of their objects have.

    The trait is a value of an index, else of a label, else of a field, else the namespace. A change is compared only
    with the lists for the traits of the object before and after it.
    """

    def __init__(self, informer: Informer, counts: ReaderCounts) -> None:
        self.informer: Informer = informer
        self.counts: ReaderCounts = counts
        #: Whether lists without readers are kept.
        self.keeps_unread: bool = False
        self._reads: dict[ListSelection, ListRead] = {}
        self._by_trait: dict[Trait, dict[ListRead, None]] = {}
        self._names: dict[tuple[str, str], int] = {}  # how many traits have a type and a name

    def __len__(self) -> int:
        return len(self._reads)

    def __iter__(self) -> Iterator[ListRead]:
        return iter(self._reads.values())

    def get(self, query: ListQuery, index: Index | None) -> ListRead:
        """Return the read of a list."""
        return self.of(ListSelection.of(query, index))

    def of(self, selection: ListSelection) -> ListRead:
        """Return the read of what a list selects."""
        read = self._reads.get(selection)
        if read is None:
            read = self._reads[selection] = ListRead(home=self, selection=selection)
            self._add(read)
        return read

    def _add(self, read: ListRead) -> None:
        """File a read under the trait that the fewest lists have: of app=web, instance=NAME it is the second."""
        traits = read.selection.traits()
        read.trait = traits[0]
        reads = self._by_trait.get(read.trait, _NONE)
        for trait in traits[1:] if reads else ():
            if len(fewer := self._by_trait.get(trait, _NONE)) < len(reads):
                read.trait, reads = trait, fewer
        read.is_simple = read.selection.is_only(read.trait)
        if not reads:
            reads = self._by_trait[read.trait] = {}
            name = read.trait[:2]
            self._names[name] = self._names.get(name, 0) + 1
        reads[read] = None

    def forget(self, read: ListRead) -> None:
        """Forget the read of a list, unless such are kept."""
        if self.keeps_unread:
            return
        del self._reads[read.selection]
        trait = read.trait
        reads = self._by_trait[trait]
        del reads[read]
        if reads:
            return
        del self._by_trait[trait]
        self._names[trait[:2]] -= 1
        if not self._names[trait[:2]]:
            del self._names[trait[:2]]

    def forget_unread(self) -> None:
        """Forget the lists that no request has read, and keep none any more."""
        self.keeps_unread = False
        for read in [each for each in self if not each.readers]:
            self.forget(read)

    def containing(self, record: Record) -> list[ListRead]:
        """Return the lists that contain an object."""
        reads = [read for trait in self._traits_of(record) for read in self._by_trait.get(trait, ())]
        return [read for read in reads if read.selects_among(record)]

    def affected(self, before: Record | None, after: Record | None) -> Iterator[ListRead]:
        """Yield the lists that contain an object before or after its change, each once."""
        states = [state for state in (before, after) if state is not None]
        traits = dict.fromkeys(trait for state in states for trait in self._traits_of(state))
        for trait in traits:
            for read in self._by_trait.get(trait, ()):
                if any(read.selects(state) for state in states):
                    yield read

    def _traits_of(self, record: Record) -> Iterator[Trait]:
        """Yield the traits of an object, of those types and names that some list has."""
        for kind, name in self._names:
            if kind == NAMESPACE:
                yield (NAMESPACE, "", "")
                yield (NAMESPACE, "", record.namespace)
            elif kind == INDEX:
                yield from ((INDEX, name, value) for value in self.informer.index_values(name, record))
            else:
                value = record.labels.get(name) if kind == LABEL else record.field(name)
                if value is not None:
                    yield (kind, name, value)
