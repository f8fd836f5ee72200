"""TLS for accepted sockets, with less memory for each connection than the event loop takes."""

from __future__ import annotations

import asyncio
from asyncio.sslproto import SSLProtocol
from ssl import SSLContext

from pyctrl._serving._connection import Connection

__all__ = ["TlsProtocol"]

GOODBYE_SECONDS = 2.0  # for a client to answer the end of TLS


class TlsProtocol(SSLProtocol):
    """TLS between a socket and a connection; the handshake belongs to the time of the connection's first head.

    asyncio gives each TLS connection a read buffer of 256 KiB, which it fills with zeros and keeps: nine tenths of what
    an idle connection takes. A record has 16 KiB at most. The loop has no option for that, but ``max_size`` of
    `asyncio.sslproto.SSLProtocol` is a plain attribute, and where it should go one day, only memory is lost.
    """

    max_size = 32 * 1024

    def __init__(self, connection: Connection, context: SSLContext, *, handshake_seconds: float) -> None:
        super().__init__(
            asyncio.get_running_loop(),
            connection,
            context,
            None,  # type: ignore[arg-type]  # no one waits for the handshake, which typeshed does not expect
            server_side=True,
            ssl_handshake_timeout=handshake_seconds,  # type: ignore[arg-type]  # typeshed: int
            ssl_shutdown_timeout=GOODBYE_SECONDS,
        )
        self._connection = connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection from now on, and begin the handshake."""
        assert isinstance(transport, asyncio.Transport)
        self._connection.opened(transport)
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Give back what the connection held; without a handshake its parser never saw it."""
        self._connection.closed()
        super().connection_lost(exc)
