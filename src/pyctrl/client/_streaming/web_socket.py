"""WebSockets to the subresources of pods, on a cluster or in this process."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from pyctrl._websocket_connection import WebSocketConnection
from pyctrl.api import GroupVersionKind, Key
from pyctrl.client._client import Client
from pyctrl.client._requests.resource_client import checked_key
from pyctrl.client._transport.transport import HttpRequest, UpgradedStream
from pyctrl.errors import StreamBroken

__all__ = ["PodSocket", "open_pod_socket"]

_POD = GroupVersionKind("", "v1", "Pod")


@dataclass(frozen=True, slots=True)
class PodSocket:
    """An open WebSocket.

    Attributes:
        socket: The WebSocket.
        protocol: The subprotocol that the server has selected.
        request: The request, for messages.
    """

    socket: WebSocketConnection
    protocol: str
    request: HttpRequest


@asynccontextmanager
async def open_pod_socket(
    client: Client,
    pod: Key,
    subresource: str,
    protocols: Sequence[str],
    *,
    query: Sequence[tuple[str, str]] = (),
    random: Random | None = None,
) -> AsyncIterator[PodSocket]:
    """Open a WebSocket to a subresource of a pod; the end of the block closes the connection.

    Raises:
        StreamBroken: the server answered with something else than a WebSocket.
        ApiError: the server refused the request.
    """
    random = random or Random()
    key = checked_key(_POD, pod)
    request = HttpRequest(
        method="GET",
        path=f"/api/v1/namespaces/{key.namespace}/pods/{key.name}/{subresource}",
        query=tuple(query),
        headers={
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(random.randbytes(16)).decode(),
            "Sec-WebSocket-Protocol": ", ".join(protocols),
        },
        timeout=None,
    )
    async with client.connection.rest.stream(request) as stream:
        if not isinstance(stream, UpgradedStream):
            raise StreamBroken(f"{request} was answered with {stream.status} instead of a WebSocket")
        socket = WebSocketConnection(_StreamConnection(stream), mask=random)
        yield PodSocket(socket, stream.headers.get("Sec-WebSocket-Protocol", ""), request)


class _StreamConnection:
    """The bytes of an upgraded stream, as a WebSocket reads and writes them."""

    def __init__(self, stream: UpgradedStream) -> None:
        self._stream, self._chunks = stream, stream.chunks()

    async def read(self) -> bytes:
        return await anext(self._chunks, b"")

    async def write(self, data: bytes) -> None:
        await self._stream.write(data)
