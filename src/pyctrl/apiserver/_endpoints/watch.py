"""Watches: a position in a collection's history, turned into the lines of a stream.

What a watcher sees is decided by `convert_to_watch_event`, a function of one event: an object that starts to match a
selector is
ADDED, one that stops is DELETED in the state it had when it last matched. Lines are encoded once and shared by all
watchers that see the event alike.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from pyctrl.api import FieldSelector, LabelSelector
from pyctrl.apiserver._errors import StatusError, resource_expired
from pyctrl.apiserver._request.negotiation import MediaTypeOptions, Representation, encode_representation, encode_table
from pyctrl.apiserver._storage.storage import Collection, Compacted, Storage, StoredObject, WatchCacheEvent, api_version

if TYPE_CHECKING:
    from pyctrl.apiserver._apiextensions.conversion_webhook import WebhookConverter
    from pyctrl.apiserver._registry.resources import ResourceType

BOOKMARK_SECONDS = 60.0  # kube-apiserver's own interval
LAST_BOOKMARK_SECONDS = 2.0  # before the end of a watch with a timeout: where the client resumes
BATCH = 256  # events written in one chunk, so that a long history does not become one huge write


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionPredicate:
    """Which objects a list or watch is about."""

    namespace: str = ""
    labels: LabelSelector = field(default_factory=LabelSelector.everything)
    fields: FieldSelector = field(default_factory=FieldSelector.everything)

    def matches(self, stored: StoredObject, resource: ResourceType) -> bool:
        """Whether an object is selected."""
        if self.namespace and stored.namespace != self.namespace:
            return False
        return self.matches_selectors(stored, resource)

    def matches_selectors(self, stored: StoredObject, resource: ResourceType) -> bool:
        """Whether the selectors hold, for an object that is known to be of the namespace."""
        if self.labels.requirements and not self.labels.matches(stored.labels):
            return False
        if not self.fields.requirements:
            return True
        return self.fields.matches(lambda name: field_of(stored, resource, name))

    @property
    def is_filtering(self) -> bool:
        """Whether selectors, not only the namespace, leave objects out."""
        return bool(self.labels.requirements or self.fields.requirements)


def field_of(stored: StoredObject, resource: ResourceType, name: str) -> str | None:
    """Give the field that a field selector asks for; name and namespace without decoding the object."""
    if name == "metadata.name":
        return stored.name
    if name == "metadata.namespace":
        return stored.namespace
    return stored.fields(resource).get(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPlan:
    """A watch that was accepted: where it starts and when it ends."""

    resource: ResourceType
    selection: SelectionPredicate
    form: MediaTypeOptions
    initial: Sequence[StoredObject]  # sent first, as ADDED
    initial_end: bool  # then a bookmark says that they were all
    version: int  # of what is sent first; by the time a slow reader takes it, the storage may be further on
    start: int | Compacted  # the position in the history to go on from
    after: int  # and events up to this version are not shown, even if they come later
    bookmarks: bool
    seconds: float


class WatchServer:
    """One running watch. `lines` is its body; closing that ends it."""

    def __init__(
        self, storage: Storage, collection: Collection, plan: WatchPlan, conversions: WebhookConverter
    ) -> None:
        self._conversions = conversions
        self._storage = storage
        self._collection = collection
        self._plan = plan
        self._era = collection.era
        self._rows = _TableRows(plan.resource, plan.form) if plan.form.shape is Representation.TABLE else None

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """Yield chunks of whole lines until the watch times out, its place is lost, or the kind is served no longer."""
        plan = self._plan
        if isinstance(plan.start, Compacted):
            yield expired_line(plan.start)
            return
        for chunk in self._initial():
            yield chunk
        position = plan.start
        deadlines = _Deadlines(plan.seconds, plan.bookmarks)
        is_bookmark_due = False
        while True:
            try:
                events = self._collection.events_from(position)
            except Compacted as lost:
                yield expired_line(lost)
                return
            if events:
                position += len(events)
                if plan.resource.converts and (failure := await self._convert(events)):
                    yield failure
                    return
                for chunk in self._chunks(events):
                    yield chunk
            elif self._collection.era != self._era:
                return
            elif is_bookmark_due:
                is_bookmark_due = False
                deadlines.bookmarked()
                yield self._bookmark(self._storage.version)
            elif not await self._collection.wait_for_event(deadlines.next()):
                if deadlines.is_over():
                    return
                is_bookmark_due = True  # unless there are events: they may have come in the same turn of the loop

    async def _convert(self, events: list[WatchCacheEvent]) -> bytes:
        """Have the objects of events converted; gives the event that tells when that is not possible."""
        states = [stored for event in events for stored in (event.previous, event.current) if stored is not None]
        try:
            await self._conversions.show(states, self._plan.resource)
        except StatusError as refusal:
            return encode_line("ERROR", msgspec.json.encode(refusal.status))
        return b""

    def _initial(self) -> Iterable[bytes]:
        for first in range(0, len(self._plan.initial), BATCH):
            batch = self._plan.initial[first : first + BATCH]
            yield b"".join([self._encode("ADDED", stored) for stored in batch])
        if self._plan.initial_end:
            yield self._bookmark(self._plan.version, {"k8s.io/initial-events-end": "true"})

    def _chunks(self, events: list[WatchCacheEvent]) -> Iterable[bytes]:
        for first in range(0, len(events), BATCH):
            chunk = b"".join([self._line(event) for event in events[first : first + BATCH]])
            if chunk:
                yield chunk

    def _line(self, event: WatchCacheEvent) -> bytes:
        """Give the line of an event, or nothing when this watcher does not see it."""
        plan = self._plan
        if event.version <= plan.after:
            return b""
        seen = convert_to_watch_event(event, plan.selection, plan.resource)
        if seen is None:
            return b""
        if self._rows is not None:
            return self._rows.line(seen, event.gone if seen == "DELETED" else _current(event))
        key = (plan.resource, plan.form.shape, seen)
        line = event.lines.get(key)
        if line is None:
            stored = event.gone if seen == "DELETED" else _current(event)
            line = event.lines[key] = encode_line(seen, encode_representation(stored, plan.resource, plan.form.shape))
        return line

    def _encode(self, type_: str, stored: StoredObject) -> bytes:
        if self._rows is not None:
            return self._rows.line(type_, stored)
        return encode_line(type_, encode_representation(stored, self._plan.resource, self._plan.form.shape))

    def _bookmark(self, version: int, annotations: dict[str, str] | None = None) -> bytes:
        """Say how far the client has seen: everything up to this version."""
        metadata: dict[str, Any] = {"resourceVersion": str(version)}
        if annotations:
            metadata["annotations"] = annotations
        if self._rows is not None:
            return self._rows.bookmark(metadata)
        kind, served_as = self._plan.resource.kind, api_version(self._plan.resource)
        if self._plan.form.shape is Representation.METADATA:
            kind, served_as = "PartialObjectMetadata", "meta.k8s.io/v1"
        bookmark = {"kind": kind, "apiVersion": served_as, "metadata": metadata}
        return encode_line("BOOKMARK", msgspec.json.encode(bookmark))


def _current(event: WatchCacheEvent) -> StoredObject:
    assert event.current is not None  # only a DELETED event has no current object
    return event.current


def convert_to_watch_event(event: WatchCacheEvent, selection: SelectionPredicate, resource: ResourceType) -> str | None:
    """Tell as what a watcher with this selection sees an event, or None when it does not."""
    matched = event.previous is not None and selection.matches(event.previous, resource)
    matches = event.current is not None and selection.matches(event.current, resource)
    if matches:
        return "MODIFIED" if matched else "ADDED"
    return "DELETED" if matched else None


def encode_line(type_: str, data: bytes) -> bytes:
    """Encode one watch event."""
    return b'{"type":"%b","object":%b}\n' % (type_.encode(), data)


def expired_line(lost: Compacted) -> bytes:
    """Encode the event that ends a watch whose place in the history is gone."""
    return encode_line("ERROR", msgspec.json.encode(resource_expired(str(lost)).status))


class _Deadlines:
    """When to bookmark next and when to end, on the loop's clock."""

    def __init__(self, seconds: float, bookmarks: bool) -> None:
        self._now: Callable[[], float] = asyncio.get_running_loop().time
        self._bookmarks = bookmarks
        self._end = self._now() + seconds
        self._bookmark = self._next_bookmark()

    def _next_bookmark(self) -> float:
        if not self._bookmarks:
            return self._end
        now = self._now()
        last = self._end - LAST_BOOKMARK_SECONDS
        return min(now + BOOKMARK_SECONDS, last if now < last else self._end)

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
        self._described = False

    def line(self, type_: str, stored: StoredObject) -> bytes:
        table = msgspec.json.decode(
            encode_table(self._resource, [stored], self._form, {"resourceVersion": str(stored.version)})
        )
        if self._described:
            table["columnDefinitions"] = None
        self._described = True
        return encode_line(type_, msgspec.json.encode(table))

    def bookmark(self, metadata: dict[str, Any]) -> bytes:
        table: dict[str, Any] = {
            "kind": "Table",
            "apiVersion": f"meta.k8s.io/{self._form.version}",
            "metadata": metadata,
            "columnDefinitions": None,
            "rows": [],
        }
        return encode_line("BOOKMARK", msgspec.json.encode(table))
