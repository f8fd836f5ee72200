"""WebSocket handshake of a server, and the channels of Kubernetes' subprotocols over one WebSocket."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass

from pyctrl._websocket import MessageReader, Opcode, WebSocketProtocolError, accept_key, encode_frame
from pyctrl.apiserver._errors import Response, Upgrade, UpgradedConnection

__all__ = ["ChannelMessage", "Channels", "is_websocket_request", "websocket_response"]

_NORMAL_CLOSURE = (1000).to_bytes(2, "big")
_PROTOCOL_ERROR = (1002).to_bytes(2, "big")


def is_websocket_request(headers: Mapping[str, str]) -> bool:
    """Return whether a request with these headers (names in lower case) upgrades to a WebSocket."""
    return headers.get("upgrade", "").lower() == "websocket" and "upgrade" in headers.get("connection", "").lower()


def websocket_response(
    headers: Mapping[str, str], protocols: tuple[str, ...], serve: Callable[[Channels, str], Awaitable[None]]
) -> Response:
    """Return the response to a WebSocket request: 101 with the first requested protocol that is supported.

    As of kube-apiserver, an invalid handshake is 400, and 403 answers protocols that are not supported.
    """
    key = headers.get("sec-websocket-key", "")
    if headers.get("sec-websocket-version") != "13" or not key:
        return Response(status=400, headers=(("Sec-WebSocket-Version", "13"),))
    requested = [each.strip() for each in headers.get("sec-websocket-protocol", "").split(",")]
    protocol = next((each for each in requested if each in protocols), None)
    if protocol is None:
        return Response(status=403, headers=())
    answer = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept_key(key))]
    if protocol:
        answer.append(("Sec-WebSocket-Protocol", protocol))

    async def upgraded(connection: UpgradedConnection) -> None:
        await serve(Channels(connection, is_base64=protocol.startswith("base64.")), protocol)

    return Response(status=101, headers=answer, body=Upgrade(upgraded))


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """A message of the client on a channel."""

    channel: int
    data: bytes


class Channels:
    """Channels over a WebSocket: the first byte of a message is the number of its channel."""

    def __init__(self, connection: UpgradedConnection, *, is_base64: bool) -> None:
        self._connection, self._is_base64 = connection, is_base64

    async def messages(self) -> AsyncIterator[ChannelMessage]:
        """Iterate over the messages until the client closes the WebSocket. Pings are answered."""
        reader = MessageReader()
        while data := await self._connection.read():
            try:
                received = reader.feed(data)
            except WebSocketProtocolError:
                await self._connection.write(encode_frame(Opcode.CLOSE, _PROTOCOL_ERROR))
                return
            for message in received:
                if message.opcode is Opcode.CLOSE:
                    await self._connection.write(encode_frame(Opcode.CLOSE, message.data[:2]))
                    return
                if message.opcode is Opcode.PING:
                    await self._connection.write(encode_frame(Opcode.PONG, message.data))
                elif message.opcode is not Opcode.PONG and message.data:
                    yield self._decoded(message.data)

    def _decoded(self, data: bytes) -> ChannelMessage:
        if not self._is_base64:
            return ChannelMessage(data[0], data[1:])
        try:
            return ChannelMessage(data[0] - ord("0"), base64.b64decode(data[1:]))
        except binascii.Error:
            return ChannelMessage(-1, b"")  # no channel: ignored

    async def send(self, channel: int, data: bytes) -> None:
        """Send a message on a channel."""
        if self._is_base64:
            frame = encode_frame(Opcode.TEXT, b"%d" % channel + base64.b64encode(data))
        else:
            frame = encode_frame(Opcode.BINARY, bytes((channel,)) + data)
        await self._connection.write(frame)

    async def close(self) -> None:
        """Close the WebSocket."""
        await self._connection.write(encode_frame(Opcode.CLOSE, _NORMAL_CLOSURE))
