"""Connections that continue with another protocol."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.apiserver import ServiceUnreachable, Upgrade
from pyctrl.apiserver._aggregator.https_transport import HttpsTransport
from tests.unit.apiserver.aggregator._https import answering, proxied, serving

pytestmark = pytest.mark.real_time  # sockets

HEADERS = [("Connection", "Upgrade"), ("Upgrade", "echo")]
SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello"

transport = HttpsTransport(lambda: None)


class Client:
    """The connection of a client, in memory."""

    def __init__(self) -> None:
        self.sends: asyncio.Queue[bytes] = asyncio.Queue()
        self.received = bytearray()
        self.is_lost = False

    async def read(self) -> bytes:
        """Return what the client sends."""
        return await self.sends.get()

    async def write(self, data: bytes) -> None:
        """Keep what the client receives."""
        if self.is_lost:
            raise ConnectionResetError
        self.received += data
        if self.received.endswith(b"ABC"):
            self.sends.put_nowait(b"end")


async def echo(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Switch protocols, and send everything back in upper case until "end"."""
    writer.write(SWITCHING)
    while (data := await reader.read(100)) not in (b"", b"end"):
        writer.write(data.upper())
        await writer.drain()
    writer.write(b"bye")
    await writer.drain()


async def test_bytes_pass_in_both_directions() -> None:
    """Until the extension API server closes the connection."""
    client = Client()
    async with serving(echo) as port:
        found = await transport(proxied(port, headers=HEADERS, is_upgrade=True))
        assert (found.status, [*found.headers]) == (101, HEADERS)
        assert isinstance(found.body, Upgrade)
        client.sends.put_nowait(b"abc")
        await found.body.serve(client)
    assert bytes(client.received) == b"helloABCbye"


@pytest.mark.parametrize("is_lost", [False, True], ids=["closed", "lost"])
async def test_a_client_that_leaves_closes_the_connection(is_lost: bool) -> None:
    """The extension API server notices it."""
    client, left = Client(), asyncio.Event()

    async def script(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(SWITCHING)
        await reader.read()
        left.set()

    async with serving(script) as port:
        found = await transport(proxied(port, headers=HEADERS, is_upgrade=True))
        assert isinstance(found.body, Upgrade)
        client.is_lost = is_lost
        if not is_lost:
            client.sends.put_nowait(b"")
        await found.body.serve(client)
        await left.wait()


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"HTTP/1.1 403 Forbidden\r\nX-A: 1\r\nContent-Length: 3\r\n\r\nno!", b"no!"),
        (
            b"HTTP/1.1 403 Forbidden\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n1\r\n!\r\n0\r\n\r\n",
            b"no!",
        ),
        (b"HTTP/1.1 403 Forbidden\r\nX-A: 1\r\n\r\nno!", b"no!"),
    ],
    ids=["length", "chunked", "until the end"],
)
async def test_a_refusal_is_passed_on(answer: bytes, body: bytes) -> None:
    """The server does not have to switch protocols."""
    async with serving(answering(answer)) as port:
        found = await transport(proxied(port, headers=HEADERS, is_upgrade=True))
    assert (found.status, [*found.headers], found.body) == (403, [("X-A", "1")], body)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"])
async def test_a_malformed_response_is_no_response(answer: bytes) -> None:
    """The client gets 503."""
    async with serving(answering(answer)) as port:
        with pytest.raises(ServiceUnreachable, match="malformed HTTP response"):
            await transport(proxied(port, headers=HEADERS, is_upgrade=True))


async def test_the_request_is_sent_as_it_is() -> None:
    """With its query, headers and body."""
    heads: list[str] = []

    async def script(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(head + (await reader.readexactly(1)).decode())
        writer.write(SWITCHING)

    async with serving(script) as port:
        await transport(proxied(port, method="POST", body=b"x", headers=HEADERS, is_upgrade=True))
    (head,) = heads
    assert head == (
        f"POST /apis/x/v1/flavors?a=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        "Connection: Upgrade\r\nUpgrade: echo\r\nContent-Length: 1\r\n\r\nx"
    )
