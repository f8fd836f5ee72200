"""Response streams with a fault at a given line."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable

from pyctrl.client import Headers, HttpRequest, HttpStream, LineSplitter
from pyctrl.errors import RequestTimeout, StreamBroken

__all__ = ["FaultyStream", "LineReader", "Spoil", "WholeBody", "forever_silent"]


class LineReader:
    """Line reader of a stream. It is no generator, so nothing has to be closed when its caller stops early."""

    def __init__(self, stream: HttpStream) -> None:
        self._chunks = stream.chunks()
        self._lines: deque[bytes] = deque()
        self._splitter = LineSplitter()

    async def take(self) -> bytes | None:
        """Return the next line with its end, or None after the last one."""
        while not self._lines:
            try:
                chunk = await anext(self._chunks)
            except StopAsyncIteration:
                return self._splitter.rest() or None
            self._lines.extend(line + b"\n" for line in self._splitter.feed(chunk))
        return self._lines.popleft()


Spoil = Callable[[LineReader], AsyncGenerator[bytes, None]]


class FaultyStream:
    """`HttpStream` of the lines that ``spoil`` yields from another stream, one line per chunk."""

    def __init__(self, inner: HttpStream, spoil: Spoil) -> None:
        self.status = inner.status
        self.headers = inner.headers
        self._lines = spoil(LineReader(inner))

    async def read(self) -> bytes:
        """Return the rest of the body."""
        return b"".join([line async for line in self._lines])

    def chunks(self) -> AsyncIterator[bytes]:
        """Iterate over the lines."""
        return self._lines

    async def aclose(self) -> None:
        """Close the generator of lines."""
        await self._lines.aclose()


class WholeBody:
    """`HttpStream` with a fixed body."""

    def __init__(self, status: int, headers: Headers, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self._body = body

    async def read(self) -> bytes:
        """Return the body."""
        return self._body

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body in one piece."""
        yield self._body


def broken_after(count: int, request: HttpRequest) -> Spoil:
    """Break in the middle of the line after ``count`` lines."""

    async def spoil(reader: LineReader) -> AsyncGenerator[bytes, None]:
        for _ in range(count):
            if (line := await reader.take()) is not None:
                yield line
        half = await reader.take() or b""
        yield half[: len(half) // 2]
        raise StreamBroken(f"scripted: the answer to {request} broke off after {count} lines")

    return spoil


def ended_after(count: int) -> Spoil:
    """End the stream cleanly after ``count`` lines."""

    async def spoil(reader: LineReader) -> AsyncGenerator[bytes, None]:
        for _ in range(count):
            if (line := await reader.take()) is not None:
                yield line

    return spoil


def silent_after(count: int, request: HttpRequest, idle_timeout: float | None) -> Spoil:
    """Yield ``count`` lines, then nothing until the reader's idle timeout, or for ever without one."""

    async def spoil(reader: LineReader) -> AsyncGenerator[bytes, None]:
        for _ in range(count):
            if (line := await reader.take()) is not None:
                yield line
        await forever_silent(request, idle_timeout)

    return spoil


def with_line(extra: bytes, count: int) -> Spoil:
    """Insert a line right after ``count`` lines."""

    async def spoil(reader: LineReader) -> AsyncGenerator[bytes, None]:
        for _ in range(count):
            if (line := await reader.take()) is not None:
                yield line
        yield extra + b"\n"
        while (line := await reader.take()) is not None:
            yield line

    return spoil


async def repeated(reader: LineReader) -> AsyncGenerator[bytes, None]:
    """Yield every line twice."""
    while (line := await reader.take()) is not None:
        yield line
        yield line


def delayed(seconds: float, request: HttpRequest, idle_timeout: float | None) -> Spoil:
    """Delay every line by ``seconds``; a delay of the reader's idle timeout or more makes the stream silent."""

    async def spoil(reader: LineReader) -> AsyncGenerator[bytes, None]:
        while (line := await reader.take()) is not None:
            if idle_timeout is not None and seconds >= idle_timeout:
                await forever_silent(request, idle_timeout)
            await asyncio.sleep(seconds)
            yield line

    return spoil


async def forever_silent(request: HttpRequest, timeout: float | None) -> None:
    """Wait ``timeout`` seconds, or for ever if it is None, then raise `RequestTimeout`."""
    try:
        async with asyncio.timeout(timeout):
            await asyncio.get_running_loop().create_future()
    except TimeoutError as error:
        raise RequestTimeout(f"scripted: no answer to {request} within {timeout} s") from error
