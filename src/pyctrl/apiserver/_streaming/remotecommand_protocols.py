"""Protocols of `exec` and `attach`: `channel.k8s.io` to `v5.channel.k8s.io` by WebSocket, and to v4 by SPDY."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from pyctrl._pipes import Pipe
from pyctrl._spdy import SPDYConnection, SPDYStream
from pyctrl._tasks import end, unwrapped
from pyctrl._websocket_connection import WebSocketConnection
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._kubelet import ContainerStreams, ExecHandler
from pyctrl.apiserver._streaming.remotecommand import (
    RemoteCommandOptions,
    StreamType,
    TerminalSizeReader,
    serve_remote_command,
)
from pyctrl.apiserver._streaming.spdy import spdy_response
from pyctrl.apiserver._streaming.websocket import (
    Channels,
    is_websocket_request,
    requested_protocols,
    websocket_response,
)

__all__ = ["has_stream_close_protocol", "remote_command_response"]

V5 = "v5.channel.k8s.io"
WEBSOCKET_PROTOCOLS = (
    "",
    "channel.k8s.io",
    "base64.channel.k8s.io",
    "v4.channel.k8s.io",
    "v4.base64.channel.k8s.io",
    V5,
)
SPDY_PROTOCOLS = ("v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io")
CLOSE = 255  # the channel of the signals that close a channel
STREAM_CREATION_SECONDS = 30.0  # for a client to open its streams, as of a kubelet


def has_stream_close_protocol(headers: Mapping[str, str]) -> bool:
    """Return whether a request is a WebSocket of v5, whose errors kube-apiserver sends in the WebSocket."""
    return is_websocket_request(headers) and V5 in requested_protocols(headers)


def remote_command_response(headers: Mapping[str, str], options: RemoteCommandOptions, run: ExecHandler) -> Response:
    """Return the response to a request for the streams of a process."""

    async def serve_websocket(socket: WebSocketConnection, protocol: str) -> None:
        connection = _WebSocketStreams(Channels(socket, protocol), protocol, options)
        await connection.begin()
        await serve_remote_command(connection, options, run)

    async def serve_spdy(connection: SPDYConnection, protocol: str) -> None:
        await _SPDYStreams(connection, protocol, options).serve(run)

    if not is_websocket_request(headers):
        return spdy_response(headers, SPDY_PROTOCOLS, serve_spdy)
    protocols = (V5,) if has_stream_close_protocol(headers) else WEBSOCKET_PROTOCOLS
    return websocket_response(headers, protocols, serve_websocket)


def _encoded(status: Mapping[str, Any], protocol: str) -> bytes:
    """Return what the error stream has: a Status since v4, and the message of a failure before."""
    if protocol.startswith(("v4.", "v5.")):
        return msgspec.json.encode(status)
    message: str = status.get("message", "")
    return message.encode()


class _WebSocketStreams:
    """`RemoteCommandConnection` over the channels of a WebSocket."""

    def __init__(self, channels: Channels, protocol: str, options: RemoteCommandOptions) -> None:
        self._channels, self._protocol, self._options = channels, protocol, options

    async def begin(self) -> None:
        """Tell the client by an empty message that the connection is established."""
        if self._options.stdout:
            await self.send(StreamType.STDOUT, b"")
        elif self._options.stderr and not self._options.tty:
            await self.send(StreamType.STDERR, b"")
        else:
            await self.send(StreamType.ERROR, b"")

    async def receive(self, streams: ContainerStreams) -> None:
        resize = TerminalSizeReader(streams.sizes)
        async for message in self._channels.messages():
            if self._protocol == V5 and message.channel == CLOSE:
                if message.data == bytes((StreamType.STDIN,)):
                    streams.stdin.close()
            elif message.channel == StreamType.STDIN and self._options.stdin:
                await _pass(message.data, streams.stdin)
            elif message.channel == StreamType.RESIZE:
                resize.feed(message.data)
        streams.sizes.close()

    async def send(self, stream: StreamType, data: bytes) -> None:
        await self._channels.send(stream, data)

    async def finish(self, status: Mapping[str, Any]) -> None:
        if text := _encoded(status, self._protocol):
            await self._channels.send(StreamType.ERROR, text)
        await self._channels.close()


class _SPDYStreams:
    """`RemoteCommandConnection` over the streams of a SPDY connection, which the client opens."""

    def __init__(self, connection: SPDYConnection, protocol: str, options: RemoteCommandOptions) -> None:
        self._connection, self._protocol, self._options = connection, protocol, options
        self._streams: dict[StreamType, SPDYStream] = {}
        self._expected = {StreamType.ERROR}
        for type_, is_wanted in (
            (StreamType.STDIN, options.stdin),
            (StreamType.STDOUT, options.stdout),
            (StreamType.STDERR, options.stderr and not options.tty),
            (StreamType.RESIZE, options.tty and protocol.startswith(("v3.", "v4."))),
        ):
            if is_wanted:
                self._expected.add(type_)
        self._is_complete = asyncio.Event()
        self._running: asyncio.Task[None]  # receives the frames

    async def serve(self, run: ExecHandler) -> None:
        """Run a process when the client has opened the streams."""
        loop = asyncio.get_running_loop()
        self._running = loop.create_task(self._connection.run(self._open))
        opening = loop.create_task(self._is_complete.wait())
        try:
            waits = (self._running, opening)
            await asyncio.wait(waits, timeout=STREAM_CREATION_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if self._is_complete.is_set():
                await serve_remote_command(self, self._options, run)
        finally:
            await end([self._running, opening])
        if not self._running.cancelled() and (error := self._running.exception()) is not None:
            raise error

    def _open(self, stream: SPDYStream) -> bool:
        """Take a stream that the client opens; other ones are kept open and not used."""
        type_ = StreamType.__members__.get(stream.headers.get("streamtype", "").upper())
        if type_ is not None:
            self._streams[type_] = stream
        if self._expected <= self._streams.keys():
            self._is_complete.set()
        return True

    async def receive(self, streams: ContainerStreams) -> None:
        with unwrapped():
            async with asyncio.TaskGroup() as tasks:
                if self._options.stdin:
                    tasks.create_task(_pass_all(self._streams[StreamType.STDIN].received, streams.stdin))
                if (resize := self._streams.get(StreamType.RESIZE)) is not None:
                    tasks.create_task(_read_sizes(resize.received, streams))
                await asyncio.shield(self._running)

    async def send(self, stream: StreamType, data: bytes) -> None:
        await self._streams[stream].write(data)

    async def finish(self, status: Mapping[str, Any]) -> None:
        await self._streams[StreamType.ERROR].write(_encoded(status, self._protocol))
        for type_ in (StreamType.STDOUT, StreamType.STDERR, StreamType.ERROR):
            if (stream := self._streams.get(type_)) is not None:
                await stream.close()
        await self._connection.close()


async def _pass(data: bytes, pipe: Pipe) -> None:
    with suppress(BrokenPipeError):  # the process reads no more
        await pipe.write(data)


async def _pass_all(source: Pipe, target: Pipe) -> None:
    while data := await source.read():
        await _pass(data, target)
    target.close()


async def _read_sizes(source: Pipe, streams: ContainerStreams) -> None:
    reader = TerminalSizeReader(streams.sizes)
    while data := await source.read():
        reader.feed(data)
    streams.sizes.close()
