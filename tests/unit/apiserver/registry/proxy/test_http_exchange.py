"""HTTP exchanges over pipes: where a response ends."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl._pipes import Pipe
from pyctrl.apiserver._registry._proxy.http_exchange import HttpAnswer, MalformedAnswer, exchange


async def answer(*chunks: bytes, method: str = "GET", closes: bool = False) -> HttpAnswer:
    """Return what a server answers that sends chunks and then keeps the connection open, or closes it."""

    async def serve(received: Pipe, sent: Pipe) -> None:
        assert await received.read() == b"request"
        for chunk in chunks:
            await sent.write(chunk)
            await asyncio.sleep(1)
        if not closes:
            await asyncio.get_running_loop().create_future()

    return await exchange(serve, method, b"request")


async def test_a_response_ends_by_its_length() -> None:
    """The rest of the connection is not waited for; interim responses are left out."""
    found = await answer(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Le", b"ngth: 3\r\n\r\na", b"bc")
    assert (found.status, found.body) == (200, b"abc")


async def test_a_response_ends_with_its_last_chunk() -> None:
    """The body is decoded."""
    found = await answer(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", b"1\r\nc\r\n0\r\n\r\n")
    assert found.body == b"abc"


@pytest.mark.parametrize(
    ("head", "method"), [(b"HTTP/1.1 204 No Content", "GET"), (b"HTTP/1.1 200 OK\r\nContent-Length: 9", "HEAD")]
)
async def test_a_response_without_a_body(head: bytes, method: str) -> None:
    """A response to HEAD, and some codes, have no body."""
    assert (await answer(head + b"\r\n\r\n", method=method)).body == b""


async def test_a_response_ends_with_its_connection() -> None:
    """Without a length the body ends with the connection."""
    assert (await answer(b"HTTP/1.0 200 OK\r\n\r\nab", b"c", closes=True)).body == b"abc"


@pytest.mark.parametrize("chunks", [(), (b"no http\r\n\r\n",), (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",)])
async def test_no_response(chunks: tuple[bytes, ...]) -> None:
    """A connection that ends before the response, or is no HTTP, is an error."""
    with pytest.raises(MalformedAnswer):
        await answer(*chunks, closes=True)
