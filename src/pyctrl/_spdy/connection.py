"""Streams over one SPDY connection, for both of its sides. There is no flow control but that of the connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from enum import Enum

from pyctrl._pipes import ByteConnection, Pipe
from pyctrl._spdy.frames import (
    Data,
    Frame,
    FrameReader,
    FrameWriter,
    GoAway,
    Ping,
    ResetStatus,
    RstStream,
    SynReply,
    SynStream,
)

__all__ = ["SPDYConnection", "SPDYStream"]

UNREAD_LIMIT = 1024 * 1024  # bytes of a stream at which its connection is no longer read
PART = 32 * 1024  # bytes of a data frame; larger ones would delay those of other streams


class _Side(Enum):
    """What this side of a stream may still send."""

    UNREPLIED = "unreplied"  # the stream is not accepted yet
    OPEN = "open"
    CLOSED = "closed"


class SPDYStream:
    """A stream in both directions.

    Attributes:
        number: Its number; odd if the client has opened it.
        headers: The headers with which it was opened, with names in lower case.
        received: The bytes that the other side sends.
    """

    def __init__(self, connection: SPDYConnection, number: int, headers: Mapping[str, str]) -> None:
        self.number: int = number
        self.headers: Mapping[str, str] = headers
        self.received: Pipe = Pipe(limit=UNREAD_LIMIT)
        self._connection, self._side = connection, _Side.UNREPLIED
        self._is_accepted = False
        self._replied = asyncio.Event()  # also set when the stream is refused, or the connection has ended

    async def write(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            BrokenPipeError: The stream is closed.
        """
        for start in range(0, len(data), PART):
            if self._side is _Side.CLOSED:
                raise BrokenPipeError("the stream is closed")
            await self._connection.send(Data(self.number, data[start : start + PART]))

    async def close(self) -> None:
        """End this side of the stream; the other side may still send."""
        if self._side is not _Side.CLOSED:
            self._side = _Side.CLOSED
            await self._connection.send(Data(self.number, is_final=True))
            self._connection.forget_if_closed(self)

    async def reset(self) -> None:
        """End both sides of the stream."""
        is_open = self._side is not _Side.CLOSED
        self.end()
        self._connection.forget_if_closed(self)
        if is_open:
            await self._connection.send(RstStream(self.number))

    def end(self) -> None:
        """Note that both sides have ended."""
        self._side = _Side.CLOSED
        self.received.close()
        self._replied.set()

    def accept(self) -> None:
        """Note that the stream is accepted."""
        if self._side is _Side.UNREPLIED:
            self._side, self._is_accepted = _Side.OPEN, True
        self._replied.set()

    @property
    def is_closed(self) -> bool:
        """Whether both sides have ended."""
        return self._side is _Side.CLOSED and self.received.is_closed

    async def wait_for_reply(self) -> bool:
        """Wait until the other side has accepted or refused the stream; return whether it was accepted."""
        await self._replied.wait()
        return self._is_accepted


class SPDYConnection:
    """One side of a connection. `run` must run while streams are used.

    Args:
        connection: Carries the frames.
        is_client: Whether this is the client's side.
    """

    def __init__(self, connection: ByteConnection, *, is_client: bool = False) -> None:
        self._connection, self._is_client = connection, is_client
        self._reader, self._writer = FrameReader(), FrameWriter()
        self._streams: dict[int, SPDYStream] = {}
        self._next = 1 if is_client else 2
        self._last_received = 0
        self._is_going_away = False
        self._writing = asyncio.Lock()  # frames must be sent in the order in which their headers are compressed

    async def run(self, open_stream: Callable[[SPDYStream], bool] = lambda _: False) -> None:
        """Receive frames until the other side closes the connection, or announces that and no stream is open.

        Args:
            open_stream: Is called with each stream that the other side opens, before it is accepted; returns whether
                to accept it.

        Raises:
            ConnectionError: The connection is lost.
            SPDYProtocolError: The other side does not speak SPDY.
        """
        try:
            while not (self._is_going_away and not self._streams) and (data := await self._connection.read()):
                for frame in self._reader.feed(data):
                    await self._take(frame, open_stream)
        finally:
            self._is_going_away = True
            for stream in self._streams.values():
                stream.end()
            self._streams.clear()

    async def open(self, headers: Mapping[str, str]) -> SPDYStream:
        """Open a stream and wait until the other side has accepted it.

        Raises:
            ConnectionRefusedError: The other side has refused it, or has closed the connection.
        """
        if self._is_going_away:
            raise ConnectionRefusedError("the connection is closed")
        stream = self._streams[self._next] = SPDYStream(self, self._next, headers)
        self._next += 2
        await self.send(SynStream(stream.number, headers))
        if not await stream.wait_for_reply():
            raise ConnectionRefusedError("the stream was refused")
        return stream

    async def close(self) -> None:
        """End all streams, and announce the end of the connection."""
        for stream in tuple(self._streams.values()):
            await stream.reset()
        await self.send(GoAway(self._last_received))

    async def send(self, frame: Frame) -> None:
        """Send a frame."""
        async with self._writing:
            await self._connection.write(self._writer.encode(frame))

    def forget_if_closed(self, stream: SPDYStream) -> None:
        """Drop a stream whose sides have both ended."""
        if stream.is_closed:
            self._streams.pop(stream.number, None)

    async def _take(self, frame: Frame, open_stream: Callable[[SPDYStream], bool]) -> None:
        match frame:
            case SynStream():
                await self._take_stream(frame, open_stream)
            case Data(number, data, is_final):
                if (stream := self._streams.get(number)) is not None:
                    await self._take_data(stream, data, is_final=is_final)
            case SynReply(number, is_final):
                if (stream := self._streams.get(number)) is not None:
                    stream.accept()
                    await self._take_data(stream, b"", is_final=is_final)
            case RstStream(number):
                if (stream := self._streams.pop(number, None)) is not None:
                    stream.end()
            case Ping(number):
                if number % 2 != self._is_client:  # not the answer to one of ours
                    await self.send(frame)
            case GoAway():
                self._is_going_away = True

    async def _take_stream(self, frame: SynStream, open_stream: Callable[[SPDYStream], bool]) -> None:
        if frame.stream % 2 == self._is_client or frame.stream <= self._last_received:
            await self.send(RstStream(frame.stream, ResetStatus.PROTOCOL_ERROR))
            return
        self._last_received = frame.stream
        stream = SPDYStream(self, frame.stream, frame.headers)
        if self._is_going_away or not open_stream(stream):
            await self.send(RstStream(frame.stream, ResetStatus.CANCEL))
            return
        self._streams[frame.stream] = stream
        stream.accept()
        await self.send(SynReply(frame.stream))
        await self._take_data(stream, b"", is_final=frame.is_final)

    async def _take_data(self, stream: SPDYStream, data: bytes, *, is_final: bool) -> None:
        if data and not stream.received.is_closed:
            try:
                await stream.received.write(data)
            except BrokenPipeError:
                return  # reset while this waited
        if is_final:
            stream.received.close()
            self.forget_if_closed(stream)
