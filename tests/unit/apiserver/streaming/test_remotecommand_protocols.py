"""Exec over WebSockets and SPDY, as clients of all protocols speak it."""

from __future__ import annotations

import asyncio
import base64
import json

import pytest

from pyctrl._pipes import PipeConnection
from pyctrl._spdy.frames import Data, Frame, FrameReader, GoAway, RstStream, SynReply
from pyctrl._tasks import end
from pyctrl._websocket import Message, MessageReader, Opcode, encode_frame
from pyctrl.apiserver import ContainerStreams, ExecHandler, Response, Upgrade
from pyctrl.apiserver._streaming.remotecommand import RemoteCommandOptions
from pyctrl.apiserver._streaming.remotecommand_protocols import remote_command_response
from pyctrl.testing import run_virtual
from tests.unit.spdy._recorded import EXEC, TERMINAL

ALL = RemoteCommandOptions(stdin=True, stdout=True, stderr=True)


async def cat(streams: ContainerStreams) -> int:
    """Copy one read of stdin to stdout, and exit with 7."""
    await streams.stdout.write(await streams.stdin.read())
    return 7


def ask(protocol: str, *, run: ExecHandler = cat, version: str = "13") -> Response:
    """Return the response to a WebSocket request."""
    sent = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": version,
        "sec-websocket-key": "k",
        "sec-websocket-protocol": protocol,
    }
    return remote_command_response(sent, ALL, run)


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
    assert ask("v5.channel.k8s.io", version="8").status == 400


async def resize(streams: ContainerStreams) -> int:
    """Print the sizes of the terminal until it has 160 columns."""
    async for size in streams.sizes:
        await streams.stdout.write(f"{size.width}x{size.height} ".encode())
        if size.width == 160:
            return 3
    return 0


def spdy(protocol: str, options: RemoteCommandOptions = ALL, run: ExecHandler = cat) -> Response:
    """Return the response to a SPDY request."""
    headers = {"connection": "Upgrade", "upgrade": "SPDY/3.1", "x-stream-protocol-version": protocol}
    return remote_command_response(headers, options, run)


async def talk_spdy(response: Response, sent: bytes) -> list[Frame]:
    """Send bytes and return all frames of the server but the replies."""
    assert isinstance(response.body, Upgrade)
    client, server = PipeConnection.pair()
    task = asyncio.ensure_future(response.body.serve(server))
    await client.write(sent)
    await asyncio.wait([task], timeout=60)
    server.close()
    reader, frames = FrameReader(), []
    while data := await client.read():
        frames += reader.feed(data)
    await end([task])
    return [frame for frame in frames if not isinstance(frame, SynReply)]


def test_a_command_of_client_go_over_spdy() -> None:
    """The recorded client gets the output, the Status and the end of each stream."""

    async def main() -> None:
        response = spdy("v4.channel.k8s.io, v3.channel.k8s.io")
        assert ("X-Stream-Protocol-Version", "v4.channel.k8s.io") in response.headers
        output, status, *ends = await talk_spdy(response, EXEC)
        assert output == Data(5, b"hi\n")
        assert isinstance(status, Data)
        assert status.stream == 1
        assert json.loads(status.data)["details"] == {"causes": [{"reason": "ExitCode", "message": "7"}]}
        assert ends == [Data(5, is_final=True), Data(7, is_final=True), Data(1, is_final=True), RstStream(3), GoAway(7)]

    run_virtual(main())


def test_a_terminal_of_client_go_over_spdy() -> None:
    """Its size reaches the process, and the last one is never lost."""

    async def main() -> None:
        options = RemoteCommandOptions(stdin=True, stdout=True, tty=True)
        frames = await talk_spdy(spdy("v4.channel.k8s.io", options, resize), TERMINAL[:-80])  # without its resets
        assert any(isinstance(each, Data) and each.data.endswith(b"160x24 ") for each in frames)

    run_virtual(main())


def test_old_protocols_have_a_text() -> None:
    """Before v4 the error stream has a message, and a success has none."""

    async def main() -> None:
        _, error, *_ = await talk_spdy(spdy("channel.k8s.io"), EXEC)
        assert error == Data(1, b"command terminated with non-zero exit code: exit status 7")

    run_virtual(main())


def test_a_client_that_opens_no_streams_is_disconnected() -> None:
    """The process is not started when a stream is missing after 30 seconds."""

    async def main() -> None:
        assert await talk_spdy(spdy("v4.channel.k8s.io"), b"") == []

    run_virtual(main())


@pytest.mark.parametrize("run", [cat, resize])
def test_the_size_of_a_terminal_over_a_websocket(run: ExecHandler) -> None:
    """The channel 4 has sizes, which may come in pieces."""

    async def main() -> None:
        sent = b'{"Width":160,"Height":30}\n'
        frames = [encode_frame(Opcode.BINARY, b"\x04" + part, b"mask") for part in (sent[:9], sent[9:])]
        messages = await talk(ask("v5.channel.k8s.io", run=run), *frames, encode_frame(Opcode.BINARY, b"\0x", b"mask"))
        assert messages[1].data == (b"\x01x" if run is cat else b"\x01160x30 ")

    run_virtual(main())
