"""watch: GET of a collection as a stream of its changes.

A watch is a position in the history of a collection. `convert_to_watch_event` decides what a watcher sees of an event:
an object that starts to match the selectors is ADDED; one that stops matching is DELETED, in the state in which it last
matched. Lines are encoded once and shared by all watchers that see the event alike.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from pyctrl._headers import DIRECT_WATCH
from pyctrl.api import RequestTarget
from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._endpoints.list_selectors import SelectionPredicate, read_selection
from pyctrl.apiserver._endpoints.response_writers import encode_representation, encode_table
from pyctrl.apiserver._endpoints.watch_response import watch_response
from pyctrl.apiserver._errors import Response, StatusError, resource_expired
from pyctrl.apiserver._request.negotiation import MediaTypeOptions, Representation
from pyctrl.apiserver._request.options import ListOptions, list_options, parse_version
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._storage.heartbeats import OBSERVED
from pyctrl.apiserver._storage.storage import Collection, Compacted, Storage, StoredObject, WatchCacheEvent

if TYPE_CHECKING:
    from pyctrl.apiserver._endpoints.object_converter import ObjectConverter
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["WATCH_SECONDS", "WatchHandler", "WatchLines", "with_name"]

WATCH_SECONDS = 1800  # kube-apiserver's minimum; a watch without a timeout lasts up to twice as long
BOOKMARK_SECONDS = 60.0  # kube-apiserver's interval
LAST_BOOKMARK_SECONDS = 2.0  # before the end of a watch with a timeout: the position at which the client resumes
RENEWAL_SECONDS = 10.0  # after which the version of kube-apiserver has moved: it renews the Lease of its identity
BATCH = 256  # events written in one chunk, so that a long history does not become one huge write


class WatchHandler:
    """Handler of watch."""

    def __init__(self, backend: RESTStorage) -> None:
        self._backend = backend

    def watch(self, request: ResourceRequest) -> Response:
        """GET a collection, or one object of it, as a stream of its changes."""
        options = list_options(request.query, watch=True)
        if request.target.name:
            options = replace(options, field_selector=with_name(options.field_selector, request.target))
        plan = self._plan(request, options)
        collection = self._backend.collection(request.resource)
        lines = WatchServer(self._backend.storage, collection, plan, self._backend.conversions).lines()
        if not plan.is_direct and (request.target.group, request.target.resource) in OBSERVED:
            lines = self._backend.storage.heartbeats.observed(lines)
        return watch_response(request.headers, lines)

    def _plan(self, request: ResourceRequest, options: ListOptions) -> WatchPlan:
        """Decide whether a watch starts with the current state or after a version."""
        selection = read_selection(request, options, self._backend.features)
        collection = self._backend.collection(request.resource)
        version = parse_version(options.resource_version) or 0
        streaming_list = options.send_initial_events
        seconds = self._seconds(options)
        sends_state = seconds >= 0 and (version == 0 if streaming_list is None else streaming_list)
        is_direct = DIRECT_WATCH.lower() in request.headers
        initial: list[StoredObject] = []
        start: int | Compacted = collection.end
        if sends_state:
            current = collection.current(selection.namespace)
            initial = [stored for stored in current if selection.matches_selectors(stored, request.resource)]
        elif version:
            start = _position_after(collection, version)
        return WatchPlan(
            resource=request.resource,
            selection=selection,
            form=request.form,
            initial=initial,
            initial_end=bool(streaming_list and sends_state and options.bookmarks),
            version=self._backend.storage.version,
            start=start,
            after=0 if sends_state else version,
            bookmarks=options.bookmarks and not is_direct,
            is_direct=is_direct,
            seconds=seconds,
        )

    def _seconds(self, options: ListOptions) -> float:
        if options.timeout_seconds:
            return options.timeout_seconds
        return WATCH_SECONDS * (1 + self._backend.random.random())


def with_name(selector: str, target: RequestTarget) -> str:
    """Return a field selector that also selects the name of a target."""
    named = f"metadata.name={target.name}"
    return f"{selector},{named}" if selector else named


def _position_after(collection: Collection, version: int) -> int | Compacted:
    if version < collection.watched_from:
        return Compacted(version, collection.watched_from)
    try:
        return collection.position_after(version)
    except Compacted as compacted:
        return compacted


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPlan:
    """An accepted watch: where it starts, what it selects and when it ends."""

    resource: ResourceType
    selection: SelectionPredicate
    form: MediaTypeOptions
    initial: Sequence[StoredObject]  # sent first, as ADDED
    initial_end: bool  # send a bookmark after them
    version: int  # of `initial`; the storage may be further on by the time a slow client reads it
    start: int | Compacted  # the position in the history from which to continue
    after: int  # events up to this version are not sent
    bookmarks: bool
    is_direct: bool  # from this process: see `DIRECT_WATCH`
    seconds: float  # a negative time is over before it begins


class WatchServer:
    """One running watch. `lines` is the body of its response; closing that ends the watch."""

    def __init__(self, storage: Storage, collection: Collection, plan: WatchPlan, conversions: ObjectConverter) -> None:
        self._conversions = conversions
        self._storage = storage
        self._collection = collection
        self._plan = plan
        self._era = collection.era
        self._lines = WatchLines(plan.resource, plan.form)

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """Yield chunks of whole lines until the watch times out, its position is compacted, or its kind is removed."""
        plan = self._plan
        if isinstance(plan.start, Compacted):
            yield _expired_line(plan.start)
            return
        for chunk in self._initial():
            yield chunk
        position = plan.start
        deadlines = _Deadlines(plan.seconds, plan.bookmarks)
        is_bookmark_due = False
        while plan.seconds >= 0:
            try:
                events = self._collection.events_from(position)
            except Compacted as compacted:
                yield _expired_line(compacted)
                return
            chunks: Iterable[bytes] = ()
            if events:
                position += len(events)
                if plan.resource.converts and (failure := await self._convert(events)):
                    yield failure
                    return
                chunks = self._chunks(events)
            elif self._collection.era != self._era:
                return
            elif is_bookmark_due:
                is_bookmark_due = False
                deadlines.bookmarked()
                chunks = self._bookmark(deadlines.age)
            elif not await self._collection.wait_for_event(deadlines.next()):
                if deadlines.is_over():
                    return
                is_bookmark_due = True  # after events that came in the same iteration of the loop, if there are any
            for chunk in chunks:
                yield chunk

    async def _convert(self, events: list[WatchCacheEvent]) -> bytes:
        """Convert the objects of events; return an ERROR line when the webhook fails, b"" otherwise."""
        states = [stored for event in events for stored in (event.previous, event.current) if stored is not None]
        try:
            await self._conversions.show(states, self._plan.resource)
        except StatusError as refusal:
            return _encode_line("ERROR", msgspec.json.encode(refusal.status))
        return b""

    def _initial(self) -> Iterable[bytes]:
        for first in range(0, len(self._plan.initial), BATCH):
            batch = self._plan.initial[first : first + BATCH]
            yield b"".join([self._lines.encode("ADDED", stored) for stored in batch])
        if self._plan.initial_end:
            yield self._lines.bookmark(self._plan.version, {"k8s.io/initial-events-end": "true"})

    def _bookmark(self, age: float) -> Iterable[bytes]:
        """Yield a bookmark, unless a watch of some seconds began at its version."""
        if age >= RENEWAL_SECONDS or self._storage.version > (self._plan.after or self._plan.version):
            yield self._lines.bookmark(self._storage.version)

    def _chunks(self, events: list[WatchCacheEvent]) -> Iterable[bytes]:
        for first in range(0, len(events), BATCH):
            chunk = b"".join([self._line(event) for event in events[first : first + BATCH]])
            if chunk:
                yield chunk

    def _line(self, event: WatchCacheEvent) -> bytes:
        """Return the line of an event, or b"" when this watcher does not see the event."""
        plan = self._plan
        if event.version <= plan.after:
            return b""
        if plan.selection.shards and not plan.selection.matches_shard(event.state):
            return b""
        seen = convert_to_watch_event(event, plan.selection, plan.resource)
        if seen is None:
            return b""
        if plan.form.shape is Representation.TABLE:
            return self._lines.encode(seen, event.gone if seen == "DELETED" else _current(event))
        key = (plan.resource, plan.form.shape, plan.form.version, seen)
        line = event.lines.get(key)
        if line is None:
            stored = event.gone if seen == "DELETED" else _current(event)
            line = event.lines[key] = _encode_line(seen, encode_representation(stored, plan.resource, plan.form))
        return line


class WatchLines:
    """Encoder of the lines of one watch, in the representation that the client accepts."""

    def __init__(self, resource: ResourceType, form: MediaTypeOptions) -> None:
        self._resource, self._form = resource, form
        self._rows = _TableRows(resource, form) if form.shape is Representation.TABLE else None

    def encode(self, type_: str, stored: StoredObject) -> bytes:
        """Return the line of a change of an object."""
        if self._rows is not None:
            return self._rows.line(type_, stored)
        return _encode_line(type_, encode_representation(stored, self._resource, self._form))

    def bookmark(self, version: int, annotations: dict[str, str] | None = None) -> bytes:
        """Return a bookmark line: the client has seen every event up to this version."""
        metadata: dict[str, Any] = {"resourceVersion": str(version)}
        if annotations:
            metadata["annotations"] = annotations
        if self._rows is not None:
            return self._rows.bookmark(metadata)
        if self._form.shape is Representation.METADATA:
            bookmark = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
        else:
            head = {"kind": self._resource.kind, "apiVersion": self._resource.api_version, "metadata": metadata}
            bookmark = _merged({**self._resource.blank(), **head}, self._resource.internal_zeros)
        return _encode_line("BOOKMARK", msgspec.json.encode(bookmark))

    def error(self, status: Mapping[str, Any]) -> bytes:
        """Return the line of an error, which ends the watch."""
        return _encode_line("ERROR", msgspec.json.encode(status))


def _merged(value: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the members of another one, also those of its parts."""
    parts = {key: _merged(value.get(key) or {}, each) for key, each in more.items() if isinstance(each, Mapping)}
    return {**value, **more, **parts}


def _current(event: WatchCacheEvent) -> StoredObject:
    assert event.current is not None  # only a DELETED event has no current object
    return event.current


def convert_to_watch_event(event: WatchCacheEvent, selection: SelectionPredicate, resource: ResourceType) -> str | None:
    """Return the type of the event that a watcher with this selection sees, or None when it sees none."""
    matched = event.previous is not None and selection.matches(event.previous, resource)
    matches = event.current is not None and selection.matches(event.current, resource)
    if matches:
        return "MODIFIED" if matched else "ADDED"
    return "DELETED" if matched else None


def _encode_line(type_: str, data: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (type_.encode(), data)


def _expired_line(compacted: Compacted) -> bytes:
    """Return the ERROR line that ends a watch whose position is compacted."""
    return _encode_line("ERROR", msgspec.json.encode(resource_expired(str(compacted)).status))


class _Deadlines:
    """Times of the next bookmark and of the end of a watch, on the loop's clock."""

    def __init__(self, seconds: float, bookmarks: bool) -> None:
        self._now: Callable[[], float] = asyncio.get_running_loop().time
        self._bookmarks = bookmarks
        self._began = self._now()
        self._end = self._began + seconds
        self._bookmark = self._next_bookmark()

    def _next_bookmark(self) -> float:
        if not self._bookmarks:
            return self._end
        now = self._now()
        last = self._end - LAST_BOOKMARK_SECONDS
        return min(now + BOOKMARK_SECONDS, last if now < last else self._end)

    @property
    def age(self) -> float:
        """The seconds since the watch began."""
        return self._now() - self._began

    def next(self) -> float:
        return min(self._bookmark, self._end)

    def is_over(self) -> bool:
        return self._now() >= self._end

    def bookmarked(self) -> None:
        self._bookmark = self._next_bookmark()


class _TableRows:
    """Watch lines as tables of one row; only the first carries the column definitions."""

    def __init__(self, resource: ResourceType, form: MediaTypeOptions) -> None:
        self._resource = resource
        self._form = form
        self._has_columns = False  # a line with the column definitions was sent

    def line(self, type_: str, stored: StoredObject) -> bytes:
        table = msgspec.json.decode(
            encode_table(self._resource, [stored], self._form, {"resourceVersion": str(stored.version)})
        )
        return self._table_line(type_, table)

    def bookmark(self, metadata: dict[str, Any]) -> bytes:
        """Return a bookmark, which is an object with these metadata only, as any object."""
        from pyctrl.apiserver._endpoints.tables import convert_to_table  # here: only kubectl accepts tables

        blank = {**self._resource.blank(), "metadata": metadata}
        version = {"resourceVersion": metadata["resourceVersion"]}
        is_end = "annotations" in metadata  # clients read the end of a streamed list from the object
        include = "Metadata" if is_end and self._form.include == "None" else self._form.include
        table = convert_to_table(self._resource, [blank], metadata=version, version=self._form.version, include=include)
        return self._table_line("BOOKMARK", table)

    def _table_line(self, type_: str, table: dict[str, Any]) -> bytes:
        if self._has_columns and not self._resource.repeats_columns:
            table["columnDefinitions"] = None
        self._has_columns = True
        return _encode_line(type_, msgspec.json.encode(table))
