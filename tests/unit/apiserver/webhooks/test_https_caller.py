"""Webhook calls over HTTPS: trusted certificates, paths, redirects."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from pyctrl.apiserver._webhooks import (
    HttpsCaller,
    ServiceReference,
    WebhookCallFailed,
    WebhookClient,
    WebhookCredentials,
)
from tests.unit.client._authority import Authority, Issued, load_chain

pytestmark = pytest.mark.real_time  # sockets

CLUSTER = Authority()
SERVICE = "hooks.default.svc"


@asynccontextmanager
async def serving(issued: Issued) -> AsyncIterator[tuple[int, list[tuple[str, str, str]]]]:
    """Serve a webhook that redirects by its path; yield its port and the received requests."""
    seen: list[tuple[str, str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append((request.method, request.path, await request.text()))
        steps = [step for step in request.path.split("/") if step.isdigit()]
        if not steps:
            return web.json_response({"method": request.method})
        location = request.path.replace(f"/{steps[0]}", "", 1)
        return web.Response(status=int(steps[0]), headers={"Location": location or "/"})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_chain(context, issued)
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        yield runner.addresses[0][1], seen
    finally:
        await runner.cleanup()


async def test_credentials_are_presented() -> None:
    """The headers and the client certificate of the server reach the webhook."""
    issued, mine = CLUSTER.server("localhost"), CLUSTER.client("kube-apiserver")
    seen: list[tuple[str | None, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        assert request.transport is not None
        certificate = request.transport.get_extra_info("peercert")
        seen.append((request.headers.get("Authorization"), dict(each[0] for each in certificate["subject"])))
        return web.json_response({})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_chain(context, issued)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=CLUSTER.pem.decode())
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    port = runner.addresses[0][1]
    credentials = WebhookCredentials(
        headers=(("Authorization", "Bearer t"),), certificate=mine.certificate, key=mine.key
    )
    try:
        await client(port).post(by_url(port, CLUSTER.pem), {}, 5, credentials)
    finally:
        await runner.cleanup()
    assert seen == [("Bearer t", {"commonName": "kube-apiserver"})]


def client(port: int) -> WebhookClient:
    """Return a client that resolves any service to a local port."""

    def resolve(service: ServiceReference) -> tuple[str, int]:
        return "127.0.0.1", port

    return WebhookClient(HttpsCaller(resolve))


def by_url(port: int, ca: bytes, path: str = "/review") -> dict[str, Any]:
    return {"url": f"https://localhost:{port}{path}", "caBundle": base64.b64encode(ca).decode()}


def by_service(ca: bytes, path: str = "/review") -> dict[str, Any]:
    service = {"namespace": "default", "name": "hooks", "path": path}
    return {"service": service, "caBundle": base64.b64encode(ca).decode()}


async def test_a_bundle_may_be_the_servers_own_certificate() -> None:
    """As in Go, any certificate of the bundle is a root; envtest and many charts install the leaf."""
    issued, other = CLUSTER.server("localhost"), CLUSTER.server("localhost")
    async with serving(issued) as (port, _):
        assert await client(port).post(by_url(port, issued.certificate), {}, 5) == {"method": "POST"}
        with pytest.raises(WebhookCallFailed, match="certificate signed by unknown authority"):
            await client(port).post(by_url(port, other.certificate), {}, 5)


async def test_a_leaf_that_is_trusted_still_has_to_have_the_name() -> None:
    """A trusted certificate must be valid for the host."""
    issued = CLUSTER.server("elsewhere")
    async with serving(issued) as (port, _):
        with pytest.raises(WebhookCallFailed, match="not valid for localhost"):
            await client(port).post(by_url(port, issued.certificate), {}, 5)


@pytest.mark.parametrize(
    ("path", "asked"),
    [("", "/"), ("/", "/"), ("//review", "/review"), ("/a//b/", "/a/b"), ("/a/../b", "/b"), ("/a b", "/a b")],
)
async def test_paths_are_cleaned(path: str, asked: str) -> None:
    """Paths are normalized as by client-go's REST client: `//review` becomes /review."""
    async with serving(CLUSTER.server(SERVICE)) as (port, seen):
        await client(port).post(by_service(CLUSTER.pem, path), {}, 5)
    async with serving(CLUSTER.server("localhost")) as (port, also):
        await client(port).post(by_url(port, CLUSTER.pem, path), {}, 5)
    assert [path for _, path, _ in (*seen, *also)] == [asked, asked]


@pytest.mark.parametrize(
    ("status", "method", "body"),
    [(301, "GET", ""), (302, "GET", ""), (303, "GET", ""), (307, "POST", "{}"), (308, "POST", "{}")],
)
@pytest.mark.parametrize("is_service", [False, True])
async def test_redirects_are_followed(status: int, method: str, body: str, is_service: bool) -> None:
    """As in net/http: 307 and 308 repeat the POST, others become a GET; a service keeps its host."""
    async with serving(CLUSTER.server("localhost", SERVICE)) as (port, seen):
        path = f"/{status}/review"
        config = by_service(CLUSTER.pem, path) if is_service else by_url(port, CLUSTER.pem, path)
        assert await client(port).post(config, {}, 5) == {"method": method}
    assert seen == [("POST", f"/{status}/review", "{}"), (method, "/review", body)]


async def test_redirects_have_an_end() -> None:
    """At most ten requests are made; the error has the next URL."""
    async with serving(CLUSTER.server("localhost")) as (port, seen):
        url = f"https://localhost:{port}/x"
        with pytest.raises(WebhookCallFailed) as failed:
            await client(port).post(by_url(port, CLUSTER.pem, "/307" * 10 + "/x"), {}, 5)
    assert str(failed.value) == f'Post "{url}": stopped after 10 redirects'
    assert len(seen) == 10


async def test_an_alert_of_the_server_is_reported() -> None:
    """A webhook that has no certificate yet ends the handshake with an alert, which the response names as Go does."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(bytes([21, 3, 3, 0, 2, 2, 80]))  # an alert: fatal, internal_error
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(WebhookCallFailed, match="remote error: tls: internal error"):
            await client(port).post(by_url(port, CLUSTER.server("localhost").certificate), {}, 5)
