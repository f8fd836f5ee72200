"""Timeouts of a connection, in virtual time, with a simulated transport."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from pyctrl.apiserver import Peer, Response
from pyctrl.apiserver._http.connection import HTTPConnection
from pyctrl.apiserver._http.head import RequestHead

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Client(asyncio.Transport):
    """A client and its transport; the client reads on command."""

    def __init__(self, answer: Response | None = None) -> None:
        super().__init__()
        self._reply = answer or Response(status=200, body=b"ok")
        self.received = 0
        self.ended_at: float | None = None
        self.unread = 0
        self.pauses: list[str] = []
        self.is_ready = asyncio.Event()  # to respond
        self.is_ready.set()
        self._living: set[HTTPConnection] = set()
        self.connection = HTTPConnection(self._answer, self._living)
        self.connection.connection_made(self)

    async def _answer(self, head: RequestHead, body: bytes, peer: Peer) -> Response:
        await self.is_ready.wait()
        return self._reply

    def pause_reading(self) -> None:
        self.pauses.append("pause")

    def resume_reading(self) -> None:
        self.pauses.append("resume")

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.received += len(data)
        self.unread += len(data)
        if self.unread > 1000:
            self.connection.pause_writing()

    def read(self, count: int) -> None:
        """Read some of the written bytes."""
        self.unread -= count
        if self.unread <= 1000:
            self.connection.resume_writing()

    def get_write_buffer_size(self) -> int:
        return self.unread

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        if self.ended_at is None:
            self.ended_at = asyncio.get_running_loop().time()
            asyncio.get_running_loop().call_soon(self.connection.connection_lost, None)

    async def end(self) -> float:
        """Wait until the server has ended the connection; return the seconds."""
        begun = asyncio.get_running_loop().time()
        await asyncio.wait([self.connection.task])
        await asyncio.sleep(0)
        assert self._living == set()
        assert self.ended_at is not None
        return self.ended_at - begun


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [
        (b"", 90),
        (GET, 90),
        (b"GET / HT", 32),
        (GET + b"GET", 32),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n1234", 60),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n12", 60),
    ],
    ids=["nothing", "a request", "half a head", "half of the next", "half a body", "half a chunk"],
)
async def test_a_client_that_sends_no_more_is_left(sent: bytes, seconds: int) -> None:
    """An idle connection is closed, sooner after an incomplete request."""
    client = Client()
    client.connection.data_received(sent)
    assert await client.end() == pytest.approx(seconds, abs=0.1)


async def test_a_client_that_dribbles_is_left_all_the_same() -> None:
    """A body has one minute, even while bytes arrive."""
    client = Client()
    client.connection.data_received(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(59):
        await asyncio.sleep(1)
        client.connection.data_received(b".")
    assert client.ended_at is None
    assert await client.end() == pytest.approx(1, abs=0.1)


def stream(pieces: list[int]) -> Response:
    async def body() -> AsyncGenerator[bytes, None]:
        try:
            for number in range(1000):
                pieces.append(number)
                yield bytes(500)
        finally:
            pieces.append(-1)

    return Response(status=200, body=body())


async def test_a_reader_that_has_stopped_is_cut_off() -> None:
    """A watch pauses while its client does not read, and ends after the timeout."""
    pieces: list[int] = []
    client = Client(stream(pieces))
    client.connection.data_received(GET)
    assert await client.end() == pytest.approx(30, abs=0.1)
    assert pieces == [0, 1, -1]


async def test_a_slow_reader_is_not_cut_off() -> None:
    """A client that reads slowly gets the whole response."""
    pieces: list[int] = []
    client = Client(stream(pieces))
    client.connection.data_received(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    while client.ended_at is None:
        await asyncio.sleep(20)
        client.read(min(client.unread, 400))
    assert pieces[-2:] == [999, -1]
    assert client.received > 500_000


async def test_what_is_sent_ahead_is_left_with_the_client() -> None:
    """While a response is prepared, further requests are buffered up to a limit."""
    client = Client()
    client.is_ready.clear()
    client.connection.data_received(GET)
    await asyncio.sleep(1)
    client.connection.data_received(b"x" * 70_000)
    assert client.pauses == ["pause"]
    client.is_ready.set()
    await asyncio.sleep(1)
    assert client.pauses == ["pause", "resume"]
    await client.end()
