"""Port forwarding: by SPDY, by SPDY tunnelled in a WebSocket, and by the WebSocket protocol `v4.channel.k8s.io`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pyctrl._pipes import Pipe
from pyctrl._spdy import SPDYConnection, SPDYStream
from pyctrl._tasks import end, until_first_ends, unwrapped
from pyctrl._websocket_connection import WebSocketConnection
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._kubelet import PortForwardHandler
from pyctrl.apiserver._streaming.spdy import (
    is_tunnelling_request,
    plain_response,
    spdy_response,
    tunnelled_spdy_response,
)
from pyctrl.apiserver._streaming.websocket import Channels, is_websocket_request, websocket_response

__all__ = ["port_forward_response"]

SPDY_PROTOCOLS = ("portforward.k8s.io",)
WEBSOCKET_PROTOCOLS = ("", "v4.channel.k8s.io", "v4.base64.channel.k8s.io")
STREAM_CREATION_SECONDS = 30.0  # for a client to open the second stream of a pair, as of a kubelet


def port_forward_response(
    headers: Mapping[str, str], ports: Sequence[str], pod: str, forward: PortForwardHandler
) -> Response:
    """Return the response to a request to forward ports.

    Args:
        headers: The headers of the request, with names in lower case.
        ports: The values of the parameter `ports`, which the WebSocket protocol v4 uses.
        pod: The pod, for messages.
        forward: Forwards a connection.
    """

    async def serve_spdy(connection: SPDYConnection, _: str) -> None:
        await _SPDYForwarder(connection, pod, forward).serve()

    if is_tunnelling_request(headers):
        return tunnelled_spdy_response(headers, SPDY_PROTOCOLS, serve_spdy)
    if not is_websocket_request(headers):
        return spdy_response(headers, SPDY_PROTOCOLS, serve_spdy)
    try:
        numbers = _parse_ports(ports)
    except ValueError as error:
        return plain_response(400, str(error))

    async def serve_websocket(socket: WebSocketConnection, protocol: str) -> None:
        await _WebSocketForwarder(Channels(socket, protocol), numbers, pod, forward).serve()

    return websocket_response(headers, WEBSOCKET_PROTOCOLS, serve_websocket)


def _parse_ports(values: Sequence[str]) -> list[int]:
    """Return the ports of the parameter `ports`: numbers with commas, which may be repeated."""
    if not values:
        raise ValueError('query parameter "port" is required')
    return [_parse_port(text) for value in values for text in value.split(",")]


def _parse_port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 0xFFFF:
        raise ValueError(f'unable to parse "{text}" as a port: strconv.ParseUint: parsing "{text}": invalid syntax')
    if not int(text):
        raise ValueError(f'port "{text}" must be > 0')
    return int(text)


def _failure(port: int, pod: str, error: Exception) -> bytes:
    return f"error forwarding port {port} to pod {pod}, uid : {error}".encode()


@dataclass(slots=True)
class _StreamPair:
    """The two streams of one forwarded connection."""

    streams: dict[str, SPDYStream] = field(default_factory=dict)
    timer: asyncio.TimerHandle | None = None

    @property
    def is_complete(self) -> bool:
        return len(self.streams) == 2


class _SPDYForwarder:
    """Forwards the connections that a client opens as pairs of streams, one for data and one for an error."""

    def __init__(self, connection: SPDYConnection, pod: str, forward: PortForwardHandler) -> None:
        self._connection, self._pod, self._forward = connection, pod, forward
        self._pairs: dict[str, _StreamPair] = {}
        self._tasks: asyncio.TaskGroup

    async def serve(self) -> None:
        """Forward connections until the client disconnects."""
        try:
            with unwrapped():
                async with asyncio.TaskGroup() as self._tasks:
                    await self._connection.run(self._open)
        finally:
            for pair in self._pairs.values():
                if pair.timer is not None:
                    pair.timer.cancel()

    def _open(self, stream: SPDYStream) -> bool:
        """Take a stream that the client opens; return whether it has valid headers."""
        type_ = stream.headers.get("streamtype", "")
        try:
            _parse_port(stream.headers.get("port", ""))
        except ValueError:
            return False
        if type_ not in ("data", "error"):
            return False
        request = _request_id(stream, type_)
        pair = self._pairs.setdefault(request, _StreamPair())
        if type_ in pair.streams:
            message = f"error processing stream for request {request}: {type_} stream already assigned"
            self._tasks.create_task(self._report(pair, message))
            return True
        pair.streams[type_] = stream
        if pair.is_complete:
            self._complete(request, pair)
        elif pair.timer is None:
            pair.timer = asyncio.get_running_loop().call_later(STREAM_CREATION_SECONDS, self._expire, request)
        return True

    def _complete(self, request: str, pair: _StreamPair) -> None:
        if pair.timer is not None:
            pair.timer.cancel()
        del self._pairs[request]
        self._tasks.create_task(self._forward_pair(pair.streams["data"], pair.streams["error"]))

    def _expire(self, request: str) -> None:
        pair = self._pairs.pop(request)
        self._tasks.create_task(self._report(pair, f"(request={request}) timed out waiting for streams"))

    async def _report(self, pair: _StreamPair, message: str) -> None:
        try:
            if (stream := pair.streams.get("error")) is not None:
                await stream.write(message.encode())
        except ConnectionError:
            return  # the client has disconnected

    async def _forward_pair(self, data: SPDYStream, error: SPDYStream) -> None:
        try:
            await self._forward_streams(data, error)
        except ConnectionError:
            return  # the client has disconnected or reset the streams

    async def _forward_streams(self, data: SPDYStream, error: SPDYStream) -> None:
        port, sent = int(data.headers["port"]), Pipe()
        sending = asyncio.get_running_loop().create_task(_send_all(sent, data))
        try:
            try:
                await self._forward(port, data.received, sent)
            except Exception as failed:  # noqa: BLE001 - the client gets it, as of a runtime that fails
                await error.write(_failure(port, self._pod, failed))
                await data.reset()
                await error.reset()
                return
            sent.close()
            await sending
        finally:
            await end([sending])
        await data.close()
        data.received.discard()
        await error.close()


def _request_id(stream: SPDYStream, type_: str) -> str:
    """Return what both streams of a pair have in common; older clients open them one after the other."""
    return stream.headers.get("requestid") or str(stream.number if type_ == "error" else stream.number - 2)


async def _send_all(pipe: Pipe, stream: SPDYStream) -> None:
    try:
        while part := await pipe.read():
            await stream.write(part)
        await stream.close()
    except BrokenPipeError:
        pipe.discard()
        pipe.close()  # the next write of the pod fails, as to a closed socket


class _WebSocketForwarder:
    """Forwards one connection to each of some ports, over two channels for each: data, and an error."""

    def __init__(self, channels: Channels, ports: Sequence[int], pod: str, forward: PortForwardHandler) -> None:
        self._channels, self._ports, self._pod, self._forward = channels, ports, pod, forward
        self._received = [Pipe() for _ in ports]

    async def serve(self) -> None:
        """Forward until all connections have ended or the client disconnects."""
        with suppress(ConnectionError):  # the client has disconnected
            await until_first_ends(self._forward_all(), self._receive())

    async def _forward_all(self) -> None:
        for index, port in enumerate(self._ports):
            for channel in (2 * index, 2 * index + 1):
                await self._channels.send(channel, port.to_bytes(2, "little"))
        with unwrapped():
            async with asyncio.TaskGroup() as tasks:
                for index, port in enumerate(self._ports):
                    tasks.create_task(self._forward_one(index, port))
        await self._channels.close()

    async def _forward_one(self, index: int, port: int) -> None:
        sent = Pipe()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send(2 * index, sent))
            try:
                await self._forward(port, self._received[index], sent)
            except Exception as failed:  # noqa: BLE001 - the client gets it, as of a runtime that fails
                await self._channels.send(2 * index + 1, _failure(port, self._pod, failed))
            sent.close()
            self._received[index].discard()

    async def _send(self, channel: int, pipe: Pipe) -> None:
        while data := await pipe.read():
            await self._channels.send(channel, data)

    async def _receive(self) -> None:
        async for message in self._channels.messages():
            if message.channel % 2 == 0 and 0 <= message.channel < 2 * len(self._ports):
                try:
                    await self._received[message.channel // 2].write(message.data)
                except BrokenPipeError:
                    continue  # the pod has closed this connection
        for pipe in self._received:
            pipe.close()
