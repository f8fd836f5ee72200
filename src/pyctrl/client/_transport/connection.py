"""From a login to a transport; and one that can be given another login, or shut, while it is used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from pyctrl.client._login.config import Config
from pyctrl.client._login.credentials import StorableCredentials
from pyctrl.client._transport.in_process import InProcessTransport
from pyctrl.client._transport.transport import REQUEST_TIMEOUT, HttpRequest, HttpResponse, HttpStream, Transport
from pyctrl.errors import ConfigError

__all__ = ["SwitchableTransport", "is_same_login", "transport_for"]


def transport_for(config: Config) -> Transport:
    """Return a transport for a login. Nothing is sent yet."""
    inner = _innermost_transport(config)
    return inner if config.wrap_transport is None else config.wrap_transport(inner)


def is_same_login(one: Config, other: Config) -> bool:
    """Tell whether two logins are one, made twice: two readings of a kubeconfig have credentials of their own each."""
    if type(one.credentials) is not type(other.credentials) or replace(one, credentials=other.credentials) != other:
        return False
    if one.credentials == other.credentials:
        return True
    try:
        return (
            isinstance(one.credentials, StorableCredentials)
            and isinstance(other.credentials, StorableCredentials)
            and one.credentials.to_kubeconfig_user() == other.credentials.to_kubeconfig_user()
        )
    except ConfigError:
        return False  # nobody knows


def _innermost_transport(config: Config) -> Transport:
    if config.application is not None:
        return InProcessTransport(config.application, credentials=config.credentials, impersonate=config.impersonate)
    from pyctrl.client._transport.aiohttp import (
        AiohttpTransport,  # here: programs on an in-process server do without aiohttp
    )

    return AiohttpTransport(config)


class SwitchableTransport:
    """A connection under a login that may change: to another one of the same server, or to none.

    After `switch` new requests go out under the new login, and those under the old one are answered still. Watches
    under the old one end with it, and are taken up again where they were. After `shut` every request is refused.
    """

    def __init__(self, config: Config) -> None:
        self._line = _DrainingTransport(transport_for(config))
        self._refusal: Callable[[], Exception] | None = None

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the whole answer."""
        self._check()
        return await self._line.request(request)

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Send a request; inside the block its body can be read."""
        self._check()
        async with self._line.transport.stream(request, idle_timeout=idle_timeout) as stream:
            yield stream

    def switch(self, config: Config) -> Awaitable[None]:
        """Use another login from now on.

        What is returned has to be awaited: it closes the old connection when its requests have been answered.

        Raises:
            ConfigError: the login cannot be used; the old one stays.
        """
        old, self._line = self._line, _DrainingTransport(transport_for(config))
        return old.end()

    def shut(self, refusal: Callable[[], Exception]) -> None:
        """Let every further request fail with the error that ``refusal`` makes; what is on its way goes on."""
        self._refusal = refusal

    async def aclose(self) -> None:
        """Close the connection."""
        await self._line.transport.aclose()

    def _check(self) -> None:
        if self._refusal is not None:
            raise self._refusal()


class _DrainingTransport:
    """A transport, and how many requests are waiting for its answer."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._pending = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def request(self, request: HttpRequest) -> HttpResponse:
        self._pending += 1
        self._idle.clear()
        try:
            return await self.transport.request(request)
        finally:
            self._pending -= 1
            if not self._pending:
                self._idle.set()

    async def end(self) -> None:
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(REQUEST_TIMEOUT):
                    await self._idle.wait()
        finally:
            await self.transport.aclose()
