"""asyncio's streams over pipes in this process, and copies between streams."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from pyctrl._pipes import Pipe
from pyctrl._tasks import unwrapped

__all__ = ["copy_streams", "open_pipe_streams"]

LIMIT = 64 * 1024  # unsent bytes at which a writer waits, and bytes of a read
ADDRESS = ("127.0.0.1", 0)


def open_pipe_streams(
    received: Pipe, sent: Pipe
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, Coroutine[Any, Any, None]]:
    """Return the streams of one end of a connection over two pipes.

    The third value must run while they are used; it ends when the writer is closed.

    Args:
        received: The bytes for the reader.
        sent: Takes the bytes of the writer, and is closed with it.
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LIMIT, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport = _PipeTransport(sent, protocol)
    protocol.connection_made(transport)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop), _run(received, reader, transport)


async def copy_streams(
    one_reader: asyncio.StreamReader,
    one_writer: asyncio.StreamWriter,
    other_reader: asyncio.StreamReader,
    other_writer: asyncio.StreamWriter,
) -> None:
    """Connect two connections: copy in both directions, with the ends of both sides, then close both."""
    try:
        with unwrapped():
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_copy(one_reader, other_writer))
                tasks.create_task(_copy(other_reader, one_writer))
    finally:
        one_writer.close()
        other_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(LIMIT):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof() and not writer.is_closing():
        writer.write_eof()


async def _run(received: Pipe, reader: asyncio.StreamReader, transport: _PipeTransport) -> None:
    try:
        with unwrapped():
            async with asyncio.TaskGroup() as tasks:
                feeding = tasks.create_task(_feed(received, reader, transport))
                await transport.run()
                feeding.cancel()
    finally:
        transport.close()


async def _feed(received: Pipe, reader: asyncio.StreamReader, transport: _PipeTransport) -> None:
    while data := await received.read():
        await transport.readable.wait()
        reader.feed_data(data)
    if reader.exception() is None:
        reader.feed_eof()


class _PipeTransport(asyncio.Transport):
    """The transport of a `StreamWriter` that writes to a pipe. `run` sends what is written."""

    def __init__(self, sent: Pipe, protocol: asyncio.StreamReaderProtocol) -> None:
        super().__init__({"peername": ADDRESS, "sockname": ADDRESS})
        self._sent, self._protocol = sent, protocol
        self._buffer = bytearray()
        self._is_closing = self._is_at_end = self._is_paused = False
        self._changed = asyncio.Event()
        #: Set while the reader wants more data.
        self.readable = asyncio.Event()
        self.readable.set()

    async def run(self) -> None:
        """Send what is written, until the transport is closed."""
        while True:
            while self._buffer:
                data = bytes(self._buffer)
                self._buffer.clear()
                try:
                    await self._sent.write(data)
                except BrokenPipeError as error:
                    self._lose(error)
                    return
            self._resume()
            if self._is_at_end:
                self._sent.close()
            if self._is_closing:
                self._lose(None)
                return
            self._changed.clear()
            await self._changed.wait()

    def _lose(self, error: Exception | None) -> None:
        self._is_closing = True
        self._sent.close()
        self._protocol.connection_lost(error)

    def _resume(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self._protocol.resume_writing()

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Buffer bytes; the writer waits while there are many."""
        if self._is_closing or self._is_at_end:
            return
        self._buffer += data
        self._changed.set()
        if len(self._buffer) > LIMIT and not self._is_paused:
            self._is_paused = True
            self._protocol.pause_writing()

    def can_write_eof(self) -> bool:
        """Return True: the other side reads the end and may send more."""
        return True

    def write_eof(self) -> None:
        """End what is sent; the other side may still send."""
        self._is_at_end = True
        self._changed.set()

    def close(self) -> None:
        """Close after the buffer is sent."""
        self._is_closing = True
        self._changed.set()

    def abort(self) -> None:
        """Close and drop the buffer."""
        self._buffer.clear()
        self.close()

    def is_closing(self) -> bool:
        """Return whether the transport is closed or will be."""
        return self._is_closing

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return the protocol of the streams."""
        return self._protocol

    def pause_reading(self) -> None:
        """Stop feeding the reader."""
        self.readable.clear()

    def resume_reading(self) -> None:
        """Feed the reader again."""
        self.readable.set()

    def is_reading(self) -> bool:
        """Return whether the reader is fed."""
        return self.readable.is_set()
