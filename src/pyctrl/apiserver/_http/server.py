"""HTTP server: passes requests to `ApiServer.handle` and writes its responses and streams."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from pyctrl._headers import Headers
from pyctrl._http_server import Listener
from pyctrl._tasks import Deadline, end
from pyctrl.apiserver._authn import Peer
from pyctrl.apiserver._bootstrap.identity_lease import renewed_identity
from pyctrl.apiserver._errors import Response, StatusError
from pyctrl.apiserver._http.connection import HTTPConnection
from pyctrl.apiserver._http.cross_origin import CrossOriginProtection
from pyctrl.apiserver._http.head import RequestHead
from pyctrl.apiserver._http.response import OWN_HEADERS
from pyctrl.apiserver._meta.system_fields import new_uid

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User
    from pyctrl.apiserver._server import ApiServer

__all__ = ["serve", "serve_kubelet"]

TLS: TypeAlias = ssl.SSLContext | Callable[[], ssl.SSLContext]

CLOSE_TIMEOUT = timedelta(seconds=1)  # for requests that are in progress when serving ends
HANDSHAKE_SECONDS = 32.0  # after which kube-apiserver closes a silent connection
SHUTDOWN_SECONDS = 2.0  # for a client to reply to the TLS shutdown
BACKLOG = 1024  # connections waiting to be accepted

_INTERACTIVE = ("curl", "Wget", "Mozilla/5.0")  # user agents for which kube-apiserver indents responses


@asynccontextmanager
async def serve(
    server: ApiServer,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: TLS | None = None,
    *,
    user: User | None = None,
    allowed_hosts: Collection[str] = (),
) -> AsyncIterator[str]:
    """Serve HTTP/1.1 (HTTPS with `tls`) until the block ends, and yield the URL. Port 0 is any free port.

    ``tls`` may be a function that returns the context of the next connection, for certificates that change.

    A client certificate that ``tls`` requests and verifies authenticates its user. When the block ends, streams end at
    once and requests in progress have one second. With ``user``, a client without token and certificate is that user:
    kubectl sends no token over HTTP.

    Without ``tls``, requests of web pages are refused (403), because any page that is open in a browser on this machine
    can send them. The ``Host`` header must be an IP address, `localhost`, the ``host`` or one of the ``allowed_hosts``.
    An ``Origin`` must be the same host.

    Raises:
        OSError: The address does not exist, or the port is in use.
    """
    async with server.running(), _listening(server, host, port, tls, user, allowed_hosts) as url:
        with renewed_identity(server.storage):
            yield url


@asynccontextmanager
async def serve_kubelet(
    server: ApiServer, node: str, host: str = "127.0.0.1", port: int = 10250, tls: TLS | None = None
) -> AsyncIterator[str]:
    """Serve the API of the kubelet of a simulated node until the block ends, and yield the URL.

    The API server authenticates the users, who need the permission for ``nodes/proxy``.

    Raises:
        OSError: The address does not exist, or the port is in use.
    """
    async with _listening(server, host, port, tls, prefix=f"/api/v1/nodes/{node}/proxy") as url:
        yield url


@asynccontextmanager
async def _listening(
    server: ApiServer,
    host: str,
    port: int,
    tls: TLS | None,
    user: User | None = None,
    allowed_hosts: Collection[str] = (),
    *,
    prefix: str = "",
) -> AsyncIterator[str]:
    protection = CrossOriginProtection((host, *allowed_hosts)) if tls is None else None
    http = _HTTPServer(server, user, protection, prefix=prefix)

    async def connect(accepted: socket.socket) -> None:
        await asyncio.get_running_loop().connect_accepted_socket(
            http.connection,
            accepted,
            ssl=tls() if callable(tls) else tls,
            ssl_handshake_timeout=HANDSHAKE_SECONDS if tls else None,
            ssl_shutdown_timeout=SHUTDOWN_SECONDS if tls else None,
        )

    try:
        async with Listener("API server", connect).listening(host, port, backlog=BACKLOG) as bound:
            yield f"{'https' if tls else 'http'}://{_reachable(host)}:{bound}"
    finally:
        await http.end()


def _reachable(host: str) -> str:
    """Return the address under which a client reaches a server; loopback if the server listens on all addresses."""
    if host in ("", "0.0.0.0"):
        return "127.0.0.1"
    return f"[{'::1' if host == '::' else host}]" if ":" in host else host


class _HTTPServer:
    """The connections of one listener, and the headers and layout that HTTP adds to responses."""

    def __init__(
        self, server: ApiServer, user: User | None, protection: CrossOriginProtection | None, *, prefix: str
    ) -> None:
        self._server = server
        self._prefix = prefix  # of the paths of all requests
        self._user = user
        self._protection = protection  # None with TLS
        self._random = Random()
        self._connections: set[HTTPConnection] = set()

    def connection(self) -> HTTPConnection:
        """Return the protocol of a new connection."""
        return HTTPConnection(self._handle, self._connections)

    async def end(self) -> None:
        """End all connections and wait until their sockets are closed."""
        await asyncio.sleep(0)  # connections that were just accepted are added now
        tasks = [connection.task for connection in self._connections]
        for connection in list(self._connections):
            connection.stop()
        deadline = Deadline(CLOSE_TIMEOUT)
        await deadline.wait(tasks)
        deadline.close()
        await end(tasks)
        remaining = list(self._connections)
        for connection in remaining:
            connection.abort()
        for connection in remaining:
            await connection.gone.wait()

    async def _handle(self, head: RequestHead, body: bytes, peer: Peer) -> Response:
        if self._protection is not None:
            try:
                self._protection.check(head)
            except StatusError as refusal:
                return refusal.response(OWN_HEADERS)
        if head.path == "*":
            return Response(status=200, headers=())
        headers = head.headers
        if (audit_id := headers.get("audit-id")) is None:
            audit_id = new_uid(self._random)
            headers = Headers((*headers.pairs, ("Audit-Id", audit_id)))
        if self._user is not None and peer.user is None and "authorization" not in headers:
            peer = peer._replace(user=self._user)
        path = self._prefix + head.path
        response = await self._server.handle(head.method, path, head.parameters(), headers, body, peer=peer)
        formatted = response.body
        if isinstance(formatted, bytes) and not response.is_verbatim:
            formatted = _format(formatted, head)
        return replace(response, headers=_with_own_headers(response, audit_id), body=formatted)


def _with_own_headers(response: Response, audit_id: str) -> list[tuple[str, str]]:
    """Return the headers with those of every response of kube-apiserver.

    Those of another server are added to its own, as kube-apiserver's proxy does.
    """
    headers = response.headers
    is_cached = not response.is_verbatim and any(name == "Cache-Control" for name, _ in headers)
    completed = [("Audit-Id", audit_id), *(() if is_cached else OWN_HEADERS), *headers]
    if ("Content-Type", "text/plain; charset=utf-8") in headers and not response.is_verbatim:
        completed.append(("X-Content-Type-Options", "nosniff"))
    return completed


def _format(body: bytes, head: RequestHead) -> bytes:
    """Format an object as kube-apiserver does: indented for interactive clients, otherwise one line."""
    if not body.startswith(b'{"kind":'):
        return body
    return msgspec.json.format(body, indent=2) if _is_interactive(head) else body + b"\n"


def _is_interactive(head: RequestHead) -> bool:
    if "pretty=" in head.query:
        return any(name == "pretty" and value.lower() in ("1", "t", "true") for name, value in head.parameters())
    return head.headers.get("user-agent", "").startswith(_INTERACTIVE)
