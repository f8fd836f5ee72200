"""Watches as streams of lines, and over WebSockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from pyctrl._pipes import PipeConnection
from pyctrl._websocket import Message, MessageReader, Opcode, encode_frame
from pyctrl.apiserver import ApiServer, Response, Upgrade
from pyctrl.apiserver._endpoints.watch_response import watch_response
from pyctrl.testing import run_virtual

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
WEBSOCKET = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "origin": "https://127.0.0.1:6443",
}


async def no_lines() -> AsyncGenerator[bytes, None]:
    for line in list[bytes]():
        yield line


async def create(server: ApiServer, name: str) -> None:
    answer = await server.handle("POST", CONFIG_MAPS, [], {}, json.dumps({"metadata": {"name": name}}).encode())
    assert answer.status == 201


async def watched(server: ApiServer, **query: str) -> tuple[PipeConnection, asyncio.Task[None]]:
    """Watch over a WebSocket; return the client's side, and the server's side as a task."""
    answer = await server.handle("GET", CONFIG_MAPS, [("watch", "1"), *query.items()], WEBSOCKET, b"")
    assert answer.status == 101
    assert isinstance(answer.body, Upgrade)
    client, connection = PipeConnection.pair()
    return client, asyncio.get_running_loop().create_task(_coroutine(answer.body, connection))


async def _coroutine(upgrade: Upgrade, connection: PipeConnection) -> None:
    await upgrade.serve(connection)
    connection.close()


async def messages(client: PipeConnection) -> list[Message]:
    """Return all messages that the server sends."""
    reader, received = MessageReader(), list[Message]()
    while data := await client.read():
        received += reader.feed(data)
    return received


def test_each_event_is_a_text_message_and_the_end_closes_the_websocket() -> None:
    """Objects that exist are messages of their own, although a stream has them in one chunk."""

    async def main() -> None:
        server = ApiServer()
        await create(server, "a")
        await create(server, "b")
        client, serving = await watched(server, timeoutSeconds="5", labelSelector="!x")
        await create(server, "c")
        await client.write(encode_frame(Opcode.PING, b"?", b"mask"))
        *sent, end = await messages(client)
        assert Message(Opcode.PONG, b"?") in sent
        assert end == Message(Opcode.CLOSE, b"\x03\xe8")
        events = [each.data for each in sent if each.opcode is Opcode.TEXT]
        assert all(each.endswith(b"\n") for each in events)
        received: list[Any] = [json.loads(each) for each in events]
        assert [(each["type"], each["object"]["metadata"]["name"]) for each in received] == [
            ("ADDED", "a"),
            ("ADDED", "b"),
            ("ADDED", "c"),
        ]
        await serving
        assert asyncio.get_running_loop().time() == pytest.approx(5, abs=0.1)

    run_virtual(main())


@pytest.mark.parametrize("last", [encode_frame(Opcode.CLOSE, b"", b"mask"), b"\xff\xff"])
def test_a_client_that_closes_or_sends_no_frames_ends_the_watch(last: bytes) -> None:
    """What else the client sends is ignored."""

    async def main() -> None:
        answer = await ApiServer().handle("GET", CONFIG_MAPS, [("watch", "1")], WEBSOCKET, b"")
        assert isinstance(answer.body, Upgrade)
        client, connection = PipeConnection.pair()
        serving = asyncio.get_running_loop().create_task(_coroutine(answer.body, connection))
        await client.write(encode_frame(Opcode.TEXT, b"hello", b"mask") + last)
        await serving
        assert asyncio.get_running_loop().time() < 1

    run_virtual(main())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 101),
        ({"origin": ""}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[::1"}, 403),
        ({"sec-websocket-protocol": "v1"}, 101),
        ({"sec-websocket-protocol": "v1, v2"}, 400),
        ({"sec-websocket-key": "", "origin": ""}, 400),
        ({"connection": "close"}, 200),
    ],
)
def test_the_handshake_is_that_of_kube_apiserver(headers: dict[str, str], status: int) -> None:
    """An Origin is required, and one subprotocol is confirmed, whatever it is."""
    answer: Response = watch_response({**WEBSOCKET, **headers}, no_lines())
    assert answer.status == status
    protocol = headers.get("sec-websocket-protocol")
    assert dict(answer.headers).get("Sec-WebSocket-Protocol") == (protocol if status == 101 else None)
