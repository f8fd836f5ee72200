"""The handler of one list and watch: decodes pages and events into a store writer, and keeps the resume position."""

from __future__ import annotations

from contextlib import suppress

from pyctrl._json import why_unreadable
from pyctrl.api import shown_wire
from pyctrl.cache._decoder import (
    RawWatchEvent,
    SplitListPage,
    UndecodedEvent,
    check_json,
    error_of,
    read_bookmark,
    read_events,
    read_page,
    split_event,
)
from pyctrl.cache._metadata import head_of, read_details
from pyctrl.cache._record import UNORDERED, Record, RecordReader, version_number
from pyctrl.cache._store_writer import StoreWriter
from pyctrl.cache._unreadable import UnreadableObjects, digest, unreadable_record
from pyctrl.cache._watch_errors import EventLost
from pyctrl.client import LineSplitter
from pyctrl.errors import DecodeError

__all__ = ["WatchHandler"]


MAX_RELISTS_FOR_LOST_EVENTS = 1000  # relists, each for another event that does not say its object's name


class WatchHandler:
    """Takes the pages and chunks of a collection, in the order in which the server sends them. Never waits.

    When a call returns or raises, store, indexes and subscribers agree on everything before the event that failed, and
    `position` is the version to resume at.

    Data that cannot be decoded does not end the watch. It is first requested again, as it may have been damaged on its
    way. Then an object with a readable name is kept as `UnreadableRecord`, so that reads of it raise an error, and an
    object without one is left out.
    """

    def __init__(self, writer: StoreWriter, reader: RecordReader, unreadable: UnreadableObjects) -> None:
        self._writer, self._reader, self._unreadable = writer, reader, unreadable
        self._lines, self._is_mid_line = LineSplitter(), False
        self._doubted = b""  # the digest of the last bytes that were requested again
        self._is_undamaged = False  # the bytes that were requested again came unchanged
        self._listed_for: set[bytes] = set()  # the digests of events without a name, after each of which it relisted
        #: The version to resume at; None until a list is complete.
        self.position: str | None = None
        #: Whether the watch has sent a version that is lower than one before.
        self.went_back = False
        #: Whether a watch has ever sent a bookmark; without bookmarks a silent watch is no sign of a failure.
        self.has_bookmarks = False
        #: The number of complete lists so far.
        self.lists = 0
        #: Whether the server has applied a shard selector to the last page, as far as it says so.
        self.is_sharded = False

    def begin_answer(self) -> None:
        """Begin to read an answer, perhaps over a new connection."""
        self._is_undamaged = self.went_back = False
        self._lines, self._is_mid_line = LineSplitter(), False

    def begin_list(self) -> None:
        """Begin a list from its start."""
        self.position = None
        self._writer.begin_list()
        self._unreadable.begin_list()

    def take_page(self, body: bytes) -> str:
        """Take a page and return the token of the next one; "" ends the list.

        Raises:
            DecodeError: the body is not a list, or an item may have been damaged on its way.
        """
        page = read_page(body)
        self.is_sharded = page.metadata.shard_info is not None
        read, put, is_split = self._reader, self._writer.put, isinstance(page, SplitListPage)
        for item in page.items or ():
            data = bytes(item)  # a copy: the item is a view that would keep the whole page
            try:
                if is_split:
                    check_json(data)
                record = read(data)
            except DecodeError as error:
                self._rescue("ADDED", data, error)
            else:
                put(record)
        if not page.metadata.continue_:
            self._end_list(page.metadata.resource_version)
        return page.metadata.continue_

    def take_chunk(self, chunk: bytes) -> None:
        """Take a chunk of a watch. A line may span any number of chunks. Raises as `take_lines` does."""
        ends_line = chunk.endswith(b"\n")
        if not ends_line or self._is_mid_line:  # rare: servers write, and sockets deliver, an event as a whole line
            chunk = self._lines.feed_block(chunk)
        self._is_mid_line = not ends_line
        if chunk:
            self.take_lines(chunk)

    def take_lines(self, lines: bytes) -> None:
        """Take complete lines of a watch. Initial events are a list, up to the bookmark that ends them.

        Raises:
            DecodeError: a line is not a watch event, or may have been damaged on its way.
            ApiError: the server reports a failure.
        """
        last: Record | None = None
        put, remove = self._writer.put, self._writer.remove
        try:
            for event, data in read_events(lines):
                kind = event.type
                try:
                    if kind == "ADDED" or kind == "MODIFIED":
                        record = self._record(event, data)
                        put(record)
                        last = record
                    elif kind == "DELETED":
                        record = self._record(event, data)
                        remove(record)
                        last = record
                    else:
                        self._take_notice(event, data)
                        last = None
                except DecodeError as error:
                    if last is not None:
                        self._advance(last)  # first: the line may be a bookmark, which advances further
                    last = None
                    last = self._rescue_event(event, data, error)
        finally:
            if last is not None:
                self._advance(last)

    def _record(self, event: RawWatchEvent, data: bytes) -> Record:
        found = event.object.metadata
        if found is None or not (found.name and found.resource_version):
            raise DecodeError(f"expected an object with name and resourceVersion, got {shown_wire(data)}")
        return self._reader.record(data, found)

    def _take_notice(self, event: RawWatchEvent, data: bytes) -> None:
        kind = event.type
        if kind == "ERROR":
            raise error_of(data, http_code=500, request="watch")
        if isinstance(event, UndecodedEvent):
            raise DecodeError(
                f"expected a watch event, got {shown_wire(data)}: {why_unreadable(event.error)}"
            ) from event.error
        if kind != "BOOKMARK":
            raise DecodeError(f"expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, got {kind!r}")
        self._take_bookmark(data)

    def _take_bookmark(self, data: bytes) -> None:
        bookmark = read_bookmark(data)
        if self.position is not None:
            self.has_bookmarks = True
            self._advance_to(version_number(bookmark.version), bookmark.version)
        elif bookmark.ends_initial_events:
            self._end_list(bookmark.version)

    def _rescue_event(self, event: RawWatchEvent, data: bytes, error: DecodeError) -> Record | None:
        if not isinstance(event, UndecodedEvent):
            return self._rescue(event.type, data, error)
        kind, found = split_event(data)
        if kind == "ERROR":
            raise error_of(found, http_code=500, request="watch")
        return self._rescue(kind, found or data, error)

    def _rescue(self, kind: str, data: bytes, error: DecodeError) -> Record | None:
        """Keep what is readable of an object that cannot be decoded, and return its record if it has a name.

        Raises:
            DecodeError: the data may have been damaged on its way.
        """
        # JSON that is nested too deep is complete. Other data is accepted when it comes again over a new connection.
        if not (isinstance(error.__cause__, RecursionError) or self._is_undamaged):
            self._doubted, before = digest(data), self._doubted
            if self._doubted != before:
                raise error
            self._is_undamaged = True
        if kind == "BOOKMARK":  # nothing is lost: the next event or bookmark has a later version
            with suppress(DecodeError):
                self._take_bookmark((head_of(data, is_named=False) or (None, b""))[1])
            return None
        reason = why_unreadable(error.__cause__) if isinstance(error.__cause__, RecursionError) else str(error)
        record = unreadable_record(self._unreadable.gvk, data, reason)
        if record is None or kind not in ("ADDED", "MODIFIED", "DELETED"):
            self._leave_out(data, reason)
            return None
        if kind == "DELETED":
            self._writer.remove(record)
        else:
            self._writer.put(record)
            self._unreadable.note(record)
        return record if record.version != UNORDERED else None

    def _leave_out(self, data: bytes, reason: str) -> None:
        """Leave out data without a name, and relist once: the list shows which object is missing."""
        mark = digest(data)
        if (
            self.position is not None
            and mark not in self._listed_for
            and len(self._listed_for) < MAX_RELISTS_FOR_LOST_EVENTS
        ):
            self._listed_for.add(mark)
            raise EventLost(f"an event that cannot be decoded was left out: {reason}")
        self._unreadable.leave_out(mark, data, reason)

    def _advance(self, record: Record) -> None:
        if self.position is None:
            return  # a list can only be resumed after its end
        if record.version == UNORDERED:
            self.position = read_details(record.data).resource_version
        else:
            self._advance_to(record.version, str(record.version))

    def _advance_to(self, version: int, text: str) -> None:
        """Move the position to a version. A version that is lower than the present one only sets `went_back`."""
        if UNORDERED < version < self._writer.progress:
            self.went_back = True
            return
        self.position = text
        self._writer.advance_to(version)

    def _end_list(self, version: str) -> None:
        self._writer.end_list(version_number(version))
        self._unreadable.end_list()
        self.position = version
        self.lists += 1
