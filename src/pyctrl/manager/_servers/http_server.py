"""A small HTTP server as a runnable: what probes and Prometheus ask."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from pyctrl._http_server import ServerLimits
from pyctrl.errors import ManagerError
from pyctrl.manager._servers.bind_address import BindAddress
from pyctrl.rbac import Permission

if TYPE_CHECKING:
    from ssl import SSLContext

    from aiohttp.web_request import BaseRequest
    from aiohttp.web_response import StreamResponse

    from pyctrl._http_server.server import LimitedHttpServer
    from pyctrl.webhook import ServingCertificate

__all__ = ["HttpServer"]

log = logging.getLogger("pyctrl.manager")

CONNECTIONS = 100  # at a time; probes and scrapers need few
REQUEST_BYTES = 4 * 1024 * 1024  # of requests that are not answered yet; a GET has a few hundred bytes


class HttpServer:
    """Listens while it runs, and answers every GET by one function. Ready when it listens.

    Args:
        name: of what it serves, for logs: "health probe", "metrics".
        address: where to listen.
        answer: answers one request.
        option: which option named the address.
        certificate: with it, TLS 1.2 or later, and it is read anew when it changes.
        rbac: what answering takes.
        has_reserve: answers even if the process has run out of file descriptors.
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
        has_reserve: bool = False,
    ) -> None:
        self.name: str = f"{name} server"
        self.address = address
        self._what, self._answer, self._option, self._has_reserve = name, answer, option, has_reserve
        #: What its clients may hold; set it before it runs.
        self.limits: ServerLimits = ServerLimits(connections=CONNECTIONS, request_bytes=REQUEST_BYTES)
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
        from pyctrl._http_server.server import (
            LimitedHttpServer,  # here: a manager in a test, without sockets, does without aiohttp
        )

        front = LimitedHttpServer(self._what, self._answered, limits=self.limits, has_reserve=self._has_reserve)
        tls = self.certificate.contexts() if self.certificate is not None else None
        async with front, self._listening(front, tls):
            await (self.certificate.follow() if self.certificate is not None else asyncio.Event().wait())

    @asynccontextmanager
    async def _listening(self, front: LimitedHttpServer, tls: Callable[[], SSLContext] | None) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            try:
                self.port = await stack.enter_async_context(front.listening(self.address.host, self.address.port, tls))
            except OSError as error:
                why = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
                address = f"{self._option}={str(self.address)!r}"
                raise ManagerError(
                    f"cannot listen at {address}: {why}; free it, name another, or '0' for none"
                ) from error
            self._tell_of_start()
            self._is_listening.set()
            try:
                yield
            finally:
                log.info("shutting down server", extra={"server": self._what})

    def _tell_of_start(self) -> None:
        log.info("starting server", extra={"server": self._what, "addr": str(self.address), "port": self.port})

    async def _answered(self, request: BaseRequest) -> StreamResponse:
        from aiohttp.web_response import Response

        if request.method not in ("GET", "HEAD"):
            return Response(status=405, headers={"Allow": "GET,HEAD"}, text="405: Method Not Allowed")
        return await self._answer(request)
