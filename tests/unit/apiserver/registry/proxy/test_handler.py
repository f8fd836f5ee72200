"""The proxy of pods and services: requests reach the ports of scripts, and errors are kube-apiserver's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pyctrl._clock import now
from pyctrl._headers import Headers
from pyctrl.api import Key
from pyctrl.client import Client, HttpRequest, HttpResponse, wait_for
from pyctrl.cluster import Cluster, Kubelet, Script
from pyctrl.errors import ApiError
from pyctrl.kinds.core.v1 import Endpoints, Pod, Service

PODS, SERVICES = "/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/services"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with the request; /away and /here are redirects, /hangup is no answer, /slow is a stream, /echo echoes."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = next((int(line[16:]) for line in head.split("\r\n") if line.startswith("Content-Length: ")), 0)
    body = head.encode() + await reader.readexactly(length)
    path = head.split(" ")[1]
    if path == "/hangup":
        return
    if path in ("/slow", "/echo"):
        await (stream(writer) if path == "/slow" else echo(reader, writer))
        return
    if path in ("/away", "/here"):
        target = b"http://elsewhere/x" if path == "/away" else b"/other/?a=b"
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: " + target + b"\r\nContent-Length: 0\r\n\r\n")
    else:
        writer.write(b"HTTP/1.1 200 OK\r\nX-Own: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
        writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    await writer.drain()


async def stream(writer: asyncio.StreamWriter) -> None:
    """Answer with one line each minute."""
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for number in range(3):
        writer.write(b"2\r\n%d\n\r\n" % number)
        await asyncio.sleep(60)
    writer.write(b"0\r\n\r\n")


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Switch protocols, and send everything back."""
    writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
    while data := await reader.read(100):
        writer.write(data)


@asynccontextmanager
async def serving() -> AsyncIterator[Client]:
    """Run pod p, which listens at 8080, behind the service s, and a service without pods."""
    cluster = Cluster(kubelet=Kubelet(script=lambda *_: Script(ports={8080: serve})))
    async with cluster, cluster.client() as client:
        container = {"name": "c", "image": "i", "ports": [{"containerPort": 8080}]}
        metadata = {"name": "p", "namespace": "default", "labels": {"app": "p"}}
        await client.create(Pod.from_wire({"metadata": metadata, "spec": {"containers": [container]}}))
        for name, app in (("s", "p"), ("empty", "none")):
            port = {"name": "http", "port": 80, "targetPort": 8080}
            spec = {"selector": {"app": app}, "ports": [port]}
            await client.create(Service.from_wire({"metadata": {"name": name, "namespace": "default"}, "spec": spec}))
        await wait_for(client, Endpoints, Key("default", "s"), lambda each: any(one.addresses for one in each.subsets))
        yield client


async def ask(client: Client, method: str, path: str, body: bytes | None = None, **query: str) -> HttpResponse:
    """Send a request; raise the error of the response."""
    request = HttpRequest(method=method, path=path, query=tuple(query.items()), body=body)
    transport: Any = client.connection.transport
    response: HttpResponse = await transport.request(request)
    return response


async def refusal(client: Client, method: str, path: str) -> tuple[int, str]:
    """Return the code and the message of an error."""
    with pytest.raises(ApiError) as caught:
        await client.connection.rest.send(HttpRequest(method=method, path=path))
    return caught.value.code, caught.value.message


@pytest.mark.parametrize("path", [f"{PODS}/p/proxy", f"{PODS}/p:8080/proxy", f"{SERVICES}/s:80/proxy"])
async def test_a_request_reaches_the_pod(path: str) -> None:
    """Method, path, query and body are those of the client; credentials are left out."""
    async with serving() as client:
        response = await ask(client, "POST", f"{path}/a/b%20c", b"hello", q="1")
    assert (response.status, response.headers["X-Own"]) == (200, "1")
    head, _, body = response.body.decode().partition("\r\n\r\n")
    assert head.startswith("POST /a/b%20c?q=1 HTTP/1.1\r\n")
    assert f"X-Forwarded-Uri: {path}/a/b%20c" in head
    assert "authorization" not in head.lower()
    assert body == "hello"


async def test_a_stream_arrives_while_it_is_written() -> None:
    """It has no time limit."""
    async with serving() as client:
        request, started, received = HttpRequest(method="GET", path=f"{PODS}/p/proxy/slow", timeout=None), now(), []
        async with client.connection.transport.stream(request) as response:
            async for chunk in response.chunks():
                received.append((chunk, round((now() - started).total_seconds())))
    assert received == [(b"0\n", 0), (b"1\n", 60), (b"2\n", 120)]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_connection_can_be_upgraded(method: str) -> None:
    """The connection then carries what client and pod send."""
    async with serving() as client:
        headers = Headers([("Connection", "Upgrade"), ("Upgrade", "echo")])
        request = HttpRequest(method=method, path=f"{SERVICES}/s:80/proxy/echo", headers=headers)
        async with client.connection.transport.stream(request) as connection:
            assert connection.status == 101
            assert connection.headers["Upgrade"] == "echo"
            chunks = connection.chunks()
            await connection.write(b"hello")  # type: ignore[attr-defined]
            assert await anext(chunks) == b"hello"
        for path, answer in (("other", 500), ("hangup", 500)):
            request = HttpRequest(method=method, path=f"{PODS}/p/proxy/{path}", headers=headers)
            async with client.connection.transport.stream(request) as response:
                assert response.status == answer


async def test_headers_may_be_repeated() -> None:
    """All of them reach the pod; those of the connection do not."""
    headers = Headers(
        [("X-A", "1"), ("X-A", "2"), ("Connection", "x-b"), ("X-B", "3"), ("X-Forwarded-For", "10.0.0.9")]
    )
    async with serving() as client:
        request = HttpRequest(method="GET", path=f"{PODS}/p/proxy/a", headers=headers)
        head = (await client.connection.transport.request(request)).body.decode()
    assert "X-A: 1\r\nX-A: 2\r\n" in head
    assert "X-B" not in head
    assert "X-Forwarded-For: 10.0.0.9\r\n" in head


async def test_paths_are_cleaned() -> None:
    """As by kube-apiserver, which joins them with the location; a trailing slash stays."""
    async with serving() as client:
        body = (await ask(client, "GET", f"{PODS}/p/proxy/a/../b/./(c)/")).body
        assert body.startswith(b"GET /b/%28c%29/ HTTP/1.1\r\n")


async def test_the_root_ends_with_a_slash() -> None:
    """A GET of the subresource itself is a redirect, another method is sent to the root."""
    async with serving() as client:
        response = await ask(client, "GET", f"{PODS}/p/proxy", a="b")
        assert (response.status, response.headers["Location"]) == (301, f"{PODS}/p/proxy/?a=b")
        assert (await ask(client, "PUT", f"{PODS}/p/proxy")).body.startswith(b"PUT / HTTP/1.1")


async def test_redirects_stay_below_the_proxy() -> None:
    """A redirect to a path of the same host gets the prefix of the proxy; others stay as they are."""
    async with serving() as client:
        here = await ask(client, "GET", f"{SERVICES}/s:http/proxy/here")
        assert (here.status, here.headers["Location"]) == (302, f"{SERVICES}/s:http/proxy/other/?a=b")
        assert (await ask(client, "GET", f"{PODS}/p/proxy/away")).headers["Location"] == "http://elsewhere/x"


async def test_what_cannot_be_reached() -> None:
    """Malformed names are 400, unknown ones 404, and services without a pod 503."""
    async with serving() as client:
        for method, path, answer in (
            ("GET", f"{PODS}/a:b:c:d/proxy/", (400, 'invalid pod request "a:b:c:d"')),
            ("GET", f"{PODS}/ftp:p:80/proxy/", (400, 'invalid pod request "ftp:p:80"')),
            ("DELETE", f"{PODS}/none/proxy/x", (404, 'pods "none" not found')),
            ("PATCH", f"{SERVICES}/none/proxy/x", (404, 'services "none" not found')),
            ("GET", f"{SERVICES}/s/proxy/", (503, 'no endpoints available for service "s"')),
            ("GET", f"{SERVICES}/s:81/proxy/", (503, 'no service port 81 found for service "s"')),
            ("GET", f"{SERVICES}/empty:80/proxy/", (503, 'no endpoints available for service "empty"')),
            ("GET", f"{PODS}/p/proxy/hangup", (503, "error trying to reach service: EOF")),
        ):
            code, message = await refusal(client, method, path)
            assert (code, message) == answer
        code, message = await refusal(client, "GET", f"{PODS}/p:9/proxy/")
        assert code == 503
        assert message.startswith("error trying to reach service: dial tcp 10.244.")
        assert message.endswith(":9: connect: connection refused")
