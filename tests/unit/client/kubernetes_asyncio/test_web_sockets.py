"""The WsApiClient of kubernetes_asyncio with pyctrl's login: exec over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from kubernetes_asyncio.client import CoreV1Api

from pyctrl.apiserver import ApiServer
from pyctrl.client import Config, Impersonation
from pyctrl.errors import ConfigError, ConnectionFailed

pytestmark = pytest.mark.real_time

SUCCESS = b'\3{"status":"Success"}'


class Kubelet:
    """Answers exec: repeats its command on stdout; the first ``rejected`` tokens are refused."""

    def __init__(self, *rejected: str) -> None:
        self.rejected = set(rejected)
        self.requests: list[web.Request] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        if request.headers.get("Authorization") in self.rejected:
            return web.Response(status=401)
        socket = web.WebSocketResponse(protocols=("v4.channel.k8s.io",))
        await socket.prepare(request)
        await socket.send_bytes(b"\1" + " ".join(request.query.getall("command")).encode())
        if request.query.get("stdin") == "True":
            message = await socket.receive()
            await socket.send_bytes(b"\1" + message.data[1:])
        await socket.send_bytes(SUCCESS)
        await socket.close()
        return socket


class Numbered:
    """Credentials with a token that a rejection renews."""

    number = 0

    async def authorization(self) -> str:
        return f"Bearer {self.number}"

    async def refresh(self, rejected: str | None = None) -> bool:
        self.number += 1
        return True


@asynccontextmanager
async def serving(kubelet: Kubelet, **options: Any) -> AsyncIterator[Any]:
    """Serve exec, and yield the core API of a WsApiClient."""
    application = web.Application()
    application.router.add_get("/prefix/{path:.*}", kubelet.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    config = Config(server=f"http://127.0.0.1:{runner.addresses[0][1]}/prefix")
    try:
        async with replace(config, **options).ws_api_client(heartbeat=30) as api:
            yield CoreV1Api(api)
    finally:
        await runner.cleanup()


async def test_exec_returns_what_the_command_wrote() -> None:
    """A command runs with the login of the Config, and its output is the result."""
    kubelet = Kubelet()
    async with serving(kubelet, impersonate=Impersonation(user="jane")) as core:
        output = await core.connect_get_namespaced_pod_exec("a", "shop", command=["ls", "-l"], stdout=True)
    assert output == "ls -l"
    [request] = kubelet.requests
    assert request.path == "/prefix/api/v1/namespaces/shop/pods/a/exec"
    assert request.headers["Impersonate-User"] == "jane"
    assert request.headers["User-Agent"].startswith("pyctrl/")


async def test_exec_with_input() -> None:
    """Without preloading, the program gets the web socket, for input and for both outputs."""
    async with serving(Kubelet()) as core:
        opened = await core.connect_get_namespaced_pod_exec(
            "a", "shop", command="cat", stdin=True, stdout=True, _preload_content=False
        )
        async with opened as socket:
            assert (await socket.receive()).data == b"\1cat"
            await socket.send_bytes(b"\0hello")
            assert (await socket.receive()).data == b"\1hello"
            assert (await socket.receive()).data == SUCCESS


async def test_a_token_that_is_rejected_is_renewed() -> None:
    """A web socket that is refused with 401 is opened once more with a renewed token."""
    kubelet = Kubelet("Bearer 0")
    async with serving(kubelet, credentials=Numbered()) as core:
        assert await core.connect_get_namespaced_pod_exec("a", "shop", command="ls", stdout=True) == "ls"
    assert [request.headers["Authorization"] for request in kubelet.requests] == ["Bearer 0", "Bearer 1"]


async def test_refusals() -> None:
    """A refused handshake is aiohttp's error, as in the library; without a server it is one of both libraries."""
    async with serving(Kubelet("Bearer 0", "Bearer 1"), credentials=Numbered()) as core:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await core.connect_get_namespaced_pod_exec("a", "shop", command="ls")
    assert refused.value.status == 401

    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    async with Config(server=f"http://127.0.0.1:{port}").ws_api_client() as api:
        with pytest.raises(aiohttp.ClientConnectionError) as unreachable:
            await CoreV1Api(api).connect_get_namespaced_pod_exec("a", "shop", command="ls")
    assert isinstance(unreachable.value, ConnectionFailed)


def test_a_server_in_this_process_has_no_web_sockets() -> None:
    """For a server in this process the error says that exec needs the network."""
    with pytest.raises(ConfigError, match="an API server in this process does not have"):
        Config.in_process(ApiServer()).ws_api_client()
