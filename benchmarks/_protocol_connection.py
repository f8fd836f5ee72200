"""What a server needs beside a parser: a task for each connection, waiting for input, writing no faster than read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class TaskProtocol(asyncio.Protocol):
    """A connection with a task that reads and writes.

    Limits of time are not here: those of a head, a body, an idle connection, and a client that has stopped reading.
    """

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self.is_at_end = False
        self._input: asyncio.Future[None] | None = None
        self._output: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to serve."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._task = asyncio.get_running_loop().create_task(self._served())

    def received(self, data: bytes) -> None:
        """Take what was read; b"" at the end."""
        raise NotImplementedError

    async def run(self) -> None:
        """Serve until the connection is to be closed."""
        raise NotImplementedError

    def data_received(self, data: bytes) -> None:
        """Pass on what was read."""
        self.received(data)
        self._wake()

    def eof_received(self) -> bool:
        """Pass on that the client sends nothing more."""
        self.is_at_end = True
        self.received(b"")
        self._wake()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """End with the client."""
        self.is_at_end = True
        self._task.cancel()

    def pause_writing(self) -> None:
        """Let writers wait."""
        self._output = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """Let writers go on."""
        if self._output is not None and not self._output.done():
            self._output.set_result(None)
        self._output = None

    async def more(self) -> None:
        """Wait until something was read, or the client has ended."""
        self._input = asyncio.get_running_loop().create_future()
        await self._input

    async def write(self, data: bytes) -> None:
        """Write, and wait until most of it was taken."""
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
