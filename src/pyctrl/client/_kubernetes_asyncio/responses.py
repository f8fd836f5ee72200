"""Responses of a transport as code that uses kubernetes_asyncio reads them: with the names of aiohttp."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from types import TracebackType
from typing import Any, Self

import aiohttp
from multidict import CIMultiDict, CIMultiDictProxy

from pyctrl.client._transport.transport import Headers, HttpStream
from pyctrl.errors import ConnectionFailed, RequestTimeout, StreamBroken, TransportError

__all__ = [
    "CompleteResponse",
    "ResponseBroken",
    "ResponseContent",
    "ResponseTimeout",
    "ServerUnreachable",
    "StreamedResponse",
    "mapped_errors",
]


class ResponseTimeout(RequestTimeout, TimeoutError):
    """Raised on a timeout, also for code that catches ``asyncio.TimeoutError``."""


class ServerUnreachable(ConnectionFailed, aiohttp.ClientConnectionError):
    """Raised when nothing was sent, also for code that catches ``aiohttp.ClientError``."""


class ResponseBroken(StreamBroken, aiohttp.ClientPayloadError):
    """Raised when a response was interrupted, also for code that catches ``aiohttp.ClientError``."""


_THEIRS = ((RequestTimeout, ResponseTimeout), (ConnectionFailed, ServerUnreachable), (StreamBroken, ResponseBroken))


@contextmanager
def mapped_errors() -> Iterator[None]:
    """Convert errors of the transport to classes that are also those that the library raises."""
    try:
        yield
    except TransportError as error:
        for ours, theirs in _THEIRS:
            if isinstance(error, ours):
                raise theirs(*error.args) from error
        raise


class CompleteResponse:
    """Status, reason and headers of a response."""

    def __init__(self, status: int, reason: str, headers: Headers) -> None:
        self.status = status
        self.reason = reason
        self.headers = CIMultiDictProxy(CIMultiDict(headers.pairs))


class ResponseContent:
    """The body of a streamed response, with the methods of ``aiohttp.StreamReader``. A line may have any length."""

    def __init__(self, stream: HttpStream, on_end: Callable[[], None]) -> None:
        self._chunks = stream.chunks()
        self._on_end = on_end
        self._buffer = bytearray()
        self._is_at_end = False

    def at_eof(self) -> bool:
        """Return whether everything has been read."""
        return self._is_at_end and not self._buffer

    async def readany(self) -> bytes:
        """Return what has been received; b"" at the end."""
        if not self._buffer:
            await self._receive()
        return self._take(len(self._buffer))

    async def readline(self) -> bytes:
        """Return the next line with its end; b"" at the end."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if not await self._receive():
                return self._take(searched)
        return self._take(end + 1)

    async def read(self, n: int = -1) -> bytes:
        """Return at most ``n`` bytes; everything by default."""
        if n >= 0:
            if not self._buffer and n:
                await self._receive()
            return self._take(n)
        while await self._receive():
            pass
        return self._take(len(self._buffer))

    async def iter_any(self) -> AsyncIterator[bytes]:
        """Iterate over the body as it is received."""
        while chunk := await self.readany():
            yield chunk

    async def iter_chunked(self, n: int) -> AsyncIterator[bytes]:
        """Iterate over parts of at most ``n`` bytes."""
        while chunk := await self.read(n):
            yield chunk

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while line := await self.readline():
            yield line

    async def _receive(self) -> bool:
        """Wait for the next chunk. Return False at the end."""
        if self._is_at_end:
            return False
        with mapped_errors():
            chunk = await anext(self._chunks, None)
        if chunk is not None:
            self._buffer += chunk
            return True
        self._is_at_end = True
        self._on_end()
        return False

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken


class StreamedResponse(CompleteResponse):
    """A response whose body is read by its user, with the methods of ``aiohttp.ClientResponse`` that programs use.

    It is closed when its body has been read, by `release` or `close`, and with its ApiClient.

    Args:
        opened: the context of the stream, entered.
        stream: the stream.
        reason: the text of its status.
        streams: the open responses of the ApiClient.
    """

    def __init__(
        self,
        opened: AbstractAsyncContextManager[HttpStream],
        stream: HttpStream,
        reason: str,
        streams: set[StreamedResponse],
    ) -> None:
        super().__init__(stream.status, reason, stream.headers)
        self._opened = opened
        self._closing: asyncio.Task[None] | None = None
        self._streams = streams
        streams.add(self)
        self.content = ResponseContent(stream, self.close)

    @property
    def ok(self) -> bool:
        """Whether the server returned no error."""
        return self.status < 400

    @property
    def closed(self) -> bool:
        """Whether it is closed or being closed."""
        return self._closing is not None

    async def read(self) -> bytes:
        """Return the rest of the body."""
        return await self.content.read()

    async def text(self, encoding: str | None = None, errors: str = "strict") -> str:
        """Return the rest of the body as text."""
        return (await self.read()).decode(encoding or "utf-8", errors)

    async def json(self) -> Any:
        """Return the rest of the body, decoded as JSON."""
        return json.loads(await self.read())

    def close(self) -> None:
        """Close the connection, if the body has not been read completely. Does not wait."""
        if self._closing is None:  # a task, because aiohttp's method is not async
            self._closing = asyncio.get_running_loop().create_task(self._close())

    release = close

    async def aclose(self) -> None:
        """Close the response and wait until it is closed."""
        self.close()
        assert self._closing is not None
        await self._closing

    async def _close(self) -> None:
        try:
            await self._opened.__aexit__(None, None, None)
        finally:
            self._streams.discard(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
