"""WebSockets over connections of bytes."""

from __future__ import annotations

from random import Random

import pytest

from pyctrl._pipes import PipeConnection
from pyctrl._websocket import MessageReader, Opcode, WebSocketProtocolError, encode_frame
from pyctrl._websocket_connection import WebSocketConnection, WebSocketTunnel
from pyctrl.testing import run_virtual


def test_both_sides_exchange_messages() -> None:
    """The server reads the masked messages of a client, and the client those of the server."""

    async def main() -> None:
        one, other = PipeConnection.pair()
        client, server = WebSocketConnection(one, mask=Random(1)), WebSocketConnection(other)
        await client.send(Opcode.BINARY, b"ask")
        await client.close()
        await server.send(Opcode.TEXT, b"answer")
        assert [each async for each in server.messages()] == [(Opcode.BINARY, b"ask")]
        assert [each async for each in client.messages()] == [(Opcode.TEXT, b"answer")]
        with pytest.raises(BrokenPipeError):
            await client.send(Opcode.BINARY, b"late")

    run_virtual(main())


def test_pings_are_answered_and_the_close_is_repeated() -> None:
    """Control frames are not messages."""

    async def main() -> None:
        one, other = PipeConnection.pair()
        for frame in ((Opcode.PING, b"p"), (Opcode.PONG, b"q"), (Opcode.CLOSE, b"\x03\xe9bye")):
            await one.write(encode_frame(*frame, b"mask"))
        assert [each async for each in WebSocketConnection(other).messages()] == []
        assert MessageReader().feed(await one.read()) == [(Opcode.PONG, b"p"), (Opcode.CLOSE, b"\x03\xe9")]

    run_virtual(main())


def test_bytes_that_are_no_frame_close_the_socket() -> None:
    """The side that broke the protocol gets a close frame."""

    async def main() -> None:
        one, other = PipeConnection.pair()
        await one.write(b"\xff\xff")
        with pytest.raises(WebSocketProtocolError):
            [each async for each in WebSocketConnection(other).messages()]
        assert MessageReader().feed(await one.read()) == [(Opcode.CLOSE, b"\x03\xea")]

    run_virtual(main())


def test_a_tunnel_carries_bytes() -> None:
    """The boundaries of messages are not kept; empty ones are not the end."""

    async def main() -> None:
        one, other = PipeConnection.pair()
        client = WebSocketConnection(one, mask=Random(1))
        tunnel = WebSocketTunnel(WebSocketConnection(other))
        await client.send(Opcode.BINARY, b"")
        await client.send(Opcode.BINARY, b"ab")
        assert await tunnel.read() == b"ab"
        await tunnel.write(b"cd")
        await tunnel.close()
        assert [each.data async for each in client.messages()] == [b"cd"]
        assert await tunnel.read() == b""

    run_virtual(main())


def test_a_tunnel_has_binary_messages_only() -> None:
    """A text message is a mistake of the other side."""

    async def main() -> None:
        one, other = PipeConnection.pair()
        await WebSocketConnection(one, mask=Random(1)).send(Opcode.TEXT, b"x")
        with pytest.raises(WebSocketProtocolError):
            await WebSocketTunnel(WebSocketConnection(other)).read()

    run_virtual(main())
