"""A small HTTP server as a runnable: what probes and Prometheus ask."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from pyctrl.errors import ManagerError
from pyctrl.manager._address import BindAddress
from pyctrl.rbac import Permission

if TYPE_CHECKING:
    from ssl import SSLContext

    from aiohttp.web_request import BaseRequest
    from aiohttp.web_response import StreamResponse
    from aiohttp.web_server import Server

    from pyctrl.webhook import ServingCertificate

__all__ = ["HttpServer"]

log = logging.getLogger("pyctrl.manager")

GOODBYE_SECONDS = 1.0  # for answers that have begun; they take milliseconds
AT_ONCE_SECONDS = 0.01  # for the same when there is no more time; aiohttp takes 0 for ever
IDLE_SECONDS = 90.0  # controller-runtime's, for connections that are kept
BACKLOG = 128  # connections that wait to be accepted: aiohttp's


class HttpServer:
    """Listens while it runs, and answers every GET by one function. Ready when it listens.

    Args:
        name: of what it serves, for logs: "health probe", "metrics".
        address: where to listen.
        answer: answers one request.
        option: which option named the address.
        certificate: with it, TLS 1.2 or later, and it is read anew when it changes.
        rbac: what answering takes.
    """

    def __init__(
        self,
        name: str,
        address: BindAddress,
        answer: Callable[[BaseRequest], Awaitable[StreamResponse]],
        *,
        option: str,
        certificate: ServingCertificate | None = None,
        rbac: Sequence[Permission] = (),
    ) -> None:
        self.name: str = f"{name} server"
        self.address = address
        self._what, self._answer, self._option = name, answer, option
        self.rbac: Sequence[Permission] = rbac
        #: What it shows to clients; None: it speaks HTTP.
        self.certificate: ServingCertificate | None = certificate
        self._is_listening = asyncio.Event()
        #: The port it listens on, once it does.
        self.port: int = address.port

    async def wait_until_ready(self) -> None:
        """Return when it listens."""
        await self._is_listening.wait()

    async def run(self) -> None:
        """Serve until cancelled.

        Raises:
            ManagerError: the address cannot be had.
            ConfigError: there is no certificate where one was named.
        """
        # Here: a manager in a test, without sockets, does without aiohttp. Not aiohttp.web: its router, which nobody
        # needs for two paths, comes with 20 modules, 1.3 MB.
        from aiohttp.web_server import Server

        server = Server(self._answered, access_log=None, keepalive_timeout=IDLE_SECONDS)
        context = self.certificate.load() if self.certificate is not None else None
        listening = await self._listen(server, context)
        try:
            self.port = int(listening.sockets[0].getsockname()[1])
            self._tell_of_start()
            self._is_listening.set()
            await (self.certificate.follow() if self.certificate is not None else asyncio.Event().wait())
        finally:
            log.info("shutting down server", extra={"server": self._what})
            listening.close()
            await _close(server)

    def _tell_of_start(self) -> None:
        log.info("starting server", extra={"server": self._what, "addr": str(self.address), "port": self.port})

    async def _answered(self, request: BaseRequest) -> StreamResponse:
        from aiohttp.web_response import Response

        if request.method not in ("GET", "HEAD"):
            return Response(status=405, headers={"Allow": "GET,HEAD"}, text="405: Method Not Allowed")
        return await self._answer(request)

    async def _listen(self, server: Server, context: SSLContext | None) -> asyncio.Server:
        loop, address = asyncio.get_running_loop(), self.address
        try:
            return await loop.create_server(server, address.host, address.port, ssl=context, backlog=BACKLOG)
        except OSError as error:
            why = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
            raise ManagerError(
                f"cannot listen at {self._option}={str(self.address)!r}: {why}; free it, name another, or '0' for none"
            ) from error


async def _close(server: Server) -> None:
    """Wait for answers that have begun, for a moment, and close all connections; at once when cancelled meanwhile."""
    try:
        await asyncio.sleep(0)  # whoever has just connected is heard
        server.pre_shutdown()
        await server.shutdown(GOODBYE_SECONDS)
    except asyncio.CancelledError:
        await server.shutdown(AT_ONCE_SECONDS)
        raise
