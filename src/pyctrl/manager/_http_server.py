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
    from aiohttp import web

    from pyctrl.webhook import ServingCertificate

__all__ = ["HttpServer"]

log = logging.getLogger("pyctrl.manager")

GOODBYE_SECONDS = 1.0  # for answers that have begun; they take milliseconds
AT_ONCE_SECONDS = 0.01  # for the same when there is no more time; aiohttp takes 0 for ever
IDLE_SECONDS = 90.0  # controller-runtime's, for connections that are kept


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
        answer: Callable[[web.Request], Awaitable[web.StreamResponse]],
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
        from aiohttp import web  # here: a manager in a test, without sockets, does without aiohttp

        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)  # and HEAD
        runner = web.AppRunner(
            app, access_log=None, keepalive_timeout=IDLE_SECONDS, shutdown_timeout=GOODBYE_SECONDS, handle_signals=False
        )
        await runner.setup()
        try:
            context = self.certificate.load() if self.certificate is not None else None
            await self._listen(web.TCPSite(runner, self.address.host, self.address.port, ssl_context=context))
            self.port = int(runner.addresses[0][1])
            self._tell_of_start()
            self._is_listening.set()
            await (self.certificate.follow() if self.certificate is not None else asyncio.Event().wait())
        finally:
            log.info("shutting down server", extra={"server": self._what})
            await _close(runner)

    def _tell_of_start(self) -> None:
        log.info("starting server", extra={"server": self._what, "addr": str(self.address), "port": self.port})

    async def _listen(self, site: web.TCPSite) -> None:
        try:
            await site.start()
        except OSError as error:
            why = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
            raise ManagerError(
                f"cannot listen at {self._option}={str(self.address)!r}: {why}; free it, name another, or '0' for none"
            ) from error


async def _close(runner: web.AppRunner) -> None:
    """Wait for answers that have begun, for a moment, and close all connections; at once when cancelled meanwhile."""
    try:
        await runner.cleanup()
    except asyncio.CancelledError:
        if runner.server is not None:
            await runner.server.shutdown(AT_ONCE_SECONDS)
        raise
