"""Connections that a handler takes over."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, Response, Upgrade, UpgradedConnection, serve
from pyctrl.client import HttpRequest, InProcessTransport, UpgradedStream
from pyctrl.errors import StreamBroken
from pyctrl.testing import run_virtual
from tests.unit.apiserver._raw import Raw, connected

REQUEST = "GET /echo HTTP/1.1\nHost: localhost\nConnection: Upgrade\nUpgrade: echo\n\n"


class UpgradingServer(ApiServer):
    """Answers every request with an upgrade."""

    def __init__(self, serve: Callable[[UpgradedConnection], Awaitable[None]]) -> None:
        super().__init__()
        self._serve = serve

    async def handle(self, *_: Any, **__: Any) -> Response:
        headers = (("Connection", "Upgrade"), ("Upgrade", "echo"))
        return Response(status=101, headers=headers, body=Upgrade(self._serve))


async def echo(connection: UpgradedConnection) -> None:
    """Write everything that is read, and an exclamation mark at the end."""
    while data := await connection.read():
        await connection.write(data)
    await connection.write(b"!")


@asynccontextmanager
async def served(serve_connection: Callable[[UpgradedConnection], Awaitable[None]]) -> AsyncIterator[Raw]:
    async with serve(UpgradingServer(serve_connection)) as url, connected(url) as raw:
        yield raw


async def upgraded(raw: Raw, early: str = "") -> str:
    """Upgrade a connection; return the head of the response."""
    await raw.send(REQUEST + early)
    return (await raw.reader.readuntil(b"\r\n\r\n")).decode()


@pytest.mark.real_time
async def test_the_handler_reads_and_writes_the_connection() -> None:
    """After the 101 response both sides send bytes when they like, and the client may close its side first."""
    async with served(echo) as raw:
        head = await upgraded(raw, "early ")
        assert head.startswith("HTTP/1.1 101 Switching Protocols\r\n")
        assert "\r\nConnection: Upgrade\r\nUpgrade: echo\r\n" in head
        assert await raw.reader.readexactly(6) == b"early "
        await raw.send(b"late")
        assert await raw.reader.readexactly(4) == b"late"
        raw.writer.write_eof()
        assert await raw.reader.read() == b"!"


@pytest.mark.real_time
async def test_the_handler_ends_with_its_client() -> None:
    """A handler that waits for something else is cancelled when the connection is lost."""
    ended = asyncio.Event()

    async def wait(_: UpgradedConnection) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with served(wait) as raw:
        await upgraded(raw)
        raw.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.writer.transport.abort()
        await ended.wait()


@pytest.mark.real_time
async def test_a_stop_of_the_server_ends_the_connection() -> None:
    """When serving ends, an upgraded connection is closed at once."""
    async with connected_until_stopped() as raw:
        assert await raw.is_closed()


@asynccontextmanager
async def connected_until_stopped() -> AsyncIterator[Raw]:
    """Yield a connection whose server has stopped."""
    async with serve(UpgradingServer(echo)) as url:
        opened = connected(url)
        raw = await opened.__aenter__()
        await upgraded(raw)
    yield raw
    await opened.__aexit__(None, None, None)


UPGRADE = HttpRequest(method="GET", path="/echo", headers={"Connection": "Upgrade", "Upgrade": "echo"}, timeout=None)


def test_a_client_in_this_process_gets_the_other_end() -> None:
    """The in-process transport opens the same connection without a socket, in virtual time."""

    async def main() -> None:
        async with InProcessTransport(UpgradingServer(echo)).stream(UPGRADE) as stream:
            assert isinstance(stream, UpgradedStream)
            assert stream.status == 101
            await stream.write(b"hello")
            assert await anext(stream.chunks()) == b"hello"

    run_virtual(main())


def test_a_failed_handler_breaks_the_stream_of_a_client_in_this_process() -> None:
    """The reader gets the error instead of a clean end."""

    async def fail(connection: UpgradedConnection) -> None:
        await connection.read()
        raise RuntimeError("no luck")

    async def main() -> None:
        async with InProcessTransport(UpgradingServer(fail)).stream(UPGRADE) as stream:
            assert isinstance(stream, UpgradedStream)
            await stream.write(b"hello")
            with pytest.raises(StreamBroken, match="no luck"):
                await stream.read()

    run_virtual(main())


def test_an_upgrade_is_no_whole_response() -> None:
    """A request that is not opened as a stream fails instead of waiting."""

    async def main() -> None:
        with pytest.raises(StreamBroken, match="open it as a stream"):
            await InProcessTransport(UpgradingServer(echo)).request(UPGRADE)

    run_virtual(main())
