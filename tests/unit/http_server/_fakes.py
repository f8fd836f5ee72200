"""A transport that records its calls, and connections on such transports."""

from __future__ import annotations

import asyncio
from typing import Any

from pyctrl._http_server import ServerLimits
from pyctrl._http_server.connection import Connection
from pyctrl._http_server.connection_pool import ConnectionPool


class FakeTransport(asyncio.Transport):
    """A socket's transport without a socket."""

    def __init__(self) -> None:
        super().__init__()
        self.protocol: asyncio.Protocol | None = None
        self.is_reading_now = True
        self.is_cut = False
        self.unsent = 0

    def abort(self) -> None:
        self.is_cut = True
        if self.protocol is not None:
            self.protocol.connection_lost(None)

    def is_closing(self) -> bool:
        return self.is_cut

    def pause_reading(self) -> None:
        self.is_reading_now = False

    def resume_reading(self) -> None:
        self.is_reading_now = True

    def get_write_buffer_size(self) -> int:
        return self.unsent


class Clients:
    """The clients of a server with these limits."""

    def __init__(self, **limits: Any) -> None:
        self.closed: list[Connection] = []
        self.pool = ConnectionPool("test", ServerLimits(**limits), on_closed=self.closed.append)

    def connect(self) -> tuple[Connection, FakeTransport]:
        """Open a connection."""
        transport, connection = FakeTransport(), Connection(self.pool, asyncio.Protocol())
        transport.protocol = connection
        connection.connection_made(transport)
        return connection, transport
