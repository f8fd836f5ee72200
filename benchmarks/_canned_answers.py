"""Responses of the canned server: lists, streamed lists and events, as bytes of HTTP."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from typing import Any

from _canned_encodings import Encoding, encodings
from _canned_objects import Kind, objects
from _prepared_server import encoded

FIRST_VERSION = 1_000_000
GZIP_FROM = 128 * 1024  # bytes; kube-apiserver compresses no smaller answer
GZIP_CHUNK = 2048  # bytes; the size of the chunks in which kube-apiserver 1.36 sends compressed data
LAST_CHUNK = b"0\r\n\r\n"
INITIAL_END = {"k8s.io/initial-events-end": "true"}


def chunk(data: bytes) -> bytes:
    """Frame as an HTTP chunk."""
    return b"%x\r\n%s\r\n" % (len(data), data)


class Answers:
    """All responses for one kind in one encoding, each built on first use and kept.

    The objects have two states: initial, and after one change of each. Lists of either state can have a later version
    than their objects.
    """

    def __init__(self, encoding: Encoding, made: list[bytes]) -> None:
        self.encoding = encoding
        self.count = len(made)
        #: The version of the first list; each change increments it.
        self.base = FIRST_VERSION + self.count
        self._objects = [list(map(encoding.item, made))]
        self._versions = [int(data.split(b'"resourceVersion":"', 1)[1].split(b'"', 1)[0]) for data in made]
        self._made: dict[tuple[object, ...], bytes] = {}
        self._changes, self._ends = b"", list[int]()

    def prepare(self) -> None:
        """Build the responses that every reader requests first, so that no reader waits for them."""
        self.changes(0, 0)
        self.initial(0)
        self.initial(1)

    @property
    def watch_head(self) -> bytes:
        """Return the head of a watch response."""
        return head(self.encoding.watch_type)

    def page(self, state: int, version: int, start: int, limit: int | None, *, is_compressed: bool) -> bytes:
        """Return a part of the list as a complete response, or the whole list without a limit."""
        make = partial(self._page, state, version, start, limit, is_compressed=is_compressed)
        return self._once(("page", state, version, start, limit, is_compressed), make)

    def initial(self, state: int) -> bytes:
        """Return the start of a streamed list: every object, as chunks."""
        return self._once(("initial", state), partial(self._initial, state))

    def initial_end(self, version: int) -> bytes:
        """Return the bookmark that ends a streamed list, as a chunk."""
        return chunk(self.encoding.bookmark({"resourceVersion": str(version), "annotations": INITIAL_END}))

    def changes(self, start: int, end: int) -> memoryview:
        """Return one change of each given object, as chunks."""
        if not self._ends:
            chunks = [chunk(self.encoding.event("MODIFIED", item)) for item in self._state(1)]
            self._ends, self._changes = [0, *accumulate(map(len, chunks))], b"".join(chunks)
        return memoryview(self._changes)[self._ends[start] : self._ends[end]]

    def last_change(self, version: int) -> bytes:
        """Return one more change of the first object, as a chunk."""
        item = self.encoding.changed(self._objects[0][0], self._versions[0], version)
        return chunk(self.encoding.event("MODIFIED", item))

    def expired(self, version: int, oldest: int) -> bytes:
        """Return the response to a watch from an expired version, as chunks: an error event, as from kube-apiserver."""
        refusal = status(410, "Expired", f"too old resource version: {version} ({oldest})")
        return chunk(self.encoding.refusal(refusal)) + LAST_CHUNK

    def _state(self, state: int) -> list[bytes]:
        if state == len(self._objects):
            pairs = enumerate(zip(self._objects[0], self._versions, strict=True))
            change = self.encoding.changed
            self._objects.append([change(item, before, self.base + 1 + n) for n, (item, before) in pairs])
        return self._objects[state]

    def _once(self, key: tuple[object, ...], make: Callable[[], bytes]) -> bytes:
        if (found := self._made.get(key)) is None:
            found = self._made[key] = make()
        return found

    def _page(self, state: int, version: int, start: int, limit: int | None, *, is_compressed: bool) -> bytes:
        end = start + (limit or self.count)
        metadata: dict[str, Any] = {"resourceVersion": str(version)}
        if end < self.count:
            metadata |= {"continue": str(end), "remainingItemCount": self.count - end}
        body = self.encoding.listed(metadata, self._state(state)[start:end])
        if not is_compressed or len(body) < GZIP_FROM:
            return head(self.encoding.list_type) + chunk(body) + LAST_CHUNK
        packer = zlib.compressobj(1, wbits=31)  # level 1, as kube-apiserver does
        packed = packer.compress(body) + packer.flush()
        more = "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"
        return head(self.encoding.list_type, more) + b"".join(map(chunk, _pieces(packed, GZIP_CHUNK))) + LAST_CHUNK

    def _initial(self, state: int) -> bytes:
        return b"".join(chunk(self.encoding.event("ADDED", item)) for item in self._state(state))


class World:
    """All responses for one kind."""

    def __init__(self, kind: Kind, count: int, size: int) -> None:
        self.kind, self.count, self.base = kind, count, FIRST_VERSION + count
        made = objects(kind, count, size, FIRST_VERSION)
        #: The size of all objects in bytes of JSON.
        self.object_bytes = sum(map(len, made))
        self._by_type = {encoding.list_type: Answers(encoding, made) for encoding in encodings(kind)}
        for answers in self._by_type.values():
            answers.prepare()

    def answers(self, accepted: str) -> Answers:
        """Return the responses in the first accepted media type that the kind has, or in JSON."""
        for wanted in accepted.split(","):
            if found := self._by_type.get(wanted.split(";")[0].strip()):
                return found
        return self._by_type["application/json"]


def _pieces(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def head(content_type: str, more: str = "") -> bytes:
    """Return the head of a response without a length."""
    return f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n{more}Transfer-Encoding: chunked\r\n\r\n".encode()


HEAD = head("application/json")


def whole(document: object, status: str = "200 OK") -> bytes:
    """Return a short HTTP response with a length."""
    body = encoded(document)
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def status(code: int, reason: str, message: str) -> Mapping[str, Any]:
    """Return the Status document of a rejected request."""
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return {**head, "message": message, "reason": reason, "code": code}
