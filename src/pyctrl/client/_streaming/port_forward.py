"""Connections to the ports of pods, as of `kubectl port-forward`: SPDY, tunnelled in a WebSocket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from random import Random

from pyctrl._http_server import Listener
from pyctrl._pipe_streams import copy_streams, open_pipe_streams
from pyctrl._pipes import Pipe
from pyctrl._spdy import SPDYConnection, SPDYProtocolError, SPDYStream
from pyctrl._tasks import unwrapped
from pyctrl._websocket import WebSocketProtocolError
from pyctrl._websocket_connection import WebSocketTunnel
from pyctrl.api import Key
from pyctrl.client._client import Client
from pyctrl.client._streaming.web_socket import open_pod_socket
from pyctrl.errors import StreamBroken

__all__ = ["PortForwarder", "port_forward"]

_PROTOCOL = "SPDY/3.1+portforward.k8s.io"
BACKLOG = 128  # connections of a local port that wait to be accepted; Go's default is larger


class PortForwarder:
    """Opens connections to the ports of one pod."""

    def __init__(self, connection: SPDYConnection, pod: Key, tasks: asyncio.TaskGroup) -> None:
        self._connection, self._pod, self._tasks = connection, pod, tasks
        self._requests = count()
        self._works: set[asyncio.Task[None]] = set()  # of the open connections

    async def connect(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to a port of the pod, without a socket on this machine.

        When the connection is refused, reading raises `StreamBroken` with the kubelet's message.

        Raises:
            StreamBroken: the connection to the cluster has ended.
        """
        headers = {"port": str(port), "requestid": str(next(self._requests))}
        try:
            error = await self._connection.open({"streamtype": "error", **headers})
            await error.close()
            data = await self._connection.open({"streamtype": "data", **headers})
        except ConnectionError as refused:
            raise StreamBroken(
                f"the connection to port {port} of pod {self._pod} was not opened: {refused}"
            ) from refused
        sent = Pipe()
        reader, writer, run = open_pipe_streams(data.received, sent)
        for work in (run, _send(sent, data), _report(error, reader)):
            task = self._tasks.create_task(work)
            self._works.add(task)
            task.add_done_callback(self._works.discard)
        return reader, writer

    @asynccontextmanager
    async def listen(self, port: int, *, local_port: int = 0, host: str = "127.0.0.1") -> AsyncIterator[int]:
        """Forward connections to a port of this machine to the pod, while the block runs; yield the local port.

        Args:
            port: the port of the pod.
            local_port: the port of this machine; by default any free one.
            host: the address of this machine.

        Raises:
            OSError: the local port is in use.
        """

        async def connected(accepted: socket.socket) -> None:
            near_reader, near_writer = await asyncio.open_connection(sock=accepted)
            try:
                await copy_streams(near_reader, near_writer, *await self.connect(port))
            except (StreamBroken, ConnectionError):
                return  # the client of the local port sees the end of its connection
            finally:
                near_writer.close()

        async with Listener("port-forward", connected).listening(host, local_port, backlog=BACKLOG) as local:
            yield local

    def end(self) -> None:
        """End all connections."""
        for work in tuple(self._works):
            work.cancel()


@asynccontextmanager
async def port_forward(client: Client, pod: Key, *, random: Random | None = None) -> AsyncIterator[PortForwarder]:
    """Open connections to the ports of a pod, as `kubectl port-forward` does, while the block runs.

    It needs the permission to create `pods/portforward`, and Kubernetes 1.31.

    Args:
        client: a client of the cluster.
        pod: the pod.
        random: the source of the masks of WebSocket frames.

    Raises:
        NotFound: the pod does not exist.
        ApiError: the pod does not run.
        TransportError: there is no connection, or it was interrupted.
    """
    async with open_pod_socket(client, pod, "portforward", (_PROTOCOL,), random=random) as opened:
        connection = SPDYConnection(WebSocketTunnel(opened.socket), is_client=True)
        with unwrapped():
            async with asyncio.TaskGroup() as tasks:
                receiving = tasks.create_task(_receive(connection))
                forwarder = PortForwarder(connection, pod, tasks)
                try:
                    yield forwarder
                finally:
                    receiving.cancel()
                    forwarder.end()


async def _receive(connection: SPDYConnection) -> None:
    with suppress(StreamBroken, SPDYProtocolError, WebSocketProtocolError):  # the streams have ended
        await connection.run()


async def _send(sent: Pipe, data: SPDYStream) -> None:
    try:
        while part := await sent.read():
            await data.write(part)
        await data.close()
    except (ConnectionError, StreamBroken):
        sent.discard()
        sent.close()


async def _report(error: SPDYStream, reader: asyncio.StreamReader) -> None:
    if message := await error.received.read_all():
        reader.set_exception(StreamBroken(message.decode("utf-8", "replace")))
