"""WebSocket over a connection of bytes, for both of its sides: messages, or bytes that are tunnelled in messages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

from pyctrl._pipes import ByteConnection
from pyctrl._websocket import Message, MessageReader, Opcode, WebSocketProtocolError, encode_frame

__all__ = ["NORMAL_CLOSURE", "PROTOCOL_ERROR", "WebSocketConnection", "WebSocketTunnel"]

NORMAL_CLOSURE, PROTOCOL_ERROR = 1000, 1002


class WebSocketConnection:
    """One side of a WebSocket. One task may read while others send.

    Args:
        connection: Carries the frames.
        mask: The source of the masks of frames, which clients use and servers do not.
    """

    def __init__(self, connection: ByteConnection, *, mask: Random | None = None) -> None:
        self._connection, self._mask = connection, mask
        self._is_closed = False  # this side has sent a close frame, after which it must not send

    async def messages(self) -> AsyncIterator[Message]:
        """Iterate over the messages until one side closes the WebSocket. Pings are answered.

        Raises:
            WebSocketProtocolError: The other side sent bytes that are no frame. It gets a close frame with the reason.
        """
        reader = MessageReader()
        while data := await self._connection.read():
            try:
                received = reader.feed(data)
            except WebSocketProtocolError:
                await self._send_close(PROTOCOL_ERROR.to_bytes(2, "big"))
                raise
            for message in received:
                if message.opcode is Opcode.CLOSE:
                    await self._send_close(message.data[:2])
                    return
                if message.opcode is Opcode.PING:
                    await self.send(Opcode.PONG, message.data)
                elif message.opcode is not Opcode.PONG:
                    yield message

    async def send(self, opcode: Opcode, data: bytes) -> None:
        """Send a message.

        Raises:
            BrokenPipeError: The WebSocket is closed.
        """
        if self._is_closed:
            raise BrokenPipeError("the WebSocket is closed")
        await self._write(opcode, data)

    async def close(self) -> None:
        """Close the WebSocket: no more messages are sent."""
        await self._send_close(NORMAL_CLOSURE.to_bytes(2, "big"))

    async def _send_close(self, code: bytes) -> None:
        if not self._is_closed:
            self._is_closed = True
            await self._write(Opcode.CLOSE, code)

    async def _write(self, opcode: Opcode, data: bytes) -> None:
        mask = b"" if self._mask is None else self._mask.randbytes(4)
        await self._connection.write(encode_frame(opcode, data, mask))


class WebSocketTunnel:
    """A connection of bytes in the binary messages of a WebSocket. Their boundaries have no meaning."""

    def __init__(self, socket: WebSocketConnection) -> None:
        self._socket, self._messages = socket, socket.messages()

    async def read(self) -> bytes:
        """Return received bytes, at least one; b"" after the WebSocket is closed.

        Raises:
            WebSocketProtocolError: The other side sent something else than binary messages.
        """
        async for message in self._messages:
            if message.opcode is not Opcode.BINARY:
                raise WebSocketProtocolError("a message of a tunnel is not binary")
            if message.data:
                return message.data
        return b""

    async def write(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            BrokenPipeError: The WebSocket is closed.
        """
        await self._socket.send(Opcode.BINARY, data)

    async def close(self) -> None:
        """Close the WebSocket."""
        await self._socket.close()
