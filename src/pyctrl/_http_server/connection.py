"""One client connection: its phase, time limits and request bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum
from typing import Protocol, cast

from pyctrl._http_server.limits import ServerLimits

__all__ = ["Connection", "Phase"]


class Phase(Enum):
    """What a connection is waiting for."""

    HEAD = "head"  # the end of the TLS handshake and of a request's head
    BODY = "body"  # the rest of a request's body
    ANSWER = "answer"  # the response of the handler
    DISCARD = "discard"  # the rest of a body whose request was answered already; it is read and dropped
    IDLE = "idle"  # the next request


class _Pool(Protocol):
    """The methods of `ConnectionPool` that a connection calls; they are documented there."""

    @property
    def limits(self) -> ServerLimits: ...

    def seconds(self, phase: Phase) -> float | None: ...

    def has(self, connection: Connection) -> bool: ...

    def add(self, connection: Connection) -> None: ...

    def moved(self, connection: Connection) -> None: ...

    def discard(self, connection: Connection) -> None: ...

    def closed(self, connection: Connection) -> None: ...

    def received(self, connection: Connection, count: int) -> None: ...

    def answered(self, connection: Connection) -> None: ...


class Connection(asyncio.Protocol):
    """A protocol between a transport and the HTTP parser, which closes the connection at its time limits.

    Args:
        pool: the connections of the same server.
        parser: the protocol that parses requests.
    """

    def __init__(self, pool: _Pool, parser: asyncio.Protocol) -> None:
        self._pool, self.parser = pool, parser
        self._loop = asyncio.get_running_loop()
        self.phase = Phase.HEAD
        #: When the phase began, on the loop's clock.
        self.since: float = self._loop.time()
        #: Bytes of received requests that are not answered yet.
        self.held: int = 0
        self._socket: asyncio.Transport | None = None  # the transport of the socket, below TLS
        self._transport: asyncio.Transport | None = None  # the transport that the parser writes to
        self._end_body: Callable[[], None] = lambda: None
        self._deadline: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    @property
    def is_in_handshake(self) -> bool:
        """Whether the TLS handshake is not complete."""
        return self._transport is None

    @property
    def waits_for_client(self) -> bool:
        """Whether the server waits for the client, and all of its writes are sent."""
        transports = [each for each in (self._transport, self._socket) if each is not None]
        return self.phase is not Phase.ANSWER and not any(each.get_write_buffer_size() for each in transports)

    # -- the socket ----------------------------------------------------------------------------------------------

    def opened(self, socket: asyncio.Transport) -> None:
        """Register the connection and start its first time limit, which includes a TLS handshake."""
        self._socket = socket
        self._pool.add(self)
        self.enter(Phase.HEAD)

    def closed(self) -> None:
        """Cancel the timers and leave the pool."""
        for timer in (self._deadline, self._stalled):
            if timer is not None:
                timer.cancel()
        self._pool.closed(self)

    def cut(self) -> None:
        """Close the connection at once."""
        self._pool.discard(self)  # now, so that a new connection can be accepted
        if self._socket is not None:
            self._socket.abort()

    # -- asyncio.Protocol, forwarded to the parser ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connect the parser, after the TLS handshake if there is one."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports are not subclasses
        if self._socket is None:
            self.opened(self._transport)
        self.parser.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Forward bytes, and count them until the request is answered."""
        if self.phase is Phase.IDLE:
            self.enter(Phase.HEAD)
        self.parser.data_received(data)
        if self.phase is not Phase.DISCARD:
            self.held += len(data)
            self._pool.received(self, len(data))

    def eof_received(self) -> bool | None:
        """Forward the end of the client's data."""
        return self.parser.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forward that the connection is closed."""
        if self._transport is self._socket:
            self.closed()
        self.parser.connection_lost(exc)
        if self.phase is Phase.DISCARD:
            self._end_body()  # otherwise aiohttp would wait for the rest of the body until its own time limit

    def pause_writing(self) -> None:
        """Start the time limit for the client to read the response."""
        self._stalled = self._loop.call_later(self._pool.limits.stall_seconds, self.cut)
        self.parser.pause_writing()

    def resume_writing(self) -> None:
        """Let the parser write again."""
        if self._stalled is not None:
            self._stalled.cancel()
        self.parser.resume_writing()

    def pause_reading(self) -> None:
        """Read nothing for now."""
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read again."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    # -- requests ------------------------------------------------------------------------------------------------

    def began(self, end_body: Callable[[], None]) -> None:
        """Record that the head of a request is complete.

        Args:
            end_body: called if the client disconnects before it has sent the rest of a discarded body.
        """
        self._end_body = end_body
        self.enter(Phase.BODY)

    def has_body(self) -> None:
        """Record that the body of the request is complete."""
        if self.phase is Phase.BODY:
            self.enter(Phase.ANSWER)
        elif self.phase is Phase.DISCARD:
            self.enter(Phase.IDLE)

    def answered(self) -> None:
        """Record that the request is answered, perhaps before its body was complete."""
        self._pool.answered(self)
        self.enter(Phase.DISCARD if self.phase is Phase.BODY else Phase.IDLE)

    def enter(self, phase: Phase) -> None:
        """Enter a phase and start its time limit."""
        self.phase, self.since = phase, self._loop.time()
        self._pool.moved(self)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        seconds = self._pool.seconds(phase)
        if seconds is not None and self._pool.has(self):
            self._deadline = self._loop.call_at(self.since + seconds, self.cut)
