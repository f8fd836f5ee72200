"""Upgraded connections over sockets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, Response, Upgrade, UpgradedConnection, serve
from pyctrl.client import AiohttpTransport, Config, HttpRequest, UpgradedStream
from pyctrl.errors import StreamBroken

pytestmark = pytest.mark.real_time  # sockets
UPGRADE = HttpRequest(method="GET", path="/echo", headers={"Connection": "Upgrade", "Upgrade": "echo"}, timeout=None)
SIZE = 300_000  # more than is buffered


class Echo(ApiServer):
    """Greets, then writes `SIZE` bytes for each byte that is read, and closes."""

    async def handle(self, *_: Any, **__: Any) -> Response:
        headers = (("Connection", "Upgrade"), ("Upgrade", "echo"))
        return Response(status=101, headers=headers, body=Upgrade(self._serve))

    async def _serve(self, connection: UpgradedConnection) -> None:
        await connection.write(b"hello")
        await connection.write(await connection.read() * SIZE)


async def test_both_sides_send_when_they_like() -> None:
    """Bytes sent together with the head arrive, large answers arrive whole, and a closed connection raises."""
    async with serve(Echo()) as url:
        transport = AiohttpTransport(Config(server=url))
        async with asyncio.timeout(10), transport.stream(UPGRADE) as stream:
            assert isinstance(stream, UpgradedStream)
            assert await anext(stream.chunks()) == b"hello"
            await stream.write(b"x")
            assert await stream.read() == b"x" * SIZE
            with pytest.raises(StreamBroken, match="closed"):
                await stream.write(b"y")
        await transport.aclose()
