"""Delivery of bodies to a function, over real sockets: at once and complete."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from pyctrl.client import AiohttpTransport, Config, Tls, deliver
from pyctrl.errors import StreamBroken
from tests.unit.client._authority import Authority
from tests.unit.client.transport.test_aiohttp import CHUNKED, WATCH, Peer, SocketServer, answering, serving

pytestmark = pytest.mark.real_time

LINE = b"x" * 2_000_000
WHOLE = CHUNKED + b"1\r\na\r\n0\r\n\r\n"


@pytest.mark.parametrize("is_secure", [False, True])
async def test_a_piece_is_handed_over_when_the_socket_gives_it(is_secure: bool) -> None:
    """A piece is delivered without waking a task, also with TLS; a large one arrives in pieces and complete."""
    authority, seen, is_first_seen = Authority(), list[bytes](), asyncio.Event()
    tasks: set[asyncio.Task[None] | None] = set()

    def take(chunk: bytes) -> None:
        if seen:  # the first piece may come with the head
            tasks.add(asyncio.current_task())
        seen.append(chunk)
        is_first_seen.set()

    async def serve(peer: Peer) -> None:
        await peer.head()
        await peer.send(CHUNKED + b"5\r\nfirst\r\n")
        await is_first_seen.wait()
        await peer.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(LINE), LINE))

    async with SocketServer(serve, tls=authority.server_context() if is_secure else None).running() as server:
        transport = AiohttpTransport(Config(server=server.url, tls=Tls(insecure=is_secure)))
        async with transport.stream(WATCH) as stream:
            await deliver(stream, take)
        await transport.aclose()
    assert b"".join(seen) == b"first" + LINE
    assert len(seen) > 2
    assert tasks == {None}


@pytest.mark.parametrize("error", [ValueError("mine"), OSError("mine, not the network's")])
@pytest.mark.parametrize("begin", [CHUNKED, CHUNKED + b"3\r\nbad\r\n"])
async def test_what_the_function_raises_ends_it(error: Exception, begin: bytes) -> None:
    """An exception of the function ends the stream unchanged, with the first piece or later; no more pieces come."""
    seen: list[bytes] = []

    def take(chunk: bytes) -> None:
        seen.append(chunk)
        raise error

    async def serve(peer: Peer) -> None:
        await peer.head()
        await peer.send(begin)
        await asyncio.sleep(0.02)
        await peer.send(b"3\r\nbad\r\n")
        await peer.send(b"4\r\nmore\r\n0\r\n\r\n")

    async with serving(serve) as (transport, _):
        with pytest.raises(type(error), match="mine") as caught:
            async with transport.stream(WATCH) as stream:
                await deliver(stream, take)
    assert caught.value is error
    assert len(seen) == 1


@pytest.mark.parametrize("fails_at", [1, 2])
async def test_a_failure_of_the_function_wakes_a_stream_that_stays_open(fails_at: int) -> None:
    """A watch whose function fails ends at once and closes the connection, although the server sends nothing more."""
    seen, is_gone = list[bytes](), asyncio.Event()

    def take(chunk: bytes) -> None:
        seen.append(chunk)
        if len(seen) == fails_at:
            raise ValueError("mine")

    async def serve(peer: Peer) -> None:
        await peer.head()
        try:
            await peer.send(CHUNKED + b"3\r\none\r\n")
            while not seen:
                await asyncio.sleep(0)
            if fails_at == 2:
                await peer.send(b"3\r\ntwo\r\n")
            await peer.reader.read()
        finally:
            is_gone.set()

    async with serving(serve) as (transport, _):
        with pytest.raises(ValueError, match="mine"):
            async with asyncio.timeout(5), transport.stream(WATCH) as stream:
                await deliver(stream, take)
        async with asyncio.timeout(5):
            await is_gone.wait()
    assert len(seen) == fails_at


async def test_a_connection_that_broke_before_is_named() -> None:
    """A stream that broke between its head and the delivery of its body is a StreamBroken that names the server."""

    async def serve(peer: Peer) -> None:
        await peer.head()
        await peer.send(CHUNKED + b"3\r\none\r\n")
        peer.reset()

    async with serving(serve) as (transport, server), transport.stream(WATCH) as stream:
        while stream._content.exception() is None:  # type: ignore[attr-defined]  # until aiohttp has noticed
            await asyncio.sleep(0)
        with pytest.raises(StreamBroken, match=server.url):
            await deliver(stream, lambda _chunk: None)


async def test_a_connection_is_used_again_afterwards() -> None:
    """The connection is reused, and the next streams arrive complete, each at its own reader."""
    seen: list[list[bytes]] = []
    async with serving(answering(WHOLE)) as (transport, server):
        for _ in range(3):
            async with transport.stream(WATCH) as stream:
                seen.append([])
                await deliver(stream, seen[-1].append)
            async with transport.stream(WATCH) as stream:
                seen.append([chunk async for chunk in stream.chunks()])
        assert server.connections == 1
    assert seen == [[b"a"]] * 6


async def test_who_gives_up_cuts_the_connection() -> None:
    """Cancelling a stream, as after a watch's idle timeout, closes its connection."""
    gone, seen = asyncio.Event(), list[bytes]()
    limit = asyncio.timeout(None)

    async def serve(peer: Peer) -> None:
        await peer.head()
        await peer.send(CHUNKED + b"1\r\na\r\n")
        await peer.reader.read()
        gone.set()

    def take(chunk: bytes) -> None:
        seen.append(chunk)
        limit.reschedule(asyncio.get_running_loop().time())

    async with serving(serve) as (transport, _):
        with pytest.raises(TimeoutError):
            async with limit, transport.stream(WATCH) as stream:
                await deliver(stream, take)
        await gone.wait()
    assert seen == [b"a"]


async def test_compressed_bodies_are_handed_over_as_they_were() -> None:
    """Compressed bodies are decoded; empty pieces are not delivered."""
    packed = gzip.compress(LINE)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    seen: list[bytes] = []
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    async with serving(answering(head + body)) as (transport, _), transport.stream(WATCH) as stream:
        await deliver(stream, seen.append)
    assert b"".join(seen) == LINE
    assert all(seen)
