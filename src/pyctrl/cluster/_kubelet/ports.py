"""Connections to the ports of simulated pods: served by a function, or by an address of this machine."""

from __future__ import annotations

import asyncio
from typing import Any

from pyctrl._pipes import Pipe
from pyctrl._tasks import unwrapped
from pyctrl.apiserver import KubeletError
from pyctrl.cluster._kubelet.scripts import PortFunction

__all__ = ["forward_port"]


async def forward_port(target: PortFunction | str, received: Pipe, sent: Pipe) -> None:
    """Serve one connection, until both sides have closed it.

    Args:
        target: Serves the connection: a function, or an address such as ``localhost:5432``.
        received: The bytes that the client sends.
        sent: Takes the bytes for the client.

    Raises:
        KubeletError: Nothing listens at the address.
    """
    if isinstance(target, str):
        await _forward_to_address(target, received, sent)
    else:
        await _serve(target, received, sent)


async def _forward_to_address(address: str, received: Pipe, sent: Pipe) -> None:
    host, _, port = address.rpartition(":")
    try:
        reader, writer = await asyncio.open_connection(host.strip("[]") or "localhost", int(port))
    except OSError as error:
        raise KubeletError(f"failed to connect to {address} on this machine: {error}") from error
    try:
        async with asyncio.TaskGroup() as tasks:
            copying = tasks.create_task(_copy_to_socket(received, writer))
            while data := await reader.read(64 * 1024):
                await sent.write(data)
            sent.close()
            copying.cancel()  # as kubelets do: the connection ends when the pod has closed its side
    except* ConnectionError:
        sent.close()  # one of the sides is gone
    finally:
        writer.close()


async def _copy_to_socket(received: Pipe, writer: asyncio.StreamWriter) -> None:
    while data := await received.read():
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def _serve(function: PortFunction, received: Pipe, sent: Pipe) -> None:
    """Call a function with the streams of a connection, which it may close or leave to this."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**16, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport = PipeTransport(sent, protocol)
    protocol.connection_made(transport)
    writer = asyncio.StreamWriter(transport, protocol, reader, loop)
    with unwrapped():
        await _run_with_streams(function, reader, writer, received, transport)


async def _run_with_streams(
    function: PortFunction,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    received: Pipe,
    transport: PipeTransport,
) -> None:
    async with asyncio.TaskGroup() as tasks:
        feeding = tasks.create_task(_feed(received, reader, transport))
        sending = tasks.create_task(transport.run())
        try:
            await function(reader, writer)
        finally:
            transport.close()
            feeding.cancel()
        await sending


async def _feed(received: Pipe, reader: asyncio.StreamReader, transport: PipeTransport) -> None:
    while data := await received.read():
        await transport.readable.wait()
        reader.feed_data(data)
    reader.feed_eof()


class PipeTransport(asyncio.Transport):
    """The transport of a `StreamWriter` that writes to a pipe. `run` sends what is written."""

    def __init__(self, sent: Pipe, protocol: asyncio.BaseProtocol) -> None:
        super().__init__({"peername": ("127.0.0.1", 0), "sockname": ("127.0.0.1", 0)})
        self._sent, self._protocol = sent, protocol
        self._buffer = bytearray()
        self._is_closing = self._is_at_end = self._is_paused = False
        self._changed = asyncio.Event()
        #: Set while the reader wants more data.
        self.readable = asyncio.Event()
        self.readable.set()

    async def run(self) -> None:
        """Send what is written, until the transport is closed."""
        while True:
            while self._buffer:
                data = bytes(self._buffer)
                self._buffer.clear()
                try:
                    await self._sent.write(data)
                except BrokenPipeError as error:
                    self._lose(error)
                    return
            self._resume()
            if self._is_at_end:
                self._sent.close()
            if self._is_closing:
                self._lose(None)
                return
            self._changed.clear()
            await self._changed.wait()

    def _lose(self, error: Exception | None) -> None:
        self._is_closing = True
        self._sent.close()
        assert isinstance(self._protocol, asyncio.Protocol)
        self._protocol.connection_lost(error)

    def _resume(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self._protocol.resume_writing()

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Buffer bytes; the writer waits while there are many."""
        if self._is_closing or self._is_at_end:
            return
        self._buffer += data
        self._changed.set()
        if len(self._buffer) > 64 * 1024 and not self._is_paused:
            self._is_paused = True
            self._protocol.pause_writing()

    def can_write_eof(self) -> bool:
        """Return True: the client reads the end and may send more."""
        return True

    def write_eof(self) -> None:
        """End what is sent; the client may still send."""
        self._is_at_end = True
        self._changed.set()

    def close(self) -> None:
        """Close after the buffer is sent."""
        self._is_closing = True
        self._changed.set()

    def abort(self) -> None:
        """Close and drop the buffer."""
        self._buffer.clear()
        self.close()

    def is_closing(self) -> bool:
        """Return whether the transport is closed or will be."""
        return self._is_closing

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return the protocol of the streams."""
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Set another protocol."""
        self._protocol = protocol

    def pause_reading(self) -> None:
        """Stop feeding the reader."""
        self.readable.clear()

    def resume_reading(self) -> None:
        """Feed the reader again."""
        self.readable.set()

    def is_reading(self) -> bool:
        """Return whether the reader is fed."""
        return self.readable.is_set()
