"""WebSocket handshake of a server, and the channels of Kubernetes' subprotocols over one WebSocket."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass

from pyctrl._websocket import Opcode, WebSocketProtocolError, accept_key
from pyctrl._websocket_connection import WebSocketConnection
from pyctrl.apiserver._errors import Response, Upgrade, UpgradedConnection

__all__ = [
    "ChannelMessage",
    "Channels",
    "is_upgrade_request",
    "is_websocket_request",
    "requested_protocols",
    "websocket_response",
]

MESSAGE_BYTES = 32 * 1024  # the buffer of Go's io.Copy, which writes one message each time; some clients accept 64 KiB


def is_upgrade_request(headers: Mapping[str, str]) -> bool:
    """Return whether a request with these headers (names in lower case) upgrades to any protocol."""
    return "upgrade" in headers.get("connection", "").lower()


def is_websocket_request(headers: Mapping[str, str]) -> bool:
    """Return whether a request with these headers (names in lower case) upgrades to a WebSocket."""
    return headers.get("upgrade", "").lower() == "websocket" and is_upgrade_request(headers)


def requested_protocols(headers: Mapping[str, str]) -> list[str]:
    """Return the subprotocols of a WebSocket request."""
    return [each.strip() for each in headers.get("sec-websocket-protocol", "").split(",")]


def websocket_response(
    headers: Mapping[str, str],
    protocols: tuple[str, ...],
    serve: Callable[[WebSocketConnection, str], Awaitable[None]],
) -> Response:
    """Return the response to a WebSocket request: 101 with the first requested protocol that is supported.

    As of kube-apiserver, an invalid handshake is 400, and 403 answers protocols that are not supported.
    """
    key = headers.get("sec-websocket-key", "")
    if headers.get("sec-websocket-version") != "13" or not key:
        return Response(status=400, headers=(("Sec-WebSocket-Version", "13"),))
    protocol = next((each for each in requested_protocols(headers) if each in protocols), None)
    if protocol is None:
        return Response(status=403, headers=())
    answer = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept_key(key))]
    if protocol:
        answer.append(("Sec-WebSocket-Protocol", protocol))

    async def upgraded(connection: UpgradedConnection) -> None:
        try:
            await serve(WebSocketConnection(connection), protocol)
        except WebSocketProtocolError:
            return  # the client got a close frame with the reason

    return Response(status=101, headers=answer, body=Upgrade(upgraded))


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """A message of the client on a channel."""

    channel: int
    data: bytes


class Channels:
    """Channels over a WebSocket: the first byte of a message is the number of its channel."""

    def __init__(self, socket: WebSocketConnection, protocol: str) -> None:
        self._socket, self._is_base64 = socket, "base64." in protocol

    async def messages(self) -> AsyncIterator[ChannelMessage]:
        """Iterate over the messages until the client closes the WebSocket."""
        async for message in self._socket.messages():
            if message.data:
                yield self._decoded(message.data)

    def _decoded(self, data: bytes) -> ChannelMessage:
        if not self._is_base64:
            return ChannelMessage(data[0], data[1:])
        try:
            return ChannelMessage(data[0] - ord("0"), base64.b64decode(data[1:]))
        except binascii.Error:
            return ChannelMessage(-1, b"")  # no channel: ignored

    async def send(self, channel: int, data: bytes) -> None:
        """Send bytes on a channel, in messages of at most `MESSAGE_BYTES`.

        Raises:
            BrokenPipeError: The WebSocket is closed.
        """
        for start in range(0, len(data) or 1, MESSAGE_BYTES):
            await self._send_message(channel, data[start : start + MESSAGE_BYTES])

    async def _send_message(self, channel: int, data: bytes) -> None:
        if self._is_base64:
            await self._socket.send(Opcode.TEXT, b"%d" % channel + base64.b64encode(data))
        else:
            await self._socket.send(Opcode.BINARY, bytes((channel,)) + data)

    async def close(self) -> None:
        """Close the WebSocket."""
        await self._socket.close()
