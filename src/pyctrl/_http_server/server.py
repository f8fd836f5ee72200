"""HTTP/1.1 server for one handler function, with limits. Imports aiohttp."""

from __future__ import annotations

import asyncio
import logging
import socket
from asyncio.sslproto import SSLProtocol
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from ssl import SSLContext
from typing import Self

from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader
from aiohttp.web_protocol import RequestHandler
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response, StreamResponse
from aiohttp.web_server import Server

from pyctrl._http_server.connection import Connection
from pyctrl._http_server.connection_pool import DISCARD_SECONDS, ConnectionPool
from pyctrl._http_server.limits import ServerLimits
from pyctrl._http_server.listener import Listener

__all__ = ["Handler", "LimitedHttpServer", "TlsProtocol"]


log = logging.getLogger("pyctrl.server")

# aiohttp logs an error with a traceback for a request that is not HTTP; clients must not be able to fill the log
_of_clients = logging.getLogger("pyctrl.server.clients")
_of_clients.addFilter(lambda _: log.isEnabledFor(logging.DEBUG))

SHUTDOWN_SECONDS = 1.0  # for responses in progress, which take milliseconds
AT_ONCE_SECONDS = 0.01  # for the same after a cancellation; to aiohttp, 0 means no limit
BACKLOG = 128  # connections that wait to be accepted; aiohttp's default

Handler = Callable[[BaseRequest], Awaitable[StreamResponse]]


class LimitedHttpServer:
    """An HTTP server: its connections, and the function that handles their requests.

    The end of its block closes the connections: idle ones at once, those with a request in progress a second later.

    Args:
        name: the name of the server, for logs.
        answer: returns the response to a request.
        limits: the limits on clients.
        body_limit: the largest body in bytes; larger ones raise `aiohttp.web.HTTPRequestEntityTooLarge`.
        has_reserve: whether to hold spare file descriptors for this server.
    """

    def __init__(
        self, name: str, answer: Handler, *, limits: ServerLimits, body_limit: int = 0, has_reserve: bool = False
    ) -> None:
        self.pool = ConnectionPool(name, limits, on_closed=self._closed)
        self._answer, self._body_limit = answer, body_limit
        self._tls: Callable[[], SSLContext] | None = None
        self._connections: dict[asyncio.Protocol, Connection] = {}
        # request bodies are not decompressed: API servers do not compress them, and a small body may become very large
        self._server = Server(
            self._answered,
            request_factory=self._request,
            access_log=None,
            logger=_of_clients,
            keepalive_timeout=limits.idle_seconds,
            lingering_time=DISCARD_SECONDS,
            auto_decompress=False,
        )
        self._listener = Listener(
            name,
            self._connect,
            make_place=self.pool.make_place,
            free_descriptor=self.pool.close_idle,
            has_reserve=has_reserve,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await asyncio.sleep(0)  # so that a client that has just connected gets a response
            self._server.pre_shutdown()
            await self._server.shutdown(SHUTDOWN_SECONDS)
        except asyncio.CancelledError:
            await self._server.shutdown(AT_ONCE_SECONDS)
            raise
        finally:
            self.pool.close_handshakes()

    def listening(
        self, host: str | None, port: int, tls: Callable[[], SSLContext] | None = None
    ) -> AbstractAsyncContextManager[int]:
        """Accept connections in a block, and yield the port; the end of the block closes none of them.

        Args:
            host: the address to listen on; None: all addresses.
            port: the port; 0 for a free one.
            tls: returns the TLS context for new handshakes; None: HTTP.

        Raises:
            OSError: the address does not exist, or the port is in use.
        """
        self._tls = tls
        return self._listener.listening(host, port, backlog=BACKLOG)

    async def _connect(self, accepted: socket.socket) -> None:
        loop, seconds = asyncio.get_running_loop(), self.pool.limits.head_seconds
        parser = self._server()
        connection = self._connections[parser] = Connection(self.pool, parser)
        if self._tls is None:
            await loop.connect_accepted_socket(lambda: connection, accepted)
        elif isinstance(loop, asyncio.BaseEventLoop):
            tls = TlsProtocol(connection, self._tls(), handshake_seconds=seconds)
            await loop.connect_accepted_socket(lambda: tls, accepted)
        else:  # uvloop and others have their own TLS; with them, a handshake does not count as a connection
            context = self._tls()
            await loop.connect_accepted_socket(lambda: connection, accepted, ssl=context, ssl_handshake_timeout=seconds)

    def _closed(self, connection: Connection) -> None:
        self._connections.pop(connection.parser, None)
        asyncio.get_running_loop().call_soon(self._listener.released)  # the transport closes its socket after this

    def _request(
        self,
        message: RawRequestMessage,
        payload: StreamReader,
        protocol: RequestHandler,
        writer: AbstractStreamWriter,
        task: asyncio.Task[None],
    ) -> BaseRequest:
        loop = asyncio.get_running_loop()
        return BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=self._body_limit)

    async def _answered(self, request: BaseRequest) -> StreamResponse:
        connection = self._connections.get(request.protocol)
        if connection is None:
            return await self._answer(request)  # the client has disconnected already
        connection.began(request.content.feed_eof)
        request.content.on_eof(connection.has_body)
        try:
            return await self._answer(request)
        except ConnectionError as error:
            # The stream of the body keeps the error, and its frames would keep the body until garbage collection.
            error.__traceback__ = None
            return Response(status=400)  # never received: the client has disconnected
        except Exception:
            log.exception("Failed to answer a request", extra={"server": self.pool.name, "path": request.path})
            return Response(status=500, text="Internal Server Error\n")
        finally:
            connection.answered()


TLS_SHUTDOWN_SECONDS = 2.0  # for a client's close_notify


class TlsProtocol(SSLProtocol):
    """TLS between a socket and a connection; the handshake counts towards the time limit of the first head.

    asyncio allocates a read buffer of 256 KiB for each TLS connection: nine tenths of the memory of an idle connection.
    A TLS record has 16 KiB at most. The loop has no option for the size, but ``max_size`` of
    `asyncio.sslproto.SSLProtocol` is a plain attribute. Should a future Python remove it, only memory is lost.
    """

    max_size = 32 * 1024

    def __init__(self, connection: Connection, context: SSLContext, *, handshake_seconds: float) -> None:
        super().__init__(
            asyncio.get_running_loop(),
            connection,
            context,
            None,  # type: ignore[arg-type]  # no waiter: typeshed does not allow None
            server_side=True,
            ssl_handshake_timeout=handshake_seconds,  # type: ignore[arg-type]  # typeshed: int
            ssl_shutdown_timeout=TLS_SHUTDOWN_SECONDS,
        )
        self._connection = connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the connection and begin the handshake."""
        assert isinstance(transport, asyncio.Transport)
        self._connection.opened(transport)
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Release the connection; if the handshake failed, its parser was never connected."""
        self._connection.closed()
        super().connection_lost(exc)
