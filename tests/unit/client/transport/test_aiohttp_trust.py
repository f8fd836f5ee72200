"""Error messages about a server with an untrusted certificate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from pyctrl.client import Config
from pyctrl.client._transport.aiohttp import AiohttpTransport
from pyctrl.client._transport.transport import HttpRequest
from pyctrl.errors import ConnectionFailed
from tests.unit.client._authority import Authority

pytestmark = pytest.mark.real_time  # sockets


@asynccontextmanager
async def server_of(authority: Authority) -> AsyncIterator[str]:
    """Serve TLS as far as the handshake."""

    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    tls = authority.server_context("127.0.0.1")
    async with await asyncio.start_server(close, "127.0.0.1", 0, ssl=tls) as server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def refusal(config: Config) -> str:
    transport = AiohttpTransport(config)
    with pytest.raises(ConnectionFailed) as caught:
        await transport.request(HttpRequest(method="GET", path="/version"))
    await transport.aclose()
    return str(caught.value)


async def test_a_token_without_an_authority_is_told_what_is_missing() -> None:
    """The error for a token without authority says that the cluster's authority is missing, and what to add."""
    async with server_of(Authority("cluster")) as url:
        said = await refusal(Config.from_token(url, "t1"))
    assert f"the API server at {url} is not trusted" in said
    assert "the login has no certificate authority" in said
    assert "add its ca.crt (ca= in code, certificate-authority in a kubeconfig)" in said


async def test_a_wrong_authority_is_not_a_missing_one() -> None:
    """With another cluster's authority the error suggests that cause; an error about a wrong name does not."""
    authority = Authority("cluster")
    async with server_of(authority) as url:
        other = await refusal(Config.from_token(url, "t1", ca=Authority("other").pem))
        right = Config.from_token(url, "t1", ca=authority.pem)
        named = await refusal(replace(right, tls=replace(right.tls, server_name="elsewhere")))
    assert "does the login's certificate authority belong to this cluster?" in other
    assert "elsewhere" in named
    assert "has no certificate authority" not in other + named
