"""Streamed responses of an ApiClient: watches, logs, and their end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import pytest
from kubernetes_asyncio import watch
from kubernetes_asyncio.client import ApiException, CoreV1Api, V1Pod

from pyctrl.client import Config
from pyctrl.errors import StreamBroken
from tests.unit.client._fake_server import Asked, FakeServer, Reply

POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "resourceVersion": "7"}}
EVENT = {"type": "ADDED", "object": POD}


class Body:
    """A response body in chunks, which knows whether it was closed."""

    def __init__(self, *chunks: bytes, then: Callable[[], object] = lambda: None) -> None:
        self.chunks, self.then, self.closed = chunks, then, False

    async def read(self) -> AsyncIterator[bytes]:
        try:
            for chunk in self.chunks:
                yield chunk
            self.then()
        finally:
            self.closed = True


def core(server: FakeServer) -> Any:
    """Return the core API of a scripted server."""
    return CoreV1Api(Config.in_process(server).api_client())


async def test_a_watch(server: FakeServer) -> None:
    """``Watch().stream`` yields objects of the model, of lines that are cut anywhere, and ends with the response."""
    line = json.dumps(EVENT).encode() + b"\n"
    server.reply(Body(line[:20], line[20:] + line, line[:-1]).read())
    api, seen = core(server), []
    async with watch.Watch() as stream:
        async for event in stream.stream(api.list_namespaced_pod, "shop", timeout_seconds=5):
            seen.append((event["type"], type(event["object"]), event["object"].metadata.name))
    assert seen == [("ADDED", V1Pod, "a")] * 3
    assert server.asked[0].query == {"watch": "True", "timeoutSeconds": "5"}
    await api.api_client.close()


async def test_a_watch_that_expired_is_an_api_exception(server: FakeServer) -> None:
    """A refused watch raises ApiException when it is opened."""
    server.refuse(410, "Expired")
    api = core(server)
    async with watch.Watch() as stream:
        with pytest.raises(ApiException) as raised:
            async for _ in stream.stream(api.list_namespaced_pod, "shop", resource_version="1"):
                pass
    assert raised.value.status == 410
    await api.api_client.close()


async def test_the_first_line_of_a_log_may_be_late(server: FakeServer) -> None:
    """A log that is followed has no time limit, also before its first line."""

    async def quiet(_: Asked) -> Reply:
        await asyncio.sleep(600)
        return Reply(body=Body(b"one\ntw", b"o\nthree").read())

    server.handler = quiet
    api = core(server)
    response = await api.read_namespaced_pod_log("a", "shop", follow=True, _preload_content=False)
    assert [line async for line in response.content] == [b"one\n", b"two\n", b"three"]
    assert response.content.at_eof()
    await api.api_client.close()


async def test_the_ways_to_read_a_body(server: FakeServer) -> None:
    """A response is read whole, as text, as JSON, in parts of a size, or as it is received."""
    api = core(server)

    async def opened(*chunks: bytes) -> Any:
        server.reply(Body(*chunks).read(), headers=[("Content-Type", "text/plain")])
        return await api.list_namespaced_pod("shop", _preload_content=False)

    assert await (await opened(b"a", b"b")).read() == b"ab"
    assert await (await opened("é".encode())).text() == "é"
    assert await (await opened(b'{"a":', b"1}")).json() == {"a": 1}
    response = await opened(b"abc", b"de")
    assert [part async for part in response.content.iter_chunked(2)] == [b"ab", b"c", b"de"]
    assert [part async for part in (await opened(b"ab", b"c")).content.iter_any()] == [b"ab", b"c"]
    response = await opened(b"abc")
    assert (await response.content.read(2), await response.content.read()) == (b"ab", b"c")
    assert (response.status, response.reason, response.ok, response.headers["content-type"]) == (
        200,
        "OK",
        True,
        "text/plain",
    )
    await api.api_client.close()


async def test_a_body_is_closed_when_it_is_released(server: FakeServer) -> None:
    """`release` ends a response that is not read to its end, and so do its block and the end of the ApiClient."""
    api = core(server)
    bodies = [Body(b"a", b"b") for _ in range(3)]
    responses = []
    for body in bodies:
        server.reply(body.read())
        responses.append(await api.list_namespaced_pod("shop", _preload_content=False))
        await responses[-1].content.read(1)
    released, blocked, open_ = responses
    released.release()
    assert released.closed
    async with blocked:
        assert not blocked.closed
    assert [body.closed for body in bodies] == [True, True, False]
    await api.api_client.close()
    assert bodies[2].closed
    assert open_.closed


async def test_a_response_that_breaks(server: FakeServer) -> None:
    """A response that is interrupted raises what both libraries call a broken connection."""

    def reset() -> None:
        raise ConnectionResetError

    server.reply(Body(b"a\n", then=reset).read())
    api = core(server)
    response = await api.list_namespaced_pod("shop", _preload_content=False)
    assert await response.content.readline() == b"a\n"
    with pytest.raises(aiohttp.ClientPayloadError) as raised:
        await response.content.readline()
    assert isinstance(raised.value, StreamBroken)
    await api.api_client.close()
