"""HTTP server: responses over sockets, streams that end with their client, and misbehaving clients."""

from __future__ import annotations

import asyncio
import io
import json
import ssl
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest
from yarl import URL

from pyctrl.apiserver import serve
from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.client._authority import Authority

pytestmark = pytest.mark.real_time  # sockets


@pytest.fixture
async def http(ask: Asker) -> AsyncIterator[aiohttp.ClientSession]:
    async with serve(ask.server) as url, aiohttp.ClientSession(url) as session:
        yield session


async def until(condition: Callable[[], bool]) -> None:
    """Run the server's side of the connection."""
    while not condition():
        await asyncio.sleep(0.001)


async def test_objects_go_in_and_come_out(http: aiohttp.ClientSession) -> None:
    """A create, a get and an error have the same responses over HTTP as in process."""
    async with http.post(CONFIGMAPS, json={"metadata": {"name": "a"}, "data": {"k": "v"}}) as answer:
        assert answer.status == 201
    async with http.get(f"{CONFIGMAPS}/a") as answer:
        assert (answer.content_type, (await answer.json())["data"]) == ("application/json", {"k": "v"})
    async with http.get(f"{CONFIGMAPS}/none") as answer:
        assert (answer.status, (await answer.json())["reason"]) == (404, "NotFound")


async def test_warnings_are_headers(http: aiohttp.ClientSession) -> None:
    """Each unknown field has a Warning header, which clients print."""
    async with http.post(CONFIGMAPS, json={"metadata": {"name": "a"}, "nosuch": 1, "other": 2}) as answer:
        assert answer.headers.getall("Warning") == [
            '299 - "unknown field \\"nosuch\\""',
            '299 - "unknown field \\"other\\""',
        ]


async def test_names_with_colons_and_escapes_reach_their_object(http: aiohttp.ClientSession) -> None:
    """An escaped name in the URL is unescaped."""
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    async with http.post(roles, json={"metadata": {"name": "a:b c"}, "rules": []}) as answer:
        assert answer.status == 201
    async with http.get(URL(f"{roles}/a%3Ab%20c", encoded=True)) as answer:
        assert answer.status == 200


async def test_a_watch_streams_and_ends_with_its_client(http: aiohttp.ClientSession, ask: Asker) -> None:
    """Events are sent at once; when the client disconnects, the server ends the watch, also without an event."""
    collection = ask.server.storage.collection("", "configmaps")
    async with http.get(CONFIGMAPS, params={"watch": "1"}) as answer:
        for name in ("a", "b"):
            ask.make(name)
            event = json.loads(await answer.content.readline())
            assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", name)
        await until(lambda: len(collection._waiters) == 1)
        answer.close()
    await until(lambda: not collection._waiters)


async def test_a_body_that_is_too_large_is_refused(http: aiohttp.ClientSession, ask: Asker) -> None:
    """A body over the limit is 413, and the server continues."""
    async with http.post(CONFIGMAPS, data=io.BytesIO(bytes(4 * 1024 * 1024))) as answer:
        assert answer.status == 413
    async with http.get("/healthz") as answer:
        assert await answer.text() == "ok"


async def test_half_a_request_harms_nobody(ask: Asker) -> None:
    """A client that disconnects within a body leaves no task and no connection."""
    async with serve(ask.server) as url:
        parts = URL(url)
        assert parts.host is not None
        assert parts.port is not None
        _, writer = await asyncio.open_connection(parts.host, parts.port)
        head = f"POST {CONFIGMAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
        writer.write(head.encode() + b'{"metadata":')
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        async with aiohttp.ClientSession(url) as session, session.get(CONFIGMAPS) as answer:
            assert (await answer.json())["items"] == []


async def test_serving_ends_although_clients_watch(ask: Asker) -> None:
    """Leaving the block ends every stream."""
    async with aiohttp.ClientSession() as session:
        async with serve(ask.server) as url:
            answer = await session.get(url + CONFIGMAPS, params={"watch": "1"})
        with pytest.raises(aiohttp.ClientError):
            await answer.content.readexactly(1)
            raise aiohttp.ClientPayloadError  # the stream may also end normally
        answer.close()


async def test_https(ask: Asker) -> None:
    """With an SSL context the server uses HTTPS."""
    authority = Authority()
    trust = ssl.create_default_context(cadata=authority.pem.decode())
    tls = authority.server_context("127.0.0.1")
    async with serve(ask.server, tls=tls) as url, aiohttp.ClientSession(url) as session:
        assert url.startswith("https://")
        async with session.get("/version", ssl=trust) as answer:
            assert (await answer.json())["major"] == "1"
