"""The last check of the write gates: where the bytes of a request go to the kernel.

`RESTClient` checks the gates before each attempt. Since then a login, a full pool or a slow handshake may have
outlasted the lease. A 401 and a stale connection, after which aiohttp repeats PUT and DELETE, lead to further
attempts. A process may be suspended at any time, so the last check comes as late as possible.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.connector import Connection

from pyctrl.client._transport.leader_gate import check_gates, write_gates
from pyctrl.client._transport.transport import HttpRequest
from pyctrl.errors import NotLeading

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["GatedRequest", "NotSent", "gated_socket"]

#: The gated request that this task sends. aiohttp writes a body in a task of its own, which inherits it.
_sending: ContextVar[HttpRequest | None] = ContextVar("pyctrl gated request", default=None)


class GatedRequest(aiohttp.ClientRequest):
    """Request that must pass the gates of its task when it has a connection, and when it is written."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        if not write_gates.get():
            return await super().send(conn)
        request = HttpRequest(method=self.method, path=self.url.path)
        check_gates(request)
        token = _sending.set(request)
        try:
            return await super().send(conn)
        finally:
            _sending.reset(token)


class NotSent(ConnectionAbortedError):
    """Ends the connection of a request that a gate did not let pass. Its cause is the NotLeading error."""


class _GatedSocket(socket.socket):
    """Socket of a connection. asyncio calls it in the task that writes, so its context is that of the request.

    Bytes that the kernel does not take at once are sent later, from another context: they belong to a request that has
    begun.
    """

    def send(self, data: ReadableBuffer, flags: int = 0, /) -> int:
        _check()
        return super().send(data, flags)

    def sendmsg(self, buffers: Iterable[ReadableBuffer], *args: Any) -> int:
        _check()
        return super().sendmsg(buffers, *args)


def _check() -> None:
    request = _sending.get()
    if request is not None:
        try:
            check_gates(request)
        except NotLeading as error:
            raise NotSent(str(error)) from error


def gated_socket(address: tuple[Any, ...]) -> socket.socket:
    """Return a socket for an entry of `getaddrinfo`."""
    family, kind, protocol, *_ = address
    return _GatedSocket(family, kind, protocol)
