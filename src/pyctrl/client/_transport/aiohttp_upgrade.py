"""Upgraded connections of aiohttp: the bytes after a 101 response."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp

from pyctrl._headers import Headers
from pyctrl.errors import StreamBroken

__all__ = ["AiohttpUpgradedStream"]

LIMIT = 64 * 1024  # unread bytes at which the socket is no longer read


class AiohttpUpgradedStream:
    """`UpgradedStream` of a response with the status 101."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.status = response.status
        self.headers = Headers(response.headers.items())
        self._connection = response.connection
        self._data = bytearray()
        self._is_at_end = False
        self._readable = asyncio.Event()
        if self._connection is None or self._connection.protocol is None:
            self._is_at_end = True
        else:
            self._connection.protocol.set_parser(self, None)  # as aiohttp does for its own WebSockets

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Take received bytes; called by aiohttp's protocol."""
        self._data += data
        self._readable.set()
        if len(self._data) > LIMIT and self._transport is not None:
            self._transport.pause_reading()
        return False, b""

    def feed_eof(self) -> None:
        """End the stream; called by aiohttp's protocol."""
        self._is_at_end = True
        self._readable.set()

    @property
    def _transport(self) -> asyncio.Transport | None:
        return None if self._connection is None else self._connection.transport

    async def read(self) -> bytes:
        """Return the bytes up to the end of the connection."""
        return b"".join([chunk async for chunk in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        """Iterate over the received bytes."""
        while self._data or not self._is_at_end:
            while not self._data and not self._is_at_end:
                self._readable.clear()
                await self._readable.wait()
            if self._data:
                data = bytes(self._data)
                self._data.clear()
                if self._transport is not None and not self._transport.is_reading():
                    self._transport.resume_reading()
                yield data

    async def write(self, data: bytes) -> None:
        """Write bytes to the server."""
        transport = self._transport
        if transport is None or transport.is_closing():
            raise StreamBroken("the connection is closed")
        transport.write(data)
