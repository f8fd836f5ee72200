"""Forwarded ports, as clients of all protocols speak it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from pyctrl._pipes import Pipe, PipeConnection
from pyctrl._spdy import SPDYConnection, SPDYStream
from pyctrl._spdy.frames import Data, FrameReader, FrameWriter, SynStream
from pyctrl._tasks import end
from pyctrl._websocket import Message, MessageReader, Opcode, encode_frame
from pyctrl._websocket_connection import WebSocketConnection, WebSocketTunnel
from pyctrl.apiserver import Response, Upgrade
from pyctrl.apiserver._streaming.portforward import port_forward_response
from pyctrl.testing import run_virtual
from tests.unit.spdy._recorded import PORT_FORWARD

WEBSOCKET = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13", "sec-websocket-key": "k"}
SPDY = {"connection": "Upgrade", "upgrade": "SPDY/3.1", "x-stream-protocol-version": "portforward.k8s.io"}


async def forward(port: int, received: Pipe, sent: Pipe) -> None:
    """Answer with the port and what the client sends; nothing listens at the port 9."""
    if port == 9:
        raise ConnectionRefusedError("connection refused")
    await sent.write(b"%d:" % port)
    while data := await received.read():
        await sent.write(data)


def ask(headers: dict[str, str], *ports: str) -> Response:
    return port_forward_response(headers, ports, "db", forward)


@asynccontextmanager
async def client_of(response: Response, *, tunnelled: bool = False) -> AsyncIterator[SPDYConnection]:
    """Connect a SPDY client to a response."""
    assert isinstance(response.body, Upgrade)
    client, server = PipeConnection.pair()
    tunnel = WebSocketTunnel(WebSocketConnection(client, mask=Random(1)))
    connection = SPDYConnection(tunnel if tunnelled else client, is_client=True)
    loop = asyncio.get_running_loop()
    tasks = [asyncio.ensure_future(response.body.serve(server)), loop.create_task(connection.run())]
    try:
        yield connection
    finally:
        client.close()
        await end(tasks)


async def open_pair(client: SPDYConnection, port: int, request: str) -> tuple[SPDYStream, SPDYStream]:
    """Open the streams of one connection."""
    headers = {"port": str(port), **({"requestid": request} if request else {})}
    error = await client.open({"streamtype": "error", **headers})
    return await client.open({"streamtype": "data", **headers}), error


@pytest.mark.parametrize("tunnelled", [False, True])
@pytest.mark.parametrize("request_ids", [("0", "1"), ("", "")])
def test_connections_share_one_upgraded_connection(tunnelled: bool, request_ids: tuple[str, str]) -> None:
    """Each pair of streams is a connection to a port, also of old clients that do not number them."""

    async def main() -> None:
        headers = {**WEBSOCKET, "sec-websocket-protocol": "SPDY/3.1+portforward.k8s.io"} if tunnelled else SPDY
        async with client_of(ask(headers), tunnelled=tunnelled) as client:
            pairs = [await open_pair(client, port, id_) for port, id_ in zip((80, 81), request_ids, strict=True)]
            for data, _ in pairs:
                await data.write(b"hi")
                await data.close()
            assert [await data.received.read_all() for data, _ in pairs] == [b"80:hi", b"81:hi"]
            assert [await error.received.read_all() for _, error in pairs] == [b"", b""]

    run_virtual(main())


def test_a_connection_of_client_go() -> None:
    """The recorded client reads what the pod sends."""

    async def main() -> None:
        response = ask(SPDY)
        assert isinstance(response.body, Upgrade)
        client, server = PipeConnection.pair()
        serving = asyncio.ensure_future(response.body.serve(server))
        await client.write(PORT_FORWARD[:-32])  # without its reset and the end
        await asyncio.wait([serving], timeout=1)
        frames = FrameReader().feed(await client.read())
        assert b"".join(each.data for each in frames if isinstance(each, Data))[:8] == b"8080:GET"
        client.close()
        await serving

    run_virtual(main())


def test_a_connection_that_cannot_be_opened_has_an_error() -> None:
    """The error stream has the message, and the data stream is reset; other connections stay."""

    async def main() -> None:
        async with client_of(ask(SPDY)) as client:
            data, error = await open_pair(client, 9, "0")
            assert await error.received.read_all() == (b"error forwarding port 9 to pod db, uid : connection refused")
            assert await data.received.read_all() == b""
            other, _ = await open_pair(client, 80, "1")
            assert await other.received.read() == b"80:"

    run_virtual(main())


@pytest.mark.parametrize(
    "headers",
    [{}, {"port": "0", "streamtype": "data"}, {"port": "x", "streamtype": "data"}, {"port": "1", "streamtype": "y"}],
)
def test_streams_without_valid_headers_are_refused(headers: dict[str, str]) -> None:
    """A stream needs a port and a type."""

    async def main() -> None:
        async with client_of(ask(SPDY)) as client:
            with pytest.raises(ConnectionRefusedError):
                await client.open(headers)

    run_virtual(main())


def test_half_a_pair_times_out() -> None:
    """The error stream says so after 30 seconds; a second stream of the same type is a mistake."""

    async def main() -> None:
        async with client_of(ask(SPDY)) as client:
            error = await client.open({"streamtype": "error", "port": "80", "requestid": "7"})
            await client.open({"streamtype": "error", "port": "80", "requestid": "7"})
            assert b"error stream already assigned" in await error.received.read()
            assert await error.received.read() == b"(request=7) timed out waiting for streams"

    run_virtual(main())


def test_half_a_pair_ends_with_a_connection_that_breaks() -> None:
    """After a client that sends nonsense, nothing waits for the other stream of its pair."""

    async def main() -> None:
        response, problems = ask(SPDY), []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        assert isinstance(response.body, Upgrade)
        client, server = PipeConnection.pair()
        serving = asyncio.ensure_future(response.body.serve(server))
        await client.write(FrameWriter().encode(SynStream(1, {"streamtype": "data", "port": "80"})))
        await asyncio.sleep(1)
        await client.write(b"\xff" * 8)
        await serving
        await asyncio.sleep(60)
        assert problems == []

    run_virtual(main())


async def talk(response: Response, *frames: bytes) -> list[Message]:
    """Send frames over a WebSocket, and return all messages of the server."""
    assert isinstance(response.body, Upgrade)
    client, server = PipeConnection.pair()
    serving = asyncio.ensure_future(response.body.serve(server))
    for frame in frames:
        await client.write(frame)
    await asyncio.wait([serving], timeout=1)
    client.close()
    await serving
    reader, messages = MessageReader(), []
    while data := await client.read():
        messages += reader.feed(data)
    return messages


def test_the_websocket_protocol_has_two_channels_for_each_port() -> None:
    """Both begin with the number of the port; then one has data, the other one errors."""

    async def main() -> None:
        headers = {**WEBSOCKET, "sec-websocket-protocol": "v4.channel.k8s.io"}
        sent = encode_frame(Opcode.BINARY, b"\x00hi", b"mask")
        messages = [each.data for each in await talk(ask(headers, "80,9"), sent)]
        assert messages[:4] == [b"\x00\x50\x00", b"\x01\x50\x00", b"\x02\x09\x00", b"\x03\x09\x00"]
        assert sorted(messages[4:]) == [
            b"\x0080:hi",
            b"\x03error forwarding port 9 to pod db, uid : connection refused",
        ]

    run_virtual(main())


def test_the_websocket_is_closed_when_all_connections_have_ended() -> None:
    """A client that forwards one port to which nothing listens is disconnected."""

    async def main() -> None:
        messages = await talk(ask({**WEBSOCKET}, "9"))
        assert messages[-1] == (Opcode.CLOSE, b"\x03\xe8")

    run_virtual(main())


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        ([], b'query parameter "port" is required'),
        (["80", "0"], b'port "0" must be > 0'),
        (["x"], b'unable to parse "x" as a port: strconv.ParseUint: parsing "x": invalid syntax'),
    ],
)
def test_the_websocket_protocol_needs_ports(ports: list[str], message: bytes) -> None:
    """They are in the query, and must be numbers."""
    response = ask({**WEBSOCKET, "sec-websocket-protocol": "v4.channel.k8s.io"}, *ports)
    assert (response.status, response.body) == (400, message)
