"""Exec over WebSockets, as clients of all protocols speak it."""

from __future__ import annotations

import asyncio
import base64
import json

import pytest

from pyctrl._pipes import PipeConnection
from pyctrl._tasks import end
from pyctrl._websocket import Message, MessageReader, Opcode, encode_frame
from pyctrl.apiserver import ContainerStreams, Response, Upgrade
from pyctrl.apiserver._streaming.remotecommand import RemoteCommandOptions
from pyctrl.apiserver._streaming.remotecommand_protocols import remote_command_response
from pyctrl.testing import run_virtual

ALL = RemoteCommandOptions(stdin=True, stdout=True, stderr=True)


async def cat(streams: ContainerStreams) -> int:
    """Copy one read of stdin to stdout, and exit with 7."""
    await streams.stdout.write(await streams.stdin.read())
    return 7


def ask(protocol: str, **headers: str) -> Response:
    """Return the response to a WebSocket request."""
    sent = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "k",
        "sec-websocket-protocol": protocol,
        **headers,
    }
    return remote_command_response(sent, ALL, cat)


async def talk(response: Response, *frames: bytes) -> list[Message]:
    """Send frames and return all messages of the server."""
    assert isinstance(response.body, Upgrade)
    client, server = PipeConnection.pair()

    async def serve() -> None:
        assert isinstance(response.body, Upgrade)
        await response.body.serve(server)
        server.close()

    task = asyncio.ensure_future(serve())
    for frame in frames:
        await client.write(frame)
    reader, messages = MessageReader(), []
    while data := await client.read():
        messages += reader.feed(data)
    await end([task])
    return messages


@pytest.mark.parametrize("protocol", ["v4.channel.k8s.io", "v5.channel.k8s.io"])
def test_the_status_is_json_since_v4(protocol: str) -> None:
    """The channels have the output, then the Status with the exit code; then the WebSocket is closed."""

    async def main() -> None:
        response = ask(protocol)
        assert ("Sec-WebSocket-Protocol", protocol) in response.headers
        messages = await talk(response, encode_frame(Opcode.BINARY, b"\x00hi", b"mask"))
        assert messages[:2] == [(Opcode.BINARY, b"\x01"), (Opcode.BINARY, b"\x01hi")]
        assert messages[2].data[:1] == b"\x03"
        assert json.loads(messages[2].data[1:])["details"] == {"causes": [{"reason": "ExitCode", "message": "7"}]}
        assert messages[3] == (Opcode.CLOSE, b"\x03\xe8")

    run_virtual(main())


def test_the_first_protocol_has_a_text_and_may_be_base64() -> None:
    """Before v4 the error channel has a message; base64 protocols have text frames."""

    async def main() -> None:
        frame = encode_frame(Opcode.TEXT, b"0" + base64.b64encode(b"hi"), b"mask")
        _, output, error, _ = await talk(ask("base64.channel.k8s.io"), frame)
        assert output == (Opcode.TEXT, b"1" + base64.b64encode(b"hi"))
        assert b"exit status 7" in base64.b64decode(error.data[1:])

    run_virtual(main())


def test_v5_can_close_stdin() -> None:
    """The close signal ends the input of the process."""

    async def main() -> None:
        _, error, _ = await talk(ask("v5.channel.k8s.io"), encode_frame(Opcode.BINARY, b"\xff\x00", b"mask"))
        assert error.data[:1] == b"\x03"

    run_virtual(main())


def test_pings_are_answered_and_a_close_ends_the_process() -> None:
    """The server answers control frames while the process waits for input."""

    async def main() -> None:
        frames = encode_frame(Opcode.PING, b"p", b"mask"), encode_frame(Opcode.CLOSE, b"\x03\xe8", b"mask")
        messages = await talk(ask("v5.channel.k8s.io"), *frames)
        assert messages[1:] == [(Opcode.PONG, b"p"), (Opcode.CLOSE, b"\x03\xe8")]

    run_virtual(main())


def test_handshakes_that_fail() -> None:
    """An unknown protocol is 403, another version of WebSocket 400."""
    assert ask("v9.channel.k8s.io").status == 403
    assert ask("v5.channel.k8s.io", **{"sec-websocket-version": "8"}).status == 400
