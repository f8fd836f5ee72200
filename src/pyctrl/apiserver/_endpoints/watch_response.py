"""Response to a watch: a stream of lines, or a WebSocket with a message for each line, as fabric8's clients ask for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress

from pyctrl._go.urls import url_error
from pyctrl._tasks import until_first_ends
from pyctrl._websocket import Opcode, WebSocketProtocolError
from pyctrl._websocket_connection import WebSocketConnection
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._streaming.websocket import is_websocket_request, requested_protocols, websocket_response

__all__ = ["watch_response"]


def watch_response(headers: Mapping[str, str], lines: AsyncGenerator[bytes, None]) -> Response:
    """Return the response to a watch whose request has these headers (names in lower case).

    The handshake of a WebSocket is that of golang.org/x/net, which kube-apiserver uses here: without an Origin it is
    refused with 403, and a subprotocol is confirmed if the client names one only.

    Args:
        headers: The headers of the request.
        lines: Chunks of whole lines, each an event.
    """
    if not is_websocket_request(headers):
        return Response(status=200, headers=(("Content-Type", "application/json"),), body=lines)
    protocols = requested_protocols(headers)

    async def serve(socket: WebSocketConnection, _protocol: str) -> None:
        async with aclosing(lines) as chunks:
            await until_first_ends(_send(socket, chunks), _ignore_received(socket))

    handshake = websocket_response(headers, tuple(protocols), serve)
    if handshake.status != 101:
        return handshake
    if url_error(headers.get("origin", "")):
        return Response(status=403, headers=())
    return handshake if len(protocols) == 1 else Response(status=400, headers=())


async def _send(socket: WebSocketConnection, chunks: AsyncGenerator[bytes, None]) -> None:
    """Send each line as a message, and close the WebSocket after the last."""
    with suppress(BrokenPipeError):  # the client has closed the WebSocket
        async for chunk in chunks:
            for line in chunk.splitlines(keepends=True):
                await socket.send(Opcode.TEXT, line)
        await socket.close()


async def _ignore_received(socket: WebSocketConnection) -> None:
    """Read until the client closes the WebSocket."""
    with suppress(WebSocketProtocolError):
        async for _message in socket.messages():
            pass
