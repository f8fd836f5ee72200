"""Reads and readers: what a request has looked at, and the requests that have looked at it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from msgspec import Struct

from pyctrl.controller._request import Request

if TYPE_CHECKING:
    from pyctrl.controller._reads.run_reads import RunReads
    from pyctrl.controller._reads.views import ReadView

__all__ = ["Read", "Reader"]

# Structs without gc: there are hundreds of thousands, which the garbage collector would traverse. The references
# between reads and readers are removed when a reader drops a read, so that no garbage is left.


class Read(Struct, gc=False, eq=False):
    """Something that reconciles look at, with its readers. Two reads are equal only if they are the same object."""

    _readers: Reader | dict[Reader, None] | None = None  # most objects have one reader, without a dictionary

    @property
    def readers(self) -> Collection[Reader]:
        """The readers, in the order in which they came."""
        if self._readers is None:
            return ()
        return self._readers if isinstance(self._readers, dict) else (self._readers,)

    def add(self, reader: Reader) -> None:
        """Add a reader, unless it is there."""
        known = self._readers
        if known is None:
            self._readers = reader
        elif isinstance(known, dict):
            known[reader] = None
        elif known is not reader:
            self._readers = {known: None, reader: None}

    def remove(self, reader: Reader) -> None:
        """Remove a reader; without readers the read is forgotten."""
        known = self._readers
        if isinstance(known, dict):
            known.pop(reader, None)
            if known:
                return
        elif known is not reader:
            return
        self._readers = None
        self.forget()

    def forget(self) -> None:
        """Remove the read from its index."""
        raise NotImplementedError

    def view(self) -> ReadView:
        """Return what was read, for people."""
        raise NotImplementedError


class Reader(Struct, gc=False, eq=False):
    """A request with what its runs have read."""

    request: Request
    #: What the last successful run has read.
    reads: tuple[Read, ...] = ()
    #: What the last run has read besides, if it failed.
    also: tuple[Read, ...] = ()
    #: The present run.
    run: RunReads | None = None
