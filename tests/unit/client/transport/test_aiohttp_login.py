"""Time limits of a request and of a stream's head, which do not include the login."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from pyctrl.errors import RequestTimeout
from tests.unit.client.transport.test_aiohttp import GET, OK, WATCH, Peer, Rotating, serving

pytestmark = pytest.mark.real_time


class AtATerminal(Rotating):
    """Credentials that take ten minutes by the loop's clock, as with user input."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._waited, self._now = 0.0, self._loop.time
        self._loop.time = lambda: self._now() + self._waited  # type: ignore[method-assign]

    async def authorization(self) -> str:
        await self._person()
        return await super().authorization()

    async def refresh(self, rejected: str | None = None) -> bool:
        await self._person()
        return await super().refresh(rejected)

    async def _person(self) -> None:
        self._waited += 600
        for _ in range(3):  # turns of the loop, in which each due timer would fire
            await asyncio.sleep(0)


async def test_a_login_may_take_its_time() -> None:
    """The timeouts of a request and of a stream's head start once credentials are available, and again after a 401."""
    credentials = AtATerminal()

    async def serve(peer: Peer) -> None:
        while head := await peer.head():
            good = "Authorization: Bearer 0" not in head
            await peer.send(OK if good else b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")

    async with serving(serve, credentials=credentials) as (transport, _):
        async with transport.stream(WATCH) as stream:
            assert (stream.status, await stream.read()) == (200, b"ok")
        credentials.token = 0
        assert (await transport.request(GET)).body == b"ok"


async def test_a_head_that_does_not_come() -> None:
    """A stream whose head does not come in time fails, although a watch has no timeout."""

    async def serve(peer: Peer) -> None:
        while await peer.head():
            pass

    async with serving(serve) as (transport, server):
        with pytest.raises(RequestTimeout, match=server.url):
            async with asyncio.timeout(5), transport.stream(replace(WATCH, head_timeout=0.1)):
                pass
