"""The parts of a server around a parser: a task per connection, waiting for input, and backpressure on writes."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable


class TaskProtocol(asyncio.Protocol, ABC):
    """A connection with a task that reads and writes.

    There are no timeouts for heads, bodies, idle connections and clients that stop reading.
    """

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self.is_at_end = False
        self._input: asyncio.Future[None] | None = None
        self._output: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the task."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._task = asyncio.get_running_loop().create_task(self._served())

    @abstractmethod
    def received(self, data: bytes) -> None:
        """Process received bytes, or b"" at the end."""

    @abstractmethod
    async def run(self) -> None:
        """Serve until the connection is to be closed."""

    def data_received(self, data: bytes) -> None:
        """Pass received bytes to the parser."""
        self.received(data)
        self._wake()

    def eof_received(self) -> bool:
        """Pass on the end of the client's data."""
        self.is_at_end = True
        self.received(b"")
        self._wake()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the task when the client disconnects."""
        self.is_at_end = True
        self._task.cancel()

    def pause_writing(self) -> None:
        """Make writers wait."""
        self._output = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """Let writers continue."""
        if self._output is not None and not self._output.done():
            self._output.set_result(None)
        self._output = None

    async def more(self) -> None:
        """Wait until bytes arrive or the client's data ends."""
        self._input = asyncio.get_running_loop().create_future()
        await self._input

    async def write(self, data: bytes) -> None:
        """Write, and wait until most of the data is sent."""
        self.transport.write(data)
        if self._output is not None:
            await self._output

    def _wake(self) -> None:
        if self._input is not None and not self._input.done():
            self._input.set_result(None)

    async def _served(self) -> None:
        try:
            await self.run()
        finally:
            self.transport.close()


Factory = Callable[[], asyncio.Protocol]
