"""HTTP exchanges over a connection: where a response ends, streams and upgrades."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl._pipes import Pipe, PipeConnection
from pyctrl.apiserver import Response, ServiceUnreachable, Upgrade
from pyctrl.apiserver._proxy.exchange import exchange
from pyctrl.apiserver._proxy.round_tripper import OutgoingRequest
from pyctrl.apiserver._registry._proxy.forwarded_connection import ForwardedConnection

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello"


class Server:
    """A server that sends chunks, and then keeps the connection open or closes it."""

    def __init__(self, *chunks: bytes, closes: bool = False) -> None:
        self._chunks, self._closes = chunks, closes
        self.received = b""
        self.is_gone = False

    async def serve(self, _: int, received: Pipe, sent: Pipe) -> None:
        """Serve the connection."""
        self.received = await received.read()
        try:
            for chunk in self._chunks:
                await sent.write(chunk)
                await asyncio.sleep(1)
            if not self._closes:
                await asyncio.get_running_loop().create_future()
        finally:
            self.is_gone = True


async def answer(server: Server, **changes: Any) -> Response:
    """Return the response of a server."""
    options = {"method": "GET", "url": "http://10.0.0.1:80/a?b=c", "headers": [], "body": b"", **changes}
    return await exchange(ForwardedConnection(server.serve, 80), OutgoingRequest(**options))


async def test_the_request_is_sent_as_it_is() -> None:
    """With its query, headers and body."""
    server = Server(OK + b"\r\n", closes=True)
    await answer(server, method="POST", headers=[("X-A", "1"), ("X-A", "2")], body=b"x")
    head = b"POST /a?b=c HTTP/1.1\r\nHost: 10.0.0.1:80\r\nConnection: close\r\nX-A: 1\r\nX-A: 2\r\n"
    assert server.received == head + b"Content-Length: 1\r\n\r\nx"


async def test_a_response_ends_by_its_length() -> None:
    """The rest of the connection is not waited for; interim responses are left out, repeated headers are kept."""
    head = b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Set-Cookie: a\r\nSet-Cookie: b\r\nContent-Le"
    found = await answer(Server(head, b"ngth: 3\r\n\r\na", b"bc"))
    assert (found.status, found.body) == (200, b"abc")
    assert [*found.headers] == [("Set-Cookie", "a"), ("Set-Cookie", "b"), ("Content-Length", "3")]


async def test_a_response_ends_with_its_last_chunk() -> None:
    """The body is decoded."""
    found = await answer(Server(CHUNKED + b"2\r\nab\r\n", b"1;x=y\r\nc\r\n0\r\nX-Trailer: 1\r\n\r\n"))
    assert (found.body, found.headers) == (b"abc", [])


@pytest.mark.parametrize(
    ("head", "method"), [(b"HTTP/1.1 204 No Content", "GET"), (b"HTTP/1.1 200 OK\r\nContent-Length: 9", "HEAD")]
)
async def test_a_response_without_a_body(head: bytes, method: str) -> None:
    """A response to HEAD, and some codes, have no body, and are no stream."""
    assert (await answer(Server(head + b"\r\n\r\n"), method=method, is_streaming=True)).body == b""


async def test_a_response_ends_with_its_connection() -> None:
    """Without a length the body ends with the connection."""
    assert (await answer(Server(b"HTTP/1.0 200 OK\r\n\r\nab", b"c", closes=True))).body == b"abc"


BROKEN = "net/http: HTTP/1.x transport connection broken: "


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "EOF"),
        (b"HTTP/1.1 200 OK\r\n", "unexpected EOF"),
        (b"no http\r\n\r\n", f'{BROKEN}malformed HTTP response "no http"'),
        (OK + b"no header\r\n\r\n", f"{BROKEN}malformed MIME header"),
        (OK + b"Content-Length: x\r\n\r\n", f'{BROKEN}bad Content-Length "x"'),
        (OK + b"Content-Length: 9\r\n\r\nabc", "unexpected EOF"),
        (CHUNKED + b"x\r\n", "unexpected EOF"),
    ],
)
async def test_no_response(data: bytes, why: str) -> None:
    """A connection that ends before the response, or is no HTTP, is an error."""
    with pytest.raises(ServiceUnreachable) as caught:
        await answer(Server(data, closes=True))
    assert str(caught.value) == why


async def test_a_stream_is_read_while_it_is_sent() -> None:
    """Each part arrives when it was written. A connection that ends too early ends the stream with an error."""
    started = asyncio.get_running_loop().time()
    server = Server(CHUNKED, b"2\r\na", b"b\r\n", b"1\r\nc\r\n", closes=True)
    found = await answer(server, is_streaming=True)
    received = []
    with pytest.raises(ConnectionError):
        async for part in found.body:  # type: ignore[union-attr]
            received.append((part, asyncio.get_running_loop().time() - started))
    assert received == [(b"a", 1), (b"b", 2), (b"c", 3)]


@pytest.mark.parametrize("parts", [0, 1])
async def test_a_stream_that_is_closed_ends_the_connection(parts: int) -> None:
    """Also before anything was read."""
    server = Server(CHUNKED, b"1\r\na\r\n")
    found = await answer(server, is_streaming=True)
    for _ in range(parts):
        await anext(found.body)  # type: ignore[arg-type]
    assert not server.is_gone
    await found.body.aclose()  # type: ignore[union-attr]
    assert server.is_gone


class EchoServer:
    """Switches protocols, and sends everything back in upper case until "end"."""

    def __init__(self) -> None:
        self.received = b""

    async def serve(self, _: int, received: Pipe, sent: Pipe) -> None:
        """Serve the connection."""
        self.received = await received.read()
        await sent.write(SWITCHING)
        while (data := await received.read()) not in (b"", b"end"):
            await sent.write(data.upper())


async def upgraded(server: EchoServer) -> tuple[PipeConnection, asyncio.Task[None]]:
    """Return the connection of a client, and the task of the server that serves it."""
    headers = [("Connection", "Upgrade"), ("Upgrade", "echo")]
    request = OutgoingRequest(method="GET", url="http://h/", headers=headers, body=b"", is_upgrade=True)
    found = await exchange(ForwardedConnection(server.serve, 80), request)
    assert (found.status, [*found.headers]) == (101, headers)
    assert isinstance(found.body, Upgrade)
    client, other = PipeConnection.pair()

    async def serve(upgrade: Upgrade) -> None:
        await upgrade.serve(other)
        other.close()

    return client, asyncio.ensure_future(serve(found.body))


async def test_an_upgraded_connection_carries_bytes_in_both_directions() -> None:
    """Until the server closes it; what it has sent with the response is not lost."""
    server = EchoServer()
    client, serving = await upgraded(server)
    assert b"Connection: Upgrade\r\nUpgrade: echo\r\n\r\n" in server.received
    assert await client.read() == b"hello"
    await client.write(b"abc")
    assert await client.read() == b"ABC"
    await client.write(b"end")
    assert await client.read() == b""
    await serving


async def test_a_client_that_leaves_ends_an_upgraded_connection() -> None:
    """The server notices it."""
    client, serving = await upgraded(EchoServer())
    assert await client.read() == b"hello"
    client.close()
    await serving
