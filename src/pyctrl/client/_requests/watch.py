"""Watch events, decoded from the lines of a watch."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast

import msgspec

from pyctrl._json import UNREADABLE, decode_json, why_unreadable
from pyctrl.api import Kind, ObjectLike, decode, shown_wire
from pyctrl.client._transport.line_splitter import LineSplitter
from pyctrl.client._transport.transport import HttpStream
from pyctrl.errors import DecodeError, error_from_status

__all__ = ["EventType", "WatchEvent", "watch_events"]

T_co = TypeVar("T_co", covariant=True)
O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not

EventType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]

INITIAL_EVENTS_END = "k8s.io/initial-events-end"  # the annotation of the bookmark that ends a streamed list


class WatchEvent(Generic[T_co]):
    """A change of an object, as the server reports it. The object is decoded on first access.

    A ``BOOKMARK`` only reports the progress of the watch: its object has nothing but `resource_version`.
    """

    __slots__ = ("_decoded", "_kind", "body", "type")

    __match_args__ = ("type", "object")

    def __init__(self, type: EventType, body: bytes, kind: Kind[Any]) -> None:
        self.type = type
        self.body: bytes = body
        self._kind = kind
        self._decoded: Any = None

    @property
    def object(self) -> T_co:
        """The object after the change, or its last state when it was deleted.

        Raises:
            DecodeError: the object does not fit its class, or this is a bookmark of a kind with required fields.
        """
        if self._decoded is None:
            self._decoded = decode(self._kind, self.body)
        return cast(T_co, self._decoded)

    @property
    def resource_version(self) -> str:
        """The version from which a watch continues after this event."""
        return self._metadata().resource_version

    @property
    def is_initial_events_end(self) -> bool:
        """Whether this bookmark ends the events of a streamed list (``send_initial_events``)."""
        return self.type == "BOOKMARK" and (self._metadata().annotations or {}).get(INITIAL_EVENTS_END) == "true"

    def _metadata(self) -> _Metadata:
        found: _Object = decode_json(self.body, _Object)
        return found.metadata

    def __repr__(self) -> str:
        return f"WatchEvent({self.type}, {len(self.body)} bytes)"


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


async def watch_events(kind: Kind[O], stream: HttpStream) -> AsyncIterator[WatchEvent[O]]:
    """Iterate over the events of a watch until the server ends it.

    Raises:
        ApiError: the server sent an ERROR event; `Expired` when the version to watch from is too old.
        DecodeError: a line is not an event.
        TransportError: the stream broke, or was silent for too long.
    """
    lines = LineSplitter()
    async for chunk in stream.chunks():
        for line in lines.feed(chunk):
            yield _event(kind, line)
    if rest := lines.rest().strip():
        yield _event(kind, rest)


def _event(kind: Kind[O], line: bytes) -> WatchEvent[O]:
    try:
        event = msgspec.json.decode(line, type=_Line)
        if event.type == "ERROR":
            status = msgspec.json.decode(event.object)
            raise error_from_status(status, http_code=status.get("code") or 500, request=f"watch {kind!r}")
    except (*UNREADABLE, AttributeError) as error:
        raise DecodeError(f"a line of the watch is no event: {why_unreadable(error)}: {shown_wire(line)}") from error
    if event.type not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
        raise DecodeError(f"an event of the watch has the unknown type {event.type!r}")
    return WatchEvent(cast(EventType, event.type), bytes(event.object), kind)
