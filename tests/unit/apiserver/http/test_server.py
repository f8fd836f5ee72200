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

from pyctrl.apiserver import ProxyRequest, Response, Upgrade, UpgradedConnection, serve, serve_kubelet
from pyctrl.cluster import Cluster
from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver.aggregator._remote import HOST, PATH, Remote, extended, until_available
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


async def test_a_kubelet_is_served_at_a_port_of_its_own(ask: Asker) -> None:
    """With the users of the API server; a node without a kubelet cannot be reached."""
    async with Cluster(kubelet=True) as cluster, serve_kubelet(cluster.server, "node-1", port=0) as url:
        token = {"Authorization": f"Bearer {cluster.server.loopback_token}"}
        async with aiohttp.ClientSession(url) as session, session.get("/healthz", headers=token) as answer:
            assert (answer.status, await answer.text()) == (200, "ok")
    async with serve_kubelet(ask.server, "none", port=0) as url, aiohttp.request("GET", f"{url}/healthz") as answer:
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


async def test_documents_may_be_cached(http: aiohttp.ClientSession) -> None:
    """The header of a document replaces that of other responses."""
    accept = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
    async with http.get("/apis", headers=accept) as answer:
        assert answer.headers.getall("Cache-Control") == ["public"]


class _Echo:
    """Answers as an extension API server: with an upgraded connection, or with a text."""

    async def __call__(self, request: ProxyRequest, /) -> Response:
        if not request.is_upgrade:
            headers = (("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-cache, private"))
            return Response(status=200, headers=headers, body=b'{"kind":')
        headers = (("Connection", "Upgrade"), ("Upgrade", "echo"))
        return Response(status=101, headers=headers, body=Upgrade(self.serve))

    async def serve(self, connection: UpgradedConnection) -> None:
        """Send everything back in upper case."""
        while data := await connection.read():
            await connection.write(data.upper())


@pytest.fixture
async def proxied() -> AsyncIterator[str]:
    """The URL of a server in front of an extension API server."""
    server = extended(Remote())
    async with serve(server) as url:
        await until_available(server)
        server.service_transports[HOST] = _Echo()
        yield url


async def test_a_response_of_another_server_is_not_formatted(proxied: str) -> None:
    """It has the headers of both servers."""
    async with aiohttp.ClientSession(proxied) as session, session.get(f"{PATH}/flavors") as answer:
        assert await answer.text() == '{"kind":'
        assert answer.headers.getall("Cache-Control") == ["no-cache, private"] * 2
        assert len(answer.headers.getall("Audit-Id")) == 1
        assert "X-Content-Type-Options" not in answer.headers


async def test_a_connection_to_another_server_can_be_upgraded(proxied: str) -> None:
    """After the upgrade, bytes pass in both directions."""
    port = URL(proxied).port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"GET {PATH}/flavors/a/connect HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
    writer.write(head.encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 Switching Protocols\r\n")
    writer.write(b"abc")
    assert await reader.readexactly(3) == b"ABC"
    writer.close()
