"""Decoding of list pages into items and of watch lines into events, without copying an object twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from pyctrl._json import UNREADABLE, decode_json, split_items, split_members, why_unreadable
from pyctrl.api import shown_wire
from pyctrl.cache._metadata import ObjectIdentity
from pyctrl.errors import ApiError, DecodeError, error_from_status

__all__ = [
    "Bookmark",
    "ListPage",
    "RawWatchEvent",
    "SplitListPage",
    "UndecodedEvent",
    "check_json",
    "error_of",
    "read_bookmark",
    "read_events",
    "read_page",
    "split_event",
]

INITIAL_EVENTS_END = "k8s.io/initial-events-end"  # annotation of the bookmark that ends a streamed list (KEP-3157)
SHOWN = 200  # bytes of an answer that is not a Status, in its error


class _ListMeta(msgspec.Struct, gc=False, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")
    shard_info: object = None


class ListPage(msgspec.Struct, gc=False):
    """One page of a list. Its items are views that keep the whole page in memory: copy an item to keep it."""

    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


class SplitListPage(ListPage):
    """A list page with an item that cannot be decoded."""


class NamedObject(msgspec.Struct, gc=False):
    """An object of which only the identity is decoded. Bookmarks and errors have none, or a part of one."""

    metadata: ObjectIdentity | None = None


class RawWatchEvent(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """One line of a watch, decoded in one scan. `read_events` returns the bytes of the object beside it."""

    type: str
    object: NamedObject


class UndecodedEvent(RawWatchEvent, forbid_unknown_fields=False):
    """A line that cannot be decoded. `read_events` returns the whole line beside it."""

    error: Exception


class _UnorderedEvent(msgspec.Struct, gc=False):
    """One line of a watch with any order of fields and any spaces. Its object is a view of the line."""

    type: str
    object: msgspec.Raw


class _Nothing(msgspec.Struct, gc=False):
    """An object whose fields are skipped."""


class Bookmark(msgspec.Struct, gc=False):
    """The object of a BOOKMARK event: the version that the watch has reached."""

    version: str
    ends_initial_events: bool


class _BookmarkMeta(msgspec.Struct, gc=False, rename="camel"):
    resource_version: str
    annotations: dict[str, str] | None = None


class _BookmarkObject(msgspec.Struct, gc=False):
    metadata: _BookmarkMeta


_decode_bookmark = msgspec.json.Decoder(_BookmarkObject).decode
_decode_page = msgspec.json.Decoder(ListPage).decode
_decode_lines = msgspec.json.Decoder(RawWatchEvent).decode_lines
_decode_loose = msgspec.json.Decoder(_UnorderedEvent).decode
_decode_named = msgspec.json.Decoder(NamedObject).decode

# Every API server writes lines like this, so that the object can be cut out without a search.
_HEADS = {
    word: b'{"type":"%s","object":' % word.encode() for word in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
}
_TAIL = b"}}"  # the end of the object and of the event


def read_page(body: bytes) -> ListPage:
    """Split a page of a list into its items.

    Raises:
        DecodeError: the body is not a list.
    """
    try:
        return _decode_page(body)
    except UNREADABLE as error:
        page = _split_page(body)
        if page is None:
            raise DecodeError(f"expected a list, got {shown_wire(body)}: {why_unreadable(error)}") from error
        return page


def _split_page(body: bytes) -> ListPage | None:
    """Split a page with an item that cannot be decoded; None for a page that is cut off."""
    members, is_page_whole = split_members(body)
    items, is_whole = split_items(members.get("items", b""))
    if not (is_page_whole and is_whole):
        return None
    try:
        page = _decode_page(b'{"metadata":%s}' % members.get("metadata", b"{}"))
    except UNREADABLE:
        return None
    return SplitListPage(page.metadata, [msgspec.Raw(item) for item in items])


def check_json(data: bytes) -> None:
    """Scan an object to its end. Raises DecodeError."""
    decode_json(data, _Nothing)


def read_events(lines: bytes) -> Iterable[tuple[RawWatchEvent, bytes]]:
    """Decode complete lines to events with the bytes of their objects.

    A line that cannot be decoded is `UndecodedEvent`.
    """
    try:
        events = _decode_lines(lines)
    except UNREADABLE:
        return _read_loosely(lines)  # line by line, to find the one that fails
    objects = _cut_objects(lines, events)
    return _read_loosely(lines) if objects is None else zip(events, objects, strict=True)


def _cut_objects(lines: bytes, events: Sequence[RawWatchEvent]) -> list[bytes] | None:
    """Cut the object out of each line; None when a line is not written the usual way.

    The lines are valid JSON, and an event has no other fields. So only the object is between the usual beginning and
    the last brace.
    """
    objects: list[bytes] = []
    start = 0
    for event in events:
        end = lines.find(b"\n", start)
        head = _HEADS.get(event.type)
        if head is None or end < 0 or not lines.startswith(head, start) or lines[end - 2 : end] != _TAIL:
            return None
        objects.append(lines[start + len(head) : end - 1])
        start = end + 1
    return objects


def _read_loosely(lines: bytes) -> Iterator[tuple[RawWatchEvent, bytes]]:
    for line in lines.split(b"\n"):
        if not line.strip():
            continue
        try:
            event = _decode_loose(line)
            data = bytes(event.object)  # a copy: a view would keep the whole line
            yield RawWatchEvent(event.type, _decode_named(data)), data
        except UNREADABLE as error:
            yield UndecodedEvent("", NamedObject(), error), line


def split_event(line: bytes) -> tuple[str, bytes]:
    """Return the type and the object of a line that cannot be decoded, as far as they are readable."""
    members, _ = split_members(line)
    try:
        kind = msgspec.json.decode(members.get("type", b'""'), type=str)
    except UNREADABLE:
        kind = ""
    return kind, members.get("object", b"")


def read_bookmark(data: bytes | msgspec.Raw) -> Bookmark:
    """Decode the object of a BOOKMARK event.

    Raises:
        DecodeError: the object has no resource version.
    """
    try:
        found = _decode_bookmark(data).metadata
    except UNREADABLE as error:
        raise DecodeError(f"expected a bookmark, got {shown_wire(bytes(data))}: {why_unreadable(error)}") from error
    return Bookmark(found.resource_version, (found.annotations or {}).get(INITIAL_EVENTS_END) == "true")


def error_of(status: bytes, *, http_code: int, request: str, retry_after: str | None = None) -> ApiError:
    """Return the error of a failed answer or of an ERROR event, whose body may be anything."""
    try:
        document = msgspec.json.decode(status, type=dict)
    except UNREADABLE:
        text = " ".join(status[:SHOWN].decode(errors="replace").split())
        document = {"message": f"the server answered {http_code}: {text}"}
    seconds = float(retry_after) if retry_after and retry_after.isdecimal() else None
    return error_from_status(document, http_code=http_code, request=request, retry_after=seconds)
