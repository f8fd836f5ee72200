"""Transport of a login, and a transport whose login can be replaced or shut while it is in use."""

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
    """Return a transport for a login. It does not connect yet."""
    inner = _innermost_transport(config)
    return inner if config.wrap_transport is None else config.wrap_transport(inner)


def is_same_login(one: Config, other: Config) -> bool:
    """Return True if two logins are equal, even if their credentials are separate objects of two reads."""
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
        return False  # unknown


def _innermost_transport(config: Config) -> Transport:
    if config.application is not None:
        return InProcessTransport(config.application, credentials=config.credentials, impersonate=config.impersonate)
    from pyctrl.client._transport.aiohttp import (
        AiohttpTransport,  # here: programs with an in-process server do not need aiohttp
    )

    return AiohttpTransport(config)


class SwitchableTransport:
    """Transport whose login may be replaced by another one of the same server, or shut.

    After `switch`, new requests use the new login and pending ones complete with the old one. Watches of the old login
    end; their readers resume them. After `shut`, every request raises.
    """

    def __init__(self, config: Config) -> None:
        self._current = _DrainingTransport(transport_for(config))
        self._make_error: Callable[[], Exception] | None = None

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the whole response."""
        self._check()
        return await self._current.request(request)

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Send a request. Its response body can be read inside the block."""
        self._check()
        async with self._current.transport.stream(request, idle_timeout=idle_timeout) as stream:
            yield stream

    def switch(self, config: Config) -> Awaitable[None]:
        """Use another login from now on.

        Await the returned awaitable: it closes the old connection after its pending requests.

        Raises:
            ConfigError: the login is invalid; the current one stays in use.
        """
        old, self._current = self._current, _DrainingTransport(transport_for(config))
        return old.end()

    def shut(self, make_error: Callable[[], Exception]) -> None:
        """Raise an error made by ``make_error`` for every further request. Pending requests continue."""
        self._make_error = make_error

    async def aclose(self) -> None:
        """Close the connection."""
        await self._current.transport.aclose()

    def _check(self) -> None:
        if self._make_error is not None:
            raise self._make_error()


class _DrainingTransport:
    """Transport with a count of its pending requests, which closes when they have completed."""

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
