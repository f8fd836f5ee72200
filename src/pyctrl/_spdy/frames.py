"""Frames of SPDY/3, without I/O, for both sides of a connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

from pyctrl._spdy.headers import HeaderCompressor, HeaderDecompressor, InvalidHeaderBlock

__all__ = [
    "Data",
    "Frame",
    "FrameReader",
    "FrameWriter",
    "GoAway",
    "Ping",
    "ResetStatus",
    "RstStream",
    "SPDYProtocolError",
    "SynReply",
    "SynStream",
]

VERSION = 3
DATA_LIMIT = (1 << 24) - 1  # bytes of a frame: its length has 24 bits
_CONTROL = 0x8000
_FIN = 0x01
_SYN_STREAM, _SYN_REPLY, _RST_STREAM, _PING, _GOAWAY, _HEADERS = 1, 2, 3, 6, 7, 8
_IGNORED = (4, 9, _HEADERS)  # SETTINGS and WINDOW_UPDATE: Kubernetes has no flow control; HEADERS: it reads none


class SPDYProtocolError(Exception):
    """The other side sent something that is not a SPDY/3 frame."""


class ResetStatus(IntEnum):
    """The reasons of RST_STREAM."""

    PROTOCOL_ERROR = 1
    INVALID_STREAM = 2
    REFUSED_STREAM = 3
    CANCEL = 5


@dataclass(frozen=True, slots=True)
class SynStream:
    """Opens a stream. With `is_final` the sender sends no data on it."""

    stream: int
    headers: Mapping[str, str] = field(default_factory=dict)
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class SynReply:
    """Accepts a stream."""

    stream: int
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class RstStream:
    """Ends a stream in both directions."""

    stream: int
    status: int = ResetStatus.CANCEL


@dataclass(frozen=True, slots=True)
class Ping:
    """Is sent back by the other side. Clients use odd numbers, servers even ones."""

    number: int


@dataclass(frozen=True, slots=True)
class GoAway:
    """Announces the end of the connection: the sender accepts no more streams."""

    last_stream: int = 0


@dataclass(frozen=True, slots=True)
class Data:
    """Data of a stream. With `is_final` the sender sends no more of it."""

    stream: int
    data: bytes = b""
    is_final: bool = False


Frame: TypeAlias = SynStream | SynReply | RstStream | Ping | GoAway | Data


class FrameWriter:
    """Encodes the frames of one direction. They must be sent in the order in which they are encoded."""

    def __init__(self) -> None:
        self._headers = HeaderCompressor()

    def encode(self, frame: Frame) -> bytes:
        """Return the bytes of a frame."""
        match frame:
            case Data(stream, data, is_final):
                return _word(stream) + _flags_and_length(_FIN if is_final else 0, len(data)) + data
            case SynStream(stream, headers, is_final):
                # after the stream: the associated stream, priority and slot, which are not used
                return _control(_SYN_STREAM, _word(stream) + bytes(6) + self._headers.encode(headers), is_final)
            case SynReply(stream, is_final):
                return _control(_SYN_REPLY, _word(stream) + self._headers.encode({}), is_final)
            case RstStream(stream, status):
                return _control(_RST_STREAM, _word(stream) + _word(status))
            case Ping(number):
                return _control(_PING, _word(number))
            case GoAway(last):
                return _control(_GOAWAY, _word(last) + _word(0))


class FrameReader:
    """Reads frames from received bytes. Frames that Kubernetes does not use are skipped."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._headers = HeaderDecompressor()

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that are complete now.

        Raises:
            SPDYProtocolError: The bytes are no frame.
        """
        self._buffer += data
        frames: list[Frame] = []
        while len(self._buffer) >= 8:
            head = bytes(self._buffer[:8])
            end = 8 + int.from_bytes(head[5:8], "big")
            if head[0] & 0x80 and int.from_bytes(head[:2], "big") != _CONTROL | VERSION:
                raise SPDYProtocolError(f"expected a frame of version {VERSION}, got {head.hex()}")
            if len(self._buffer) < end:
                break
            payload = bytes(self._buffer[8:end])
            del self._buffer[:end]
            if (frame := self._frame(head, payload)) is not None:
                frames.append(frame)
        return frames

    def _frame(self, head: bytes, payload: bytes) -> Frame | None:
        is_final = bool(head[4] & _FIN)
        if not head[0] & 0x80:
            return Data(int.from_bytes(head[:4], "big"), payload, is_final)
        kind, first = int.from_bytes(head[2:4], "big"), int.from_bytes(payload[:4], "big")
        stream = first & 0x7FFF_FFFF
        if len(payload) < 4:
            raise SPDYProtocolError("a control frame is too short")
        match kind:
            case 1 if len(payload) >= 10:
                return SynStream(stream, self._decode(payload[10:]), is_final)
            case 2:
                self._decode(payload[4:])
                return SynReply(stream, is_final)
            case 3 if len(payload) == 8:
                return RstStream(stream, int.from_bytes(payload[4:], "big"))
            case 6:
                return Ping(first)
            case 7:
                return GoAway(stream)
            case _ if kind in _IGNORED:
                if kind == _HEADERS:
                    self._decode(payload[4:])  # the state of the compression includes it
                return None
        raise SPDYProtocolError(f"unknown or damaged control frame of type {kind}")

    def _decode(self, block: bytes) -> dict[str, str]:
        try:
            return self._headers.decode(block)
        except InvalidHeaderBlock as error:
            raise SPDYProtocolError(str(error)) from error


def _control(kind: int, payload: bytes, is_final: bool = False) -> bytes:
    head = (_CONTROL | VERSION).to_bytes(2, "big") + kind.to_bytes(2, "big")
    return head + _flags_and_length(_FIN if is_final else 0, len(payload)) + payload


def _flags_and_length(flags: int, length: int) -> bytes:
    return bytes((flags,)) + length.to_bytes(3, "big")


def _word(value: int) -> bytes:
    return value.to_bytes(4, "big")
