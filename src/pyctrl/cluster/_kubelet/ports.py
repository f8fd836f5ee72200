"""Connections to the ports of simulated pods: served by a function, or by an address of this machine."""

from __future__ import annotations

import asyncio

from pyctrl._pipe_streams import copy_streams, open_pipe_streams
from pyctrl._pipes import Pipe
from pyctrl._tasks import unwrapped
from pyctrl.apiserver import KubeletError
from pyctrl.cluster._kubelet.scripts import PortFunction

__all__ = ["forward_port", "split_address"]


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
        await _serve(_forwarder_to(target, await _connect(target)), received, sent)
    else:
        await _serve(target, received, sent)


async def _connect(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        return await asyncio.open_connection(*split_address(address))
    except OSError as error:
        raise KubeletError(f"failed to connect to {address} on this machine: {error}") from error


def split_address(address: str) -> tuple[str, int]:
    """Return host and port of an address such as ``localhost:5432``, ``[::1]:5432`` or ``:5432``."""
    host, _, port = address.rpartition(":")
    return host.strip("[]") or "localhost", int(port)


def _forwarder_to(address: str, streams: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> PortFunction:
    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await copy_streams(reader, writer, *streams)
        except ConnectionError as error:
            raise KubeletError(f"the connection to {address} on this machine was lost: {error}") from error

    return forward


async def _serve(function: PortFunction, received: Pipe, sent: Pipe) -> None:
    """Call a function with the streams of a connection, which it may close or leave to this."""
    reader, writer, run = open_pipe_streams(received, sent)
    with unwrapped():
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(run)
            try:
                await function(reader, writer)
            finally:
                writer.close()
