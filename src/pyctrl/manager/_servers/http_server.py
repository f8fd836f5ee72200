"""HTTP server as a runnable, for health probes and metrics."""

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

CONNECTIONS = 100  # open at a time; probes and scrapers need few
REQUEST_BYTES = 4 * 1024 * 1024  # of unanswered requests; a GET has a few hundred bytes


class HttpServer:
    """Serves GET requests by one function while it runs. Ready when it listens.

    Args:
        name: the name in logs: "health probe", "metrics".
        address: the address to listen on.
        answer: returns the response to a request.
        option: the option that named the address, for errors.
        certificate: serves TLS 1.2 or later with this certificate, which is reloaded when its files change.
        rbac: the permissions that ``answer`` needs.
        has_reserve: whether it serves even if the process has run out of file descriptors.
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
        self._log_name, self._answer, self._option, self._has_reserve = name, answer, option, has_reserve
        #: Limits of its clients; set them before it runs.
        self.limits: ServerLimits = ServerLimits(connections=CONNECTIONS, request_bytes=REQUEST_BYTES)
        self.rbac: Sequence[Permission] = rbac
        #: The serving certificate; None: HTTP.
        self.certificate: ServingCertificate | None = certificate
        self._is_listening = asyncio.Event()
        self._asked_to_stop = asyncio.Event()
        #: The port, known once it listens.
        self.port: int = address.port

    async def wait_until_ready(self) -> None:
        """Return when it listens."""
        await self._is_listening.wait()

    def ask_to_stop(self) -> None:
        """Stop accepting connections, and stop once every request is answered, a second later at most."""
        self._asked_to_stop.set()

    async def run(self) -> None:
        """Serve until asked to stop, or cancelled.

        Raises:
            ManagerError: it cannot listen on the address.
            ConfigError: the certificate files do not exist.
        """
        from pyctrl._http_server.server import LimitedHttpServer  # here: without servers, no aiohttp

        server = LimitedHttpServer(self._log_name, self._answered, limits=self.limits, has_reserve=self._has_reserve)
        tls = self.certificate.contexts() if self.certificate is not None else None
        async with server, self._listening(server, tls):
            if self.certificate is None:
                await self._asked_to_stop.wait()
            else:
                await self._follow(self.certificate)

    async def _follow(self, certificate: ServingCertificate) -> None:
        async with asyncio.TaskGroup() as group:
            following = group.create_task(certificate.follow(), name="certificate")
            await self._asked_to_stop.wait()
            following.cancel()

    @asynccontextmanager
    async def _listening(self, server: LimitedHttpServer, tls: Callable[[], SSLContext] | None) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            try:
                self.port = await stack.enter_async_context(server.listening(self.address.host, self.address.port, tls))
            except OSError as error:
                why = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
                address = f"{self._option}={str(self.address)!r}"
                raise ManagerError(
                    f"cannot listen at {address}: {why}; free the address, use another one, or '0' for no server"
                ) from error
            self._log_start()
            self._is_listening.set()
            try:
                yield
            finally:
                log.info("shutting down server", extra={"server": self._log_name})

    def _log_start(self) -> None:
        log.info("starting server", extra={"server": self._log_name, "addr": str(self.address), "port": self.port})

    async def _answered(self, request: BaseRequest) -> StreamResponse:
        from aiohttp.web_response import Response

        if request.method not in ("GET", "HEAD"):
            return Response(status=405, headers={"Allow": "GET,HEAD"}, text="405: Method Not Allowed")
        return await self._answer(request)
