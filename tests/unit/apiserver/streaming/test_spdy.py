"""SPDY handshakes, directly and in WebSockets."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from pyctrl._pipes import PipeConnection
from pyctrl._spdy import SPDYConnection
from pyctrl._tasks import end, unwrapped
from pyctrl._websocket import Opcode
from pyctrl._websocket_connection import WebSocketConnection, WebSocketTunnel
from pyctrl.apiserver import Response, Upgrade
from pyctrl.apiserver._streaming.spdy import is_tunnelling_request, spdy_response, tunnelled_spdy_response
from pyctrl.testing import run_virtual

UPGRADE = {"connection": "Upgrade", "upgrade": "SPDY/3.1"}
WEBSOCKET = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13", "sec-websocket-key": "k"}


async def serve(connection: SPDYConnection, protocol: str) -> None:
    """Accept all streams, and send the protocol in each."""
    with unwrapped():
        await serve_streams(connection, protocol)


async def serve_streams(connection: SPDYConnection, protocol: str) -> None:
    async with asyncio.TaskGroup() as tasks:
        await connection.run(lambda stream: tasks.create_task(stream.write(protocol.encode())) is not None)


def ask(**headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return spdy_response({**UPGRADE, **named}, ("b.k8s.io", "a.k8s.io"), serve)


@pytest.mark.parametrize(
    ("headers", "status", "message"),
    [
        ({}, 400, "unable to upgrade: header X-Stream-Protocol-Version does not exist in request with 2 headers"),
        (
            {"x_stream_protocol_version": ", "},
            400,
            "unable to upgrade: header X-Stream-Protocol-Version contains [, ], but no valid protocols",
        ),
        (
            {"x_stream_protocol_version": "c"},
            403,
            "unable to upgrade: unable to negotiate protocol: client supports [c], server accepts [b.k8s.io a.k8s.io]",
        ),
        (
            {"x_stream_protocol_version": "a.k8s.io", "upgrade": "h2c"},
            400,
            "unable to upgrade: missing upgrade headers in request",
        ),
    ],
)
def test_handshakes_that_fail(headers: dict[str, str], status: int, message: str) -> None:
    """The errors are those of a kubelet."""
    response = ask(**headers)
    assert (response.status, response.body) == (status, message.encode())
    if status == 403:
        assert [value for name, value in response.headers if name.startswith("X-Accepted")] == ["b.k8s.io", "a.k8s.io"]


async def first_bytes(
    response: Response, client: PipeConnection, server: PipeConnection, spdy: SPDYConnection
) -> bytes:
    """Open a stream to a response, and return what the server sends in it."""
    assert isinstance(response.body, Upgrade)
    loop = asyncio.get_running_loop()
    tasks = [asyncio.ensure_future(response.body.serve(server)), loop.create_task(spdy.run())]
    try:
        return await (await spdy.open({})).received.read()
    finally:
        client.close()
        await end(tasks)


def test_the_first_supported_protocol_is_selected() -> None:
    """The order is the client's, and the connection speaks SPDY."""

    async def main() -> None:
        response = ask(x_stream_protocol_version="x, a.k8s.io, b.k8s.io")
        assert ("X-Stream-Protocol-Version", "a.k8s.io") in response.headers
        client, server = PipeConnection.pair()
        assert await first_bytes(response, client, server, SPDYConnection(client, is_client=True)) == b"a.k8s.io"

    run_virtual(main())


def test_spdy_is_tunnelled_in_a_websocket() -> None:
    """The WebSocket protocol names the one of SPDY, and its messages carry the frames."""

    async def main() -> None:
        headers = {**WEBSOCKET, "sec-websocket-protocol": "SPDY/3.1+a.k8s.io"}
        assert is_tunnelling_request(headers)
        response = tunnelled_spdy_response(headers, ("a.k8s.io",), serve)
        assert ("Sec-WebSocket-Protocol", "SPDY/3.1+a.k8s.io") in response.headers
        client, server = PipeConnection.pair()
        tunnel = WebSocketTunnel(WebSocketConnection(client, mask=Random(1)))
        assert await first_bytes(response, client, server, SPDYConnection(tunnel, is_client=True)) == b"a.k8s.io"

    run_virtual(main())


def test_a_tunnel_of_an_unknown_protocol_is_refused() -> None:
    """Only `SPDY/3.1+` names a tunnel, and its protocol must be supported."""
    assert not is_tunnelling_request({**WEBSOCKET, "sec-websocket-protocol": "v4.channel.k8s.io"})
    headers = {**WEBSOCKET, "sec-websocket-protocol": "SPDY/3.1+c.k8s.io"}
    assert tunnelled_spdy_response(headers, ("a.k8s.io",), serve).status == 403


def test_bytes_that_are_not_spdy_close_the_tunnel() -> None:
    """A client that does not speak SPDY is disconnected."""

    async def main() -> None:
        headers = {**WEBSOCKET, "sec-websocket-protocol": "SPDY/3.1+a.k8s.io"}
        response = tunnelled_spdy_response(headers, ("a.k8s.io",), serve)
        assert isinstance(response.body, Upgrade)
        client, server = PipeConnection.pair()
        socket = WebSocketConnection(client, mask=Random(1))
        await socket.send(Opcode.BINARY, b"\x80\x02\0\0\0\0\0\0")
        serving = asyncio.ensure_future(response.body.serve(server))
        assert [each async for each in socket.messages()] == []
        client.close()
        await end([serving])

    run_virtual(main())
