"""WebSocket framing (RFC 6455) without I/O, for both sides of a connection. Extensions are not supported."""

from __future__ import annotations

import base64
import hashlib
from enum import IntEnum
from typing import NamedTuple

__all__ = ["Message", "MessageReader", "Opcode", "WebSocketProtocolError", "accept_key", "encode_frame"]

MESSAGE_LIMIT = 32 * 1024 * 1024  # bytes
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class WebSocketProtocolError(Exception):
    """The other side sent something that is not a WebSocket frame."""


class Opcode(IntEnum):
    """The types of frames."""

    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


class Message(NamedTuple):
    """A message, or a control frame."""

    opcode: Opcode
    data: bytes


def accept_key(key: str) -> str:
    """Return the header Sec-WebSocket-Accept for a Sec-WebSocket-Key."""
    return base64.b64encode(hashlib.sha1(key.encode() + _GUID, usedforsecurity=False).digest()).decode()


def encode_frame(opcode: Opcode, data: bytes, mask: bytes = b"") -> bytes:
    """Encode a whole message as one frame. Clients pass a mask of four random bytes."""
    masked = 0x80 if mask else 0
    length = len(data)
    if length < 126:
        head = bytes((0x80 | opcode, masked | length))
    elif length < 1 << 16:
        head = bytes((0x80 | opcode, masked | 126)) + length.to_bytes(2, "big")
    else:
        head = bytes((0x80 | opcode, masked | 127)) + length.to_bytes(8, "big")
    return head + mask + (_xor(data, mask) if mask else data)


def _xor(data: bytes, mask: bytes) -> bytes:
    repeated = (mask * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")).to_bytes(len(data), "big")


class MessageReader:
    """Reads messages from received bytes; joins fragments, between which control frames may come."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._opcode: Opcode | None = None  # of the message whose fragments are being received
        self._fragments = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """Return the messages that are complete now.

        Raises:
            WebSocketProtocolError: The bytes are no frame, or a message is too large.
        """
        self._buffer += data
        messages = []
        while (frame := self._frame()) is not None:
            message = self._message(*frame)
            if message is not None:
                messages.append(message)
        return messages

    def _frame(self) -> tuple[bool, Opcode, bytes] | None:
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        first, length, at = buffer[0], buffer[1] & 0x7F, 2
        if first & 0x70 or first & 0x0F not in Opcode.__members__.values():
            raise WebSocketProtocolError("reserved bits or opcode")
        size = {126: 2, 127: 8}.get(length, 0)
        if len(buffer) < at + size:
            return None
        if size:
            length, at = int.from_bytes(buffer[at : at + size], "big"), at + size
        if length > MESSAGE_LIMIT:
            raise WebSocketProtocolError("the message is too large")
        mask_size = 4 if buffer[1] & 0x80 else 0
        end = at + mask_size + length
        if len(buffer) < end:
            return None
        mask, payload = bytes(buffer[at : at + mask_size]), bytes(buffer[at + mask_size : end])
        del buffer[:end]
        return bool(first & 0x80), Opcode(first & 0x0F), _xor(payload, mask) if mask else payload

    def _message(self, is_final: bool, opcode: Opcode, payload: bytes) -> Message | None:
        if opcode >= Opcode.CLOSE:
            if not is_final or len(payload) > 125:
                raise WebSocketProtocolError("a control frame must be short and whole")
            return Message(opcode, payload)
        if (opcode is Opcode.CONTINUATION) != (self._opcode is not None):
            raise WebSocketProtocolError("a fragment is missing")
        if opcode is not Opcode.CONTINUATION:
            self._opcode = opcode
        self._fragments += payload
        if len(self._fragments) > MESSAGE_LIMIT:
            raise WebSocketProtocolError("the message is too large")
        if not is_final:
            return None
        assert self._opcode is not None
        message = Message(self._opcode, bytes(self._fragments))
        self._opcode = None
        self._fragments.clear()
        return message
