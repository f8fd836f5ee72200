"""A connection without a socket."""

from __future__ import annotations

import asyncio

from pyctrl.apiserver import ApiServer
from pyctrl.apiserver._http.server import _HTTPServer

PATIENCE = 100.0  # seconds in which a connection ends; a server that waits for a body takes 60


class Wire(asyncio.Transport):
    """The transport of one connection, which records what is written to it."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.written = bytearray()
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Record the bytes."""
        self.written += data

    def can_write_eof(self) -> bool:
        """Report whether one direction can be closed."""
        return False

    def pause_reading(self) -> None:
        """Ignore backpressure."""

    def resume_reading(self) -> None:
        """Ignore backpressure."""

    def get_write_buffer_size(self) -> int:
        """Return 0: writes are immediate."""
        return 0

    def close(self) -> None:
        """Record that the server has closed the connection."""
        self.is_closed = True

    abort = close


async def exchange(server: ApiServer, request: bytes) -> bytes:
    """Send bytes and then the end of the stream; return everything that comes back until the connection ends."""
    wire = Wire()
    connection = _HTTPServer(server, None, None, prefix="").connection()
    connection.connection_made(wire)
    connection.data_received(request)
    connection.eof_received()
    ended, _ = await asyncio.wait([connection.task], timeout=PATIENCE)
    assert ended, request
    connection.connection_lost(None)
    return bytes(wire.written)
