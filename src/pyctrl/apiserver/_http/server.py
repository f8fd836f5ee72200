"""The HTTP front: connections carry requests to `ApiServer.handle` and its answers, streams too, back."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

import msgspec

from pyctrl._headers import Headers
from pyctrl._http_server import Listener
from pyctrl._tasks import Deadline, end
from pyctrl.apiserver._authn import Peer
from pyctrl.apiserver._errors import Response, StatusError
from pyctrl.apiserver._http.connection import HTTPConnection
from pyctrl.apiserver._http.cross_origin import CrossOriginProtection
from pyctrl.apiserver._http.head import RequestHead
from pyctrl.apiserver._http.response import OWN_HEADERS
from pyctrl.apiserver._meta.system_fields import new_uid

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User
    from pyctrl.apiserver._server import ApiServer

CLOSE_PATIENCE = timedelta(seconds=1)  # for requests that are being answered when serving ends
HANDSHAKE_SECONDS = 32.0  # kube-apiserver closes a connection that says nothing after as long
GOODBYE_SECONDS = 2.0  # for a client to answer the end of TLS
BACKLOG = 1024  # connections that wait to be accepted

_PEOPLE = ("curl", "Wget", "Mozilla/5.0")  # whose answers kube-apiserver cuts into lines


@asynccontextmanager
async def serve(
    server: ApiServer,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
    *,
    user: User | None = None,
    allowed_hosts: Collection[str] = (),
) -> AsyncIterator[str]:
    """Serve HTTP/1.1 (HTTPS with `tls`) until the block ends, and give the URL; port 0 takes any that is free.

    A client certificate that ``tls`` asks for and verifies identifies its user. Streams are cut off when the block
    ends; requests that are being answered have a second. With ``user`` whoever shows neither token nor certificate is
    that user: kubectl sends no token over HTTP, and on a machine of one's own it need not.

    Without ``tls`` requests of web pages are refused (403): a page that is open in a browser on this machine could send
    them otherwise. Their ``Host`` must be an address, `localhost`, the ``host`` or one of the ``allowed_hosts``, and an
    ``Origin`` the same as it.

    Raises:
        OSError: there is no such address, or the port is taken.
    """
    front = _HTTPServer(server, user, CrossOriginProtection((host, *allowed_hosts)) if tls is None else None)

    async def connect(accepted: socket.socket) -> None:
        await asyncio.get_running_loop().connect_accepted_socket(
            front.connection,
            accepted,
            ssl=tls,
            ssl_handshake_timeout=HANDSHAKE_SECONDS if tls else None,
            ssl_shutdown_timeout=GOODBYE_SECONDS if tls else None,
        )

    try:
        async with Listener("API server", connect).listening(host, port, backlog=BACKLOG) as bound:
            yield f"{'https' if tls else 'http'}://{_reachable(host)}:{bound}"
    finally:
        await front.end()


def _reachable(host: str) -> str:
    """Give the address to call a server at that listens at all of them."""
    if host in ("", "0.0.0.0"):
        return "127.0.0.1"
    return f"[{'::1' if host == '::' else host}]" if ":" in host else host


class _HTTPServer:
    """The connections of one listener, and what HTTP adds to the server's answers."""

    def __init__(self, server: ApiServer, user: User | None, web_pages: CrossOriginProtection | None = None) -> None:
        self._server = server
        self._user = user
        self._web_pages = web_pages  # None: it serves TLS
        self._random = Random()
        self._connections: set[HTTPConnection] = set()

    def connection(self) -> HTTPConnection:
        """Make the protocol of a new connection."""
        return HTTPConnection(self._answer, self._connections)

    async def end(self) -> None:
        """End all connections, and wait until their sockets are closed."""
        await asyncio.sleep(0)  # those that were accepted a moment ago are made now
        tasks = [connection.task for connection in self._connections]
        for connection in list(self._connections):
            connection.stop()
        deadline = Deadline(CLOSE_PATIENCE)
        await deadline.wait(tasks)
        deadline.close()
        await end(tasks)
        left = list(self._connections)
        for connection in left:
            connection.abort()
        for connection in left:
            await connection.gone.wait()

    async def _answer(self, head: RequestHead, body: bytes, peer: Peer) -> Response:
        if self._web_pages is not None:
            try:
                self._web_pages.check(head)
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
        answer = await self._server.handle(head.method, head.path, head.parameters(), headers, body, peer=peer)
        laid_out = _laid_out(answer.body, head) if isinstance(answer.body, bytes) else answer.body
        return replace(answer, headers=_completed(answer.headers, audit_id), body=laid_out)


def _completed(headers: Sequence[tuple[str, str]], audit_id: str) -> list[tuple[str, str]]:
    """Add the headers that every answer of kube-apiserver has."""
    completed = [("Audit-Id", audit_id), *OWN_HEADERS, *headers]
    if ("Content-Type", "text/plain; charset=utf-8") in headers:
        completed.append(("X-Content-Type-Options", "nosniff"))
    return completed


def _laid_out(body: bytes, head: RequestHead) -> bytes:
    """Lay an object out as kube-apiserver does: in lines for people, else in one with a line feed behind it."""
    if not body.startswith(b'{"kind":'):
        return body
    return msgspec.json.format(body, indent=2) if _is_for_people(head) else body + b"\n"


def _is_for_people(head: RequestHead) -> bool:
    if "pretty=" in head.query:
        return any(name == "pretty" and value.lower() in ("1", "t", "true") for name, value in head.parameters())
    return head.headers.get("user-agent", "").startswith(_PEOPLE)
