"""The bytes of one list and watch on their way into a feed, and how far they have come."""

from __future__ import annotations

from collections.abc import Iterable

from pyctrl.api import shown_wire
from pyctrl.cache._feed import Feed
from pyctrl.cache._metadata import read_details
from pyctrl.cache._record import UNORDERED, Record, RecordReader, version_number
from pyctrl.cache._wire import Event, error_of, read_bookmark, read_events, read_page
from pyctrl.errors import DecodeError

__all__ = ["Intake"]


class Intake:
    """Takes pages and lines, in the order in which the server sends them. Nothing here waits.

    Each call is one block: when it returns or raises, store, indexes and subscribers agree on everything that came
    before the place where it went wrong, and `position` is that place.
    """

    def __init__(self, feed: Feed, reader: RecordReader) -> None:
        self._feed, self._reader = feed, reader
        #: The version to go on from; None until a list is complete.
        self.position: str | None = None
        #: Complete lists so far.
        self.lists = 0

    def begin_list(self) -> None:
        """Begin a list, from its start."""
        self.position = None
        self._feed.begin_list()

    def take_page(self, body: bytes) -> str:
        """Take a page and return the token of the next one; "" ends the list.

        Raises:
            DecodeError: it is not a page.
        """
        page = read_page(body)
        read, put = self._reader, self._feed.put
        for item in page.items or ():
            put(read(bytes(item)))  # a copy: the item is a view that would keep the whole page
        if not page.metadata.continue_:
            self._end_list(page.metadata.resource_version)
        return page.metadata.continue_

    def take_lines(self, lines: bytes) -> None:
        """Take complete lines of a watch; until the bookmark that ends them, initial events are a list.

        Raises:
            DecodeError: a line is no event.
            ApiError: the server reports a failure.
        """
        events, problem = read_events(lines)
        self._take_events(events)
        if problem is not None:
            raise problem

    def _take_events(self, events: Iterable[tuple[Event, bytes]]) -> None:
        last: Record | None = None
        put, remove = self._feed.put, self._feed.remove
        try:
            for event, data in events:
                kind = event.type
                if kind == "ADDED" or kind == "MODIFIED":
                    record = self._record(event, data)
                    put(record)
                    last = record
                elif kind == "DELETED":
                    record = self._record(event, data)
                    remove(record)
                    last = record
                else:
                    self._take_notice(kind, data)
                    last = None
        finally:
            if last is not None:
                self._advance(last)

    def _record(self, event: Event, data: bytes) -> Record:
        found = event.object.metadata
        if found is None or not (found.name and found.resource_version):
            raise DecodeError(f"expected an object with name and resourceVersion, got {shown_wire(data)}")
        return self._reader.record(data, found)

    def _take_notice(self, kind: str, data: bytes) -> None:
        if kind == "ERROR":
            raise error_of(data, http_code=500, request="watch")
        if kind != "BOOKMARK":
            raise DecodeError(f"expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, got {kind!r}")
        bookmark = read_bookmark(data)
        if self.position is not None:
            self.position = bookmark.version
            self._feed.passed(version_number(bookmark.version))
        elif bookmark.ends_initial_events:
            self._end_list(bookmark.version)

    def _advance(self, record: Record) -> None:
        if self.position is None:
            return  # within a list only its end is a position
        if record.version == UNORDERED:
            self.position = read_details(record.data).resource_version
        else:
            self.position = str(record.version)
            self._feed.passed(record.version)

    def _end_list(self, version: str) -> None:
        self._feed.end_list(version_number(version))
        self.position = version
        self.lists += 1
