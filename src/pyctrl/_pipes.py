"""Pipes: byte streams between two tasks, with the flow control of an operating system's pipe."""

from __future__ import annotations

import asyncio
from typing import Protocol

__all__ = ["ByteConnection", "Pipe", "PipeConnection"]

LIMIT = 64 * 1024  # unread bytes at which a writer waits; Linux' default


class Pipe:
    """A byte stream in one direction. Writers wait while ``limit`` bytes are unread."""

    def __init__(self, *, limit: int = LIMIT) -> None:
        self._limit = limit
        self._data = bytearray()
        self._is_closed = False
        self._is_broken = False
        self._readable, self._writable = asyncio.Event(), asyncio.Event()

    async def read(self) -> bytes:
        """Return the unread bytes, at least one; b"" when all were read and the pipe is closed."""
        while not self._data and not self._is_closed:
            self._readable.clear()
            await self._readable.wait()
        data = bytes(self._data)
        self._data.clear()
        self._writable.set()
        return data

    async def read_all(self) -> bytes:
        """Return all bytes until the pipe is closed."""
        parts = []
        while part := await self.read():
            parts.append(part)
        return b"".join(parts)

    async def write(self, data: bytes) -> None:
        """Write bytes.

        Raises:
            BrokenPipeError: The pipe is closed.
        """
        while len(self._data) >= self._limit and not self._is_closed:
            self._writable.clear()
            await self._writable.wait()
        if self._is_closed:
            raise BrokenPipeError("the pipe is closed")
        if not self._is_broken:
            self._data += data
            self._readable.set()

    @property
    def is_closed(self) -> bool:
        """Whether the stream has ended; its last bytes may be unread."""
        return self._is_closed

    def close(self) -> None:
        """End the stream: its reader reads the rest, and writers raise."""
        self._is_closed = True
        self._readable.set()
        self._writable.set()

    def discard(self) -> None:
        """Drop unread bytes and those that are written from now on, because there is no reader."""
        self._is_broken = True
        self._data.clear()
        self._writable.set()


class ByteConnection(Protocol):
    """A connection that carries bytes in both directions. One task may read while another one writes."""

    async def read(self) -> bytes:
        """Return received bytes, at least one; b"" at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Write bytes."""
        ...


class PipeConnection:
    """One end of a connection in this process: it reads from one pipe and writes to another."""

    def __init__(self, received: Pipe, sent: Pipe) -> None:
        self._received, self._sent = received, sent

    @classmethod
    def pair(cls) -> tuple[PipeConnection, PipeConnection]:
        """Return the two ends of a new connection."""
        one, other = Pipe(), Pipe()
        return cls(one, other), cls(other, one)

    async def read(self) -> bytes:
        """Return the received bytes, at least one; b"" after the other end has closed."""
        return await self._received.read()

    async def write(self, data: bytes) -> None:
        """Write bytes. Waits while the other end has many unread ones.

        Raises:
            BrokenPipeError: One of the ends has closed.
        """
        await self._sent.write(data)

    def close(self) -> None:
        """Close both directions: the other end reads the rest, then the end."""
        self._sent.close()
        self._received.close()
