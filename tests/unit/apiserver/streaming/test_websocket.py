"""WebSocket handshakes, and channels."""

from __future__ import annotations

from pyctrl._pipes import PipeConnection
from pyctrl._websocket import MessageReader, Opcode, encode_frame
from pyctrl.apiserver import Response
from pyctrl.apiserver._streaming.websocket import ChannelMessage, Channels, is_websocket_request, websocket_response
from pyctrl.testing import run_virtual


async def serve(channels: Channels, protocol: str) -> None:
    raise NotImplementedError(f"the tests only ask for {protocol}")


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


def test_bytes_that_are_no_frame_end_the_connection() -> None:
    """The client gets the code 1002; empty messages and invalid base64 are ignored."""

    async def main() -> None:
        client, server = PipeConnection.pair()
        for data in (b"", b"0!", b"0aGk="):
            await client.write(encode_frame(Opcode.TEXT, data, b"mask"))
        await client.write(b"\xff\xff")
        received = [each async for each in Channels(server, is_base64=True).messages()]
        assert received == []  # all data of one read is parsed at once
        assert MessageReader().feed(await client.read()) == [(Opcode.CLOSE, b"\x03\xea")]

        await client.write(encode_frame(Opcode.TEXT, b"0aGk=", b"mask") + encode_frame(Opcode.CLOSE, b"", b"mask"))
        received = [each async for each in Channels(server, is_base64=True).messages()]
        assert received == [ChannelMessage(0, b"hi")]

    run_virtual(main())
