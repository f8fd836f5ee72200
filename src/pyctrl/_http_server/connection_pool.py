"""Connections of one server: limits on their number and request bytes, and the choice of which to close."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress

from pyctrl._http_server.client_warnings import ServerWarnings
from pyctrl._http_server.connection import Connection, Phase
from pyctrl._http_server.limits import ServerLimits

__all__ = ["ConnectionPool"]

log = logging.getLogger("pyctrl.server")

SLOW_SECONDS = 1.0  # a request that takes longer to arrive may be closed for another; API servers take milliseconds
BODY_GRACE_SECONDS = 5.0  # for the handler to respond 408 before the connection is closed
DISCARD_SECONDS = 5.0  # for a client to read the rejection of a body that it is still sending


class ConnectionPool:
    """The open connections of one server, within its limits.

    Args:
        name: the name of the server, for logs.
        limits: the limits of the server.
        on_closed: called with each closed connection, just before its socket is closed.
    """

    def __init__(self, name: str, limits: ServerLimits, *, on_closed: Callable[[Connection], None]) -> None:
        self.name, self._on_closed = name, on_closed
        self.limits: ServerLimits = limits
        self._seconds = {
            Phase.HEAD: limits.head_seconds,
            Phase.BODY: limits.body_seconds + BODY_GRACE_SECONDS,
            Phase.DISCARD: DISCARD_SECONDS,
            Phase.IDLE: limits.idle_seconds,
        }
        self._connections: dict[Connection, None] = {}  # in the order in which their phases began
        self._bytes = 0
        self._paused: set[Connection] = set()
        self._retry: asyncio.TimerHandle | None = None
        self._change = asyncio.Event()
        self._warnings = ServerWarnings(name)

    def __len__(self) -> int:
        return len(self._connections)

    @property
    def request_bytes(self) -> int:
        """Bytes of received requests that are not answered yet."""
        return self._bytes

    def seconds(self, phase: Phase) -> float | None:
        """Return how long a connection may stay in a phase; None: no limit."""
        return self._seconds.get(phase)

    # -- connections ---------------------------------------------------------------------------------------------

    def has(self, connection: Connection) -> bool:
        """Return whether a connection is open."""
        return connection in self._connections

    def add(self, connection: Connection) -> None:
        """Add a connection with an open socket."""
        self._connections[connection] = None

    def moved(self, connection: Connection) -> None:
        """Record that a connection has entered another phase."""
        if connection in self._connections:
            self._connections[connection] = self._connections.pop(connection)
            self._change.set()

    def discard(self, connection: Connection) -> None:
        """Remove a connection that is closed or about to be."""
        if connection in self._connections:
            del self._connections[connection]
            self._paused.discard(connection)
            self.answered(connection)
            self._change.set()

    def closed(self, connection: Connection) -> None:
        """Record that a connection is closed."""
        self.discard(connection)
        self._on_closed(connection)

    def close_handshakes(self) -> None:
        """Close the connections in a TLS handshake; those after it are closed by their parsers."""
        for connection in [each for each in self._connections if each.is_in_handshake]:
            connection.cut()
        if self._retry is not None:
            self._retry.cancel()

    async def make_place(self) -> None:
        """Return when another connection can be accepted; close the longest idle one if necessary."""
        while len(self._connections) >= self.limits.connections and not self.close_idle():
            self._change.clear()  # all are waiting for their responses: wait until one is answered
            with suppress(TimeoutError):
                async with asyncio.timeout(SLOW_SECONDS):  # or until one has read the rest of its response
                    await self._change.wait()

    def close_idle(self) -> bool:
        """Close the connection that has waited longest for its client; return False if there is none."""
        victim = next((each for each in self._connections if each.waits_for_client), None)
        if victim is None:
            return False
        self._warnings.warn("Too many connections, closing the longest idle", connections=len(self._connections))
        victim.cut()
        return True

    # -- bytes ---------------------------------------------------------------------------------------------------

    def received(self, connection: Connection, count: int) -> None:
        """Count bytes of a request; at the limit, close a slow request or pause reading this one."""
        if connection not in self._connections:
            connection.held = 0
            return
        self._bytes += count
        self._close_slow()
        if self._bytes > self.limits.request_bytes and connection in self._connections:
            self._paused.add(connection)
            connection.pause_reading()
            if self._retry is None:
                self._retry = asyncio.get_running_loop().call_later(SLOW_SECONDS, self._look_again)

    def answered(self, connection: Connection) -> None:
        """Forget the bytes of a connection's request."""
        self._bytes -= connection.held
        connection.held = 0
        if self._bytes <= self.limits.request_bytes:
            self._resume()

    def _resume(self) -> None:
        paused, self._paused = self._paused, set()
        for connection in paused:
            connection.resume_reading()

    def _look_again(self) -> None:
        self._retry = None
        self._close_slow()
        if self._paused:
            self._retry = asyncio.get_running_loop().call_later(SLOW_SECONDS, self._look_again)

    def _close_slow(self) -> None:
        while self._bytes > self.limits.request_bytes and (victim := next(self._slow(), None)) is not None:
            self._warnings.warn("Too many bytes of requests, closing the slowest request", bytes=self._bytes)
            victim.cut()

    def _slow(self) -> Iterator[Connection]:
        latest = asyncio.get_running_loop().time() - SLOW_SECONDS
        for connection in self._connections:
            if connection.since > latest:
                return
            if connection.held and connection.phase in (Phase.HEAD, Phase.BODY):
                yield connection
