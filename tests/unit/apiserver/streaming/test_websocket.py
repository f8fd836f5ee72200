"""WebSocket handshakes, and channels."""

from __future__ import annotations

import asyncio
from base64 import b64encode

import pytest

from pyctrl._pipes import PipeConnection
from pyctrl._websocket import MessageReader, Opcode, encode_frame
from pyctrl._websocket_connection import WebSocketConnection
from pyctrl.apiserver import Response, Upgrade
from pyctrl.apiserver._streaming.websocket import ChannelMessage, Channels, is_websocket_request, websocket_response
from pyctrl.testing import run_virtual


async def serve(socket: WebSocketConnection, _: str) -> None:
    """Read until the client closes the WebSocket."""
    async for _message in socket.messages():
        pass


def ask(**headers: str) -> Response:
    sent = {"sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="}
    return websocket_response({**sent, **headers}, ("", "a", "b"), serve)


def test_the_first_supported_protocol_is_selected() -> None:
    """The order is the client's; a client that names none gets none."""
    chosen = ask(**{"sec-websocket-protocol": "x, b, a"})
    assert (chosen.status, dict(chosen.headers)["Sec-WebSocket-Protocol"]) == (101, "b")
    assert dict(chosen.headers)["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    assert "Sec-WebSocket-Protocol" not in dict(ask().headers)


def test_only_a_request_with_both_headers_upgrades() -> None:
    """`Connection` may list several options."""
    assert is_websocket_request({"connection": "keep-alive, Upgrade", "upgrade": "WebSocket"})
    assert not is_websocket_request({"upgrade": "websocket"})
    assert not is_websocket_request({"connection": "Upgrade", "upgrade": "h2c"})


def test_the_first_byte_of_a_message_is_its_channel() -> None:
    """Base64 protocols have digits and texts; empty messages are ignored, and invalid base64 has no channel."""

    async def main() -> None:
        client, server = PipeConnection.pair()
        for data in (b"", b"0a", b"0aGk="):
            await client.write(encode_frame(Opcode.TEXT, data, b"mask"))
        await client.write(encode_frame(Opcode.CLOSE, b"", b"mask"))
        channels = Channels(WebSocketConnection(server), "v4.base64.channel.k8s.io")
        assert [each async for each in channels.messages()] == [ChannelMessage(-1, b""), ChannelMessage(0, b"hi")]

        await client.write(encode_frame(Opcode.BINARY, b"\x04hi", b"mask") + encode_frame(Opcode.CLOSE, b"", b"mask"))
        channels = Channels(WebSocketConnection(server), "v4.channel.k8s.io")
        assert [each async for each in channels.messages()] == [ChannelMessage(4, b"hi")]

    run_virtual(main())


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("v4.channel.k8s.io", [b"\1" + b"x" * 32768, b"\1" + b"x" * 32768, b"\1xy", b"\2"]),
        ("v4.base64.channel.k8s.io", [b"1" + b64encode(b"x" * 32768)] * 2 + [b"1" + b64encode(b"xy"), b"2"]),
    ],
)
def test_clients_that_accept_messages_of_64_kib_can_read_any_output(protocol: str, expected: list[bytes]) -> None:
    """Output is sent in messages of 32 KiB as by a kubelet. Nothing is one empty message."""
    client, server = PipeConnection.pair()
    channels = Channels(WebSocketConnection(server), protocol)

    async def send() -> None:
        await channels.send(1, b"x" * 65537 + b"y")
        await channels.send(2, b"")

    async def main() -> None:
        sending = asyncio.create_task(send())
        reader, messages = MessageReader(), list[bytes]()
        while len(messages) < len(expected):
            messages += [data for _, data in reader.feed(await client.read())]
        assert messages == expected
        await sending

    run_virtual(main())


def test_bytes_that_are_no_frame_end_the_connection() -> None:
    """The client gets the code 1002."""

    async def main() -> None:
        client, server = PipeConnection.pair()
        await client.write(b"\xff\xff")
        upgrade = ask()
        assert isinstance(upgrade.body, Upgrade)
        await upgrade.body.serve(server)
        assert MessageReader().feed(await client.read()) == [(Opcode.CLOSE, b"\x03\xea")]

    run_virtual(main())
