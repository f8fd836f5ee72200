"""Reads and readers: what a request has looked at, and the requests that have looked at it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from msgspec import Struct

from pyctrl.controller._request import Request

if TYPE_CHECKING:
    from pyctrl.cache import Informer
    from pyctrl.controller._reads.run_reads import RunReads
    from pyctrl.controller._reads.views import ReadView

__all__ = ["ReadTarget", "ReaderCounts", "Subscriber"]

# Structs without gc: there are hundreds of thousands, which the garbage collector would traverse. The references
# between reads and readers are removed when a reader drops a read, so that no garbage is left.


class ReaderCounts:
    """How many reads have how many readers: kept up to date, because statistics must not visit all reads."""

    def __init__(self) -> None:
        self._reads: dict[int, int] = {}  # by the number of their readers

    def move(self, before: int, after: int) -> None:
        """Count that a read has another number of readers."""
        if before:
            self._reads[before] -= 1
            if not self._reads[before]:
                del self._reads[before]
        if after:
            self._reads[after] = self._reads.get(after, 0) + 1

    @property
    def reads(self) -> int:
        """The number of reads."""
        return sum(self._reads.values())

    @property
    def subscriptions(self) -> int:
        """The sum of the readers of each read."""
        return sum(readers * reads for readers, reads in self._reads.items())

    @property
    def largest(self) -> int:
        """The largest number of readers of one read."""
        return max(self._reads, default=0)


class ReadTarget(Struct, gc=False, eq=False):
    """Something that reconciles look at, with its readers. Two reads are equal only if they are the same object."""

    _readers: Subscriber | dict[Subscriber, None] | None = None  # most objects have one reader, without a dictionary

    @property
    def readers(self) -> Collection[Subscriber]:
        """The readers, in the order in which they came."""
        if self._readers is None:
            return ()
        return self._readers if isinstance(self._readers, dict) else (self._readers,)

    def add(self, reader: Subscriber) -> None:
        """Add a reader, unless it is there."""
        known = self._readers
        if known is None:
            self._readers = reader
            self.counts.move(0, 1)
        elif not isinstance(known, dict):
            if known is not reader:
                self._readers = {known: None, reader: None}
                self.counts.move(1, 2)
        elif reader not in known:
            known[reader] = None
            self.counts.move(len(known) - 1, len(known))

    def remove(self, reader: Subscriber) -> None:
        """Remove a reader, if it is there; without readers the read is forgotten."""
        known = self._readers
        if isinstance(known, dict):
            if reader not in known:
                return
            del known[reader]
            self.counts.move(len(known) + 1, len(known))
            if known:
                return
        elif known is not reader:
            return
        else:
            self.counts.move(1, 0)
        self._readers = None
        self.forget()

    @property
    def informer(self) -> Informer:
        """The informer of the kind."""
        raise NotImplementedError

    @property
    def counts(self) -> ReaderCounts:
        """The counts of the kind."""
        raise NotImplementedError

    def forget(self) -> None:
        """Remove the read from its index."""
        raise NotImplementedError

    def view(self) -> ReadView:
        """Return what was read, for people."""
        raise NotImplementedError


class Subscriber(Struct, gc=False, eq=False):
    """A request with what its runs have read."""

    request: Request
    #: What the last successful run has read.
    reads: tuple[ReadTarget, ...] = ()
    #: What the last run has read besides, if it failed.
    also: tuple[ReadTarget, ...] = ()
    #: The present run.
    run: RunReads | None = None
