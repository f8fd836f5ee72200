"""The in-process transport behaves like a network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pyctrl.client import BearerToken, Headers, HttpRequest, Impersonation, InProcessTransport
from pyctrl.errors import ConnectionFailed, RequestTimeout, StreamBroken
from tests.unit.client._fake_server import Asked, FakeServer, Reply

GET = HttpRequest(method="GET", path="/x")
WATCH = HttpRequest(method="GET", path="/x", timeout=None)


async def forever() -> Any:
    await asyncio.Event().wait()


async def test_chunks_flow_as_they_come(server: FakeServer) -> None:
    """The reader gets chunks of a stream while the application still produces others."""
    produced: list[int] = []

    async def body() -> AsyncIterator[bytes]:
        for n in range(3):
            produced.append(n)
            yield b"%d" % n

    server.reply(body())
    seen = []
    async with InProcessTransport(server).stream(WATCH) as stream:
        async for chunk in stream.chunks():
            seen.append((chunk, len(produced)))

    assert seen == [(b"0", 1), (b"1", 2), (b"2", 3)]


async def test_whole_answers_and_streams_mix(server: FakeServer) -> None:
    """A stream can be read as a whole, and a whole response as a stream."""

    async def body() -> AsyncIterator[bytes]:
        yield b"a"
        yield b""
        yield b"b"

    server.reply(body())
    server.reply(b"whole")
    transport = InProcessTransport(server)

    assert (await transport.request(GET)).body == b"ab"
    async with transport.stream(GET) as stream:
        assert [chunk async for chunk in stream.chunks()] == [b"whole"]


async def test_cancelling_a_reader_closes_the_answer(server: FakeServer) -> None:
    """When the reading task is cancelled, the application's iterator is closed before the task ends."""
    closed = asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        try:
            yield b"first"
            await forever()
        finally:
            closed.set()

    server.reply(body())

    async def read() -> None:
        async with InProcessTransport(server).stream(WATCH) as stream:
            async for _ in stream.chunks():
                pass

    task = asyncio.create_task(read())
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()


async def test_cancelling_a_request_cancels_its_handler(server: FakeServer) -> None:
    """Cancelling the requesting task cancels the handler."""
    cancelled = []

    async def handler(_: object) -> Any:
        try:
            await forever()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    server.handler = handler
    task = asyncio.create_task(InProcessTransport(server).request(GET))
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled == [True]


async def test_timeout(server: FakeServer) -> None:
    """A late response is a RequestTimeout at exactly the timeout."""

    async def handler(_: object) -> Any:
        await forever()

    server.handler = handler
    loop = asyncio.get_running_loop()
    started = loop.time()

    with pytest.raises(RequestTimeout, match="GET /x"):
        await InProcessTransport(server).request(HttpRequest(method="GET", path="/x", timeout=7))
    assert loop.time() - started == 7


async def test_head_timeout(server: FakeServer) -> None:
    """A stream whose head does not arrive within 30 seconds fails, even without a timeout."""

    async def handler(_: object) -> Any:
        await forever()

    server.handler = handler
    with pytest.raises(RequestTimeout):
        async with InProcessTransport(server).stream(WATCH):
            pass


async def test_idle_timeout(server: FakeServer) -> None:
    """An idle stream fails; a stream with regular chunks does not, however long it lasts."""

    async def body() -> AsyncIterator[bytes]:
        for _ in range(5):
            await asyncio.sleep(9)
            yield b"x"
        await forever()

    server.reply(body())
    loop = asyncio.get_running_loop()
    started = loop.time()
    seen = 0

    async with InProcessTransport(server).stream(WATCH, idle_timeout=10) as stream:
        with pytest.raises(RequestTimeout):
            async for _ in stream.chunks():
                seen += 1

    assert (seen, loop.time() - started) == (5, 55)


async def test_a_handler_that_raises(server: FakeServer) -> None:
    """An exception of the handler is a broken connection with the exception as cause."""
    server.line.append(KeyError("bug"))

    with pytest.raises(StreamBroken, match="KeyError") as caught:
        await InProcessTransport(server).request(GET)
    assert isinstance(caught.value.__cause__, KeyError)


async def test_a_body_that_raises(server: FakeServer) -> None:
    """An exception in a body breaks the stream after the previous chunks."""

    async def body() -> AsyncIterator[bytes]:
        yield b"x"
        raise OSError("disk")

    server.reply(body())
    seen = []
    with pytest.raises(StreamBroken, match="disk"):
        async with InProcessTransport(server).stream(WATCH) as stream:
            async for chunk in stream.chunks():
                seen.append(chunk)
    assert seen == [b"x"]


async def test_a_timeout_of_the_application_is_its_own(server: FakeServer) -> None:
    """A TimeoutError of the application is not a RequestTimeout."""
    server.line.append(TimeoutError("inner"))

    with pytest.raises(StreamBroken, match="inner"):
        await InProcessTransport(server).request(GET)


async def test_other_tasks_run_meanwhile(server: FakeServer) -> None:
    """Every request lets other tasks run, so that a loop of requests does not starve them."""
    ran = asyncio.Event()
    asyncio.get_running_loop().call_soon(ran.set)
    server.reply()

    await InProcessTransport(server).request(GET)

    assert ran.is_set()


async def test_who_asks(server: FakeServer) -> None:
    """Requests have the login's credentials; impersonation on a request replaces all of the login's."""
    transport = InProcessTransport(
        server, credentials=BearerToken("t"), impersonate=Impersonation(user="a", groups=("g", "h"))
    )
    server.reply()
    server.reply()

    await transport.request(GET)
    await transport.request(HttpRequest(method="GET", path="/x", headers={"Impersonate-User": "b"}))

    assert server.asked[0].headers["authorization"] == "Bearer t"
    assert server.asked[0].headers.get_all("Impersonate-Group") == ["g", "h"]
    assert server.asked[1].headers["Impersonate-User"] == "b"
    assert server.asked[1].headers.get_all("Impersonate-Group") == []


class ChangingToken:
    """Credentials that are new for each request."""

    def __init__(self) -> None:
        self._requests = 0

    async def authorization(self) -> str:
        self._requests += 1
        return f"Bearer {self._requests}"

    async def refresh(self, rejected: str | None = None) -> bool:
        return False


async def test_kept_headers_follow_the_login_and_the_request(server: FakeServer) -> None:
    """Requests with the same headers have the current credentials, and the current values of a dict that changes."""
    transport = InProcessTransport(server, credentials=ChangingToken())
    kept, changing = Headers([("Accept", "a")]), {"Accept": "b"}
    for headers in (kept, kept, changing):
        server.reply()
        await transport.request(HttpRequest(method="GET", path="/x", headers=headers))
    transport = InProcessTransport(server)
    for accept in ("c", "d"):
        changing["Accept"] = accept
        server.reply()
        await transport.request(HttpRequest(method="GET", path="/x", headers=changing))

    assert [each.headers.get("Authorization") for each in server.asked[:3]] == ["Bearer 1", "Bearer 2", "Bearer 3"]
    assert [each.headers["Accept"] for each in server.asked] == ["a", "a", "b", "c", "d"]


async def test_an_answer_that_waits_is_cancelled_with_its_caller(server: FakeServer) -> None:
    """The handler of a request that waits sees the cancellation of the caller, and results of what it waits for."""
    seen: list[str] = []
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def handler(asked: Asked) -> Reply:
        try:
            seen.append(await ready)
            seen.append(str(await asyncio.sleep(1, "slept")))
            await forever()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return Reply()

    server.handler = handler
    task = asyncio.create_task(InProcessTransport(server).request(WATCH))
    await asyncio.sleep(0.1)
    ready.set_result("ready")
    await asyncio.sleep(2)
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert seen == ["ready", "slept", "cancelled"]


async def test_closed(server: FakeServer) -> None:
    """A closed transport refuses requests."""
    transport = InProcessTransport(server)
    await transport.aclose()
    await transport.aclose()

    with pytest.raises(ConnectionFailed, match="closed"):
        await transport.request(GET)
