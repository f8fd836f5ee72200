"""Response to a watch: a stream of lines, or a WebSocket with a message for each line, as fabric8's clients ask for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from urllib.parse import urlsplit

from pyctrl._websocket import MessageReader, Opcode, WebSocketProtocolError, accept_key, encode_frame
from pyctrl.apiserver._errors import Response, Upgrade, UpgradedConnection
from pyctrl.apiserver._streaming.websocket import is_websocket_request

__all__ = ["watch_response"]

_NORMAL_CLOSURE = (1000).to_bytes(2, "big")


def watch_response(headers: Mapping[str, str], lines: AsyncGenerator[bytes, None]) -> Response:
    """Return the response to a watch whose request has these headers (names in lower case).

    Args:
        headers: The headers of the request.
        lines: Chunks of whole lines, each an event.
    """
    if not is_websocket_request(headers):
        return Response(status=200, headers=(("Content-Type", "application/json"),), body=lines)

    async def serve(connection: UpgradedConnection) -> None:
        async with aclosing(lines) as chunks, asyncio.TaskGroup() as tasks:
            both = {tasks.create_task(_send(connection, chunks)), tasks.create_task(_receive(connection))}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for task in both:
                task.cancel()

    return _handshake(headers, Upgrade(serve))


def _handshake(headers: Mapping[str, str], upgrade: Upgrade) -> Response:
    """Return the handshake of golang.org/x/net, which kube-apiserver uses for watches.

    Without an Origin it is refused with 403. A subprotocol is confirmed, whatever it is, if the client names one only.
    """
    key = headers.get("sec-websocket-key", "")
    if headers.get("sec-websocket-version") != "13" or not key:
        return Response(status=400, headers=(("Sec-WebSocket-Version", "13"),))
    if not _is_uri(headers.get("origin", "")):
        return Response(status=403, headers=())
    protocol = headers.get("sec-websocket-protocol", "").strip()
    if "," in protocol:
        return Response(status=400, headers=())
    answer = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept_key(key))]
    if protocol:
        answer.append(("Sec-WebSocket-Protocol", protocol))
    return Response(status=101, headers=answer, body=upgrade)


async def _send(connection: UpgradedConnection, chunks: AsyncGenerator[bytes, None]) -> None:
    """Send each line as a text message, and close the WebSocket after the last."""
    with suppress(BrokenPipeError):  # the client has closed the connection
        async for chunk in chunks:
            for line in chunk.splitlines(keepends=True):
                await connection.write(encode_frame(Opcode.TEXT, line))
        await connection.write(encode_frame(Opcode.CLOSE, _NORMAL_CLOSURE))


async def _receive(connection: UpgradedConnection) -> None:
    """Read until the client closes the WebSocket: answer pings, ignore messages."""
    reader = MessageReader()
    with suppress(WebSocketProtocolError, BrokenPipeError):
        while data := await connection.read():
            for message in reader.feed(data):
                if message.opcode is Opcode.CLOSE:
                    await connection.write(encode_frame(Opcode.CLOSE, message.data[:2]))
                    return
                if message.opcode is Opcode.PING:
                    await connection.write(encode_frame(Opcode.PONG, message.data))


def _is_uri(origin: str) -> bool:
    """Return whether Go's `url.ParseRequestURI` takes an origin: a URI with a scheme, or an absolute path."""
    try:
        return bool(urlsplit(origin).scheme) or origin.startswith("/")
    except ValueError:
        return False
