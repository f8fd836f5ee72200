"""What the canned server answers with: lists, streamed lists and events, as bytes of HTTP."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate

from _canned_objects import Kind, objects
from _prepared_server import encoded

PAGE = 500
FIRST_VERSION = 1_000_000
GZIP_FROM = 128 * 1024  # bytes; kube-apiserver compresses no smaller answer
GZIP_CHUNK = 2048  # bytes; the pieces in which kube-apiserver 1.36 sends what it compresses
LAST_CHUNK = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """Frame as an HTTP chunk."""
    return b"%x\r\n%s\r\n" % (len(data), data)


class Answers:
    """Every answer about one kind, each made when it is asked for first and kept.

    There are two states of the world: as it was made, and after every object has changed once.
    """

    def __init__(self, kind: Kind, count: int, size: int) -> None:
        self.kind = kind
        self.count = count
        #: The version of the first list; each change has the next one.
        self.base = FIRST_VERSION + count
        self._objects = [objects(kind, count, size, FIRST_VERSION)]
        self._made: dict[tuple[object, ...], bytes] = {}
        self._changes, self._ends = b"", list[int]()

    @property
    def object_bytes(self) -> int:
        """How many bytes all objects have."""
        return sum(map(len, self._objects[0]))

    def prepare(self, *, streams: bool) -> None:
        """Make what any reader asks for first, so that none waits for it."""
        self.changes(0, 0)
        if streams:
            self.stream(0)
            self.stream(1)

    def _state(self, state: int) -> list[bytes]:
        if state == len(self._objects):
            first = self._objects[0]
            self._objects.append([changed(data, self.base + 1 + n) for n, data in enumerate(first)])
        return self._objects[state]

    def page(self, state: int, start: int, limit: int | None, *, is_compressed: bool) -> bytes:
        """Return a part of the list, as a whole answer; all of it without a limit."""
        make = partial(self._page, state, start, limit, is_compressed=is_compressed)
        return self._once(("page", state, start, limit, is_compressed), make)

    def stream(self, state: int) -> bytes:
        """Return the streamed list with its bookmark, as chunks."""
        return self._once(("stream", state), partial(self._stream, state))

    def changes(self, start: int, end: int) -> memoryview:
        """Return one change of each of some objects, as chunks."""
        if not self._ends:
            chunks = [chunk(self._line(b"MODIFIED", data)) for data in self._state(1)]
            self._ends, self._changes = [0, *accumulate(map(len, chunks))], b"".join(chunks)
        return memoryview(self._changes)[self._ends[start] : self._ends[end]]

    def last_change(self, version: int) -> bytes:
        """Return one more change of the first object, as a chunk."""
        return chunk(self._line(b"MODIFIED", changed(self._objects[0][0], version)))

    def _once(self, key: tuple[object, ...], make: Callable[[], bytes]) -> bytes:
        if (found := self._made.get(key)) is None:
            found = self._made[key] = make()
        return found

    def _page(self, state: int, start: int, limit: int | None, *, is_compressed: bool) -> bytes:
        items, end = self._state(state), start + (limit or self.count)
        version = self.base + state * self.count
        more = b',"continue":"%d","remainingItemCount":%d' % (end, self.count - end) if end < self.count else b""
        names = (self.kind.kind.encode(), self.kind.api_version.encode())
        # custom resources say their kind each, built-in kinds do not
        listed = map(self._with_kind, items[start:end]) if self.kind.group else items[start:end]
        head = b'{"kind":"%sList","apiVersion":"%s","metadata":{"resourceVersion":"%d"%s},"items":[' % (
            *names, version, more,
        )  # fmt: skip
        return self._answer(head + b",".join(listed) + b"]}\n", is_compressed=is_compressed)

    def _stream(self, state: int) -> bytes:
        lines = (self._line(b"ADDED", data) for data in self._state(state))
        bookmark = self._bookmark(
            self.base + state * self.count, b',"annotations":{"k8s.io/initial-events-end":"true"}'
        )
        return b"".join((*map(chunk, lines), bookmark))

    def _with_kind(self, data: bytes) -> bytes:
        return b'{"apiVersion":"%s","kind":"%s",%s' % (
            self.kind.api_version.encode(),
            self.kind.kind.encode(),
            data[1:],
        )

    def _line(self, event: bytes, data: bytes) -> bytes:
        return b'{"type":"%s","object":%s}\n' % (event, self._with_kind(data))

    def _bookmark(self, version: int, more: bytes = b"") -> bytes:
        return chunk(self._line(b"BOOKMARK", b'{"metadata":{"resourceVersion":"%d"%s}}' % (version, more)))

    @staticmethod
    def _answer(body: bytes, *, is_compressed: bool) -> bytes:
        if not is_compressed or len(body) < GZIP_FROM:
            return HEAD + chunk(body) + LAST_CHUNK
        packer = zlib.compressobj(1, wbits=31)  # level 1, as kube-apiserver does
        packed = packer.compress(body) + packer.flush()
        return GZIP_HEAD + b"".join(map(chunk, _pieces(packed, GZIP_CHUNK))) + LAST_CHUNK


def changed(data: bytes, version: int) -> bytes:
    """Return the object with another version, and another status where it has one."""
    before, _, after = data.partition(b'"resourceVersion":"')
    after = after[after.index(b'"') :].replace(b'"readyReplicas":3', b'"readyReplicas":2', 1)
    return b'%s"resourceVersion":"%d%s' % (before, version, after)


def _pieces(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
GZIP_HEAD = HEAD[:-2] + b"Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n\r\n"


def whole(document: object, status: str = "200 OK") -> bytes:
    """Return a short HTTP answer with a length."""
    body = encoded(document)
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def status(code: int, reason: str, message: str) -> dict[str, object]:
    """Return the document with which the server refuses something."""
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return {**head, "message": message, "reason": reason, "code": code}
