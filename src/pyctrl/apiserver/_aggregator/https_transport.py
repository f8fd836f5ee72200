"""Transport to extension API servers over HTTPS, with the client certificate of the aggregator."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from pyctrl._go.tls_errors import handshake_error
from pyctrl.apiserver._aggregator.service_transport import ProxyRequest
from pyctrl.apiserver._authority import KeyPair
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._proxy.exchange import exchange
from pyctrl.apiserver._proxy.round_tripper import NoResponse, ServiceUnreachable

__all__ = ["HttpsTransport"]

PIECE = 64 * 1024  # bytes read at a time
IDLE_SECONDS = 90.0  # of a connection without a request; net/http's IdleConnTimeout
MAX_IDLE = 25  # connections to one server; client-go's MaxIdleConnsPerHost
_REPLAYABLE = frozenset(("GET", "HEAD", "OPTIONS"))


class _Target(NamedTuple):
    """What requests must have in common to share a connection."""

    host: str
    port: int
    name: str  # in the certificate of the server
    context: ssl.SSLContext


class HttpsTransport:
    """Sends proxied requests over the network. Inside of `keeping_connections` they share connections.

    Args:
        client: Returns the client certificate by which an extension API server recognizes the aggregator.
    """

    def __init__(self, client: Callable[[], KeyPair | None]) -> None:
        self._client = client
        self._idle: dict[_Target, list[_TLSConnection]] = {}
        self._keepers = 0  # blocks of `keeping_connections`

    @contextmanager
    def keeping_connections(self) -> Iterator[None]:
        """Keep connections after responses for further requests, and close them at the end of the block."""
        self._keepers += 1
        try:
            yield
        finally:
            self._keepers -= 1
            if not self._keepers:
                for connections in self._idle.values():
                    for each in connections:
                        each.abort()
                self._idle.clear()

    async def __call__(self, request: ProxyRequest, /) -> Response:
        """Send the request. A streaming response keeps the connection until its body is closed."""
        context = _tls_context(request.ca, request.skips_tls_verify, self._client())
        url = urlsplit(request.url)
        name = f"{request.service.name}.{request.service.namespace}.svc"
        target = _Target(url.hostname or "", url.port or 443, name, context)
        try:
            return await self._send(target, request)
        except OSError as error:
            raise ServiceUnreachable(_reason(error, target.host, target.port)) from None

    async def _send(self, target: _Target, request: ProxyRequest) -> Response:
        """Send a request on an idle connection, or on a new one.

        The server may close an idle connection at any time. As in net/http, a request that changes nothing is sent
        again then.
        """
        while not request.is_upgrade and (idle := self._take(target)) is not None:
            try:
                return await exchange(idle, request, self._keep(target, idle))
            except NoResponse:
                if request.method not in _REPLAYABLE or request.body:
                    raise
        streams = await asyncio.open_connection(
            target.host, target.port, ssl=target.context, server_hostname=target.name
        )
        connection = _TLSConnection(*streams)
        return await exchange(connection, request, self._keep(target, connection))

    def _take(self, target: _Target) -> _TLSConnection | None:
        """Return the idle connection that was used last and is open; drop closed ones."""
        connections = self._idle.get(target, [])
        while connections:
            connection = connections.pop()
            connection.stop_timer()
            if not connection.is_at_end:
                return connection
            connection.abort()
        return None

    def _keep(self, target: _Target, connection: _TLSConnection) -> Callable[[], None] | None:
        """Return the function that keeps a connection, None outside of `keeping_connections`."""
        if not self._keepers:
            return None

        def keep() -> None:
            connections = self._idle.setdefault(target, [])
            if not self._keepers or len(connections) >= MAX_IDLE:
                connection.abort()
                return
            connections.append(connection)
            connection.expire_after(IDLE_SECONDS, connections)

        return keep


class _TLSConnection:
    """A connection for one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._timer: asyncio.TimerHandle | None = None

    async def read(self) -> bytes:
        return await self._reader.read(PIECE)

    async def write(self, data: bytes) -> None:
        """Write bytes. Waits until most of what was written before is sent."""
        await self._writer.drain()
        self._writer.write(data)

    async def close(self) -> None:
        self._writer.close()

    @property
    def is_at_end(self) -> bool:
        """Whether the server has closed the connection."""
        return self._reader.at_eof() or self._reader.exception() is not None or self._writer.is_closing()

    def abort(self) -> None:
        """Close the connection at once."""
        self.stop_timer()
        self._writer.transport.abort()

    def expire_after(self, seconds: float, idle: list[_TLSConnection]) -> None:
        """Close the connection after a time, unless it is used, and remove it from the idle ones."""

        def expire() -> None:
            idle.remove(self)
            self.abort()

        self._timer = asyncio.get_running_loop().call_later(seconds, expire)

    def stop_timer(self) -> None:
        """Let the connection stay open."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


@lru_cache(maxsize=64)
def _tls_context(ca: bytes, skips_verify: bool, client: KeyPair | None) -> ssl.SSLContext:
    """Return a TLS context that trusts a CA bundle or, without one, the certificate authorities of the system."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if skips_verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    elif ca:
        context.load_verify_locations(cadata=ca.decode("ascii", "ignore"))
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as in Go, any certificate of the bundle is a root
    else:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    if client is not None:
        import tempfile  # here: it imports a lot, and most servers have no such certificate

        with tempfile.TemporaryDirectory(prefix="pyctrl-") as directory:  # OpenSSL reads keys only from files
            path = Path(directory, "client.pem")
            path.touch(mode=0o600)
            path.write_bytes(client.certificate + client.key)
            context.load_cert_chain(path)
    return context


_ADDRESS = re.compile(r"Connect call failed \('([^']+)'")  # asyncio's text
_MISMATCH = (62, 64)  # OpenSSL's verification results: of the host name, of the IP address
_EXPIRED = 10


def _reason(error: OSError, host: str, port: int) -> str:
    """Return the reason of a failed request in Go's words."""
    match error:
        case ssl.SSLCertVerificationError():
            why = "certificate signed by unknown authority"
            if error.verify_code == _EXPIRED:
                why = "certificate has expired or is not yet valid"
            elif error.verify_code in _MISMATCH:
                why = "certificate is not valid for the name of the service"
            return f"tls: failed to verify certificate: x509: {why}"
        case ssl.SSLError():
            return handshake_error(error)
        case socket.gaierror():
            return f"dial tcp: lookup {host}: no such host"
        case ConnectionResetError() | BrokenPipeError():
            return "EOF"
    address = _ADDRESS.search(str(error))
    why = os.strerror(error.errno).lower() if error.errno else str(error)
    return f"dial tcp {address[1] if address else host}:{port}: connect: {why}"
