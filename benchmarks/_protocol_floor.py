"""Prepared responses to the requests of `protocols.py` without any HTTP code: the cost of asyncio and the kernel."""

from __future__ import annotations

import asyncio

from _protocol_connection import Factory
from _protocol_work import LINE, LINES, answer

HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sun, 22 Nov 2026 21:00:00 GMT\r\n"


class Floor(asyncio.Protocol):
    """Detects the end of a request by its length, and answers."""

    def __init__(self) -> None:
        _, body = answer("GET", "/", {}, b"")
        assert isinstance(body, bytes)
        self._transport: asyncio.Transport
        self._body = body
        self._answer = f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode() + body
        self._input = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer at the end of a request."""
        self._input += data
        if self._input.startswith(b"GET /watch"):
            self._transport.write(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
            for _ in range(LINES):
                self._transport.write(b"%x\r\n%b\r\n" % (len(LINE), LINE))
            self._transport.write(b"0\r\n\r\n")
        elif self._input.startswith(b"GET") or len(self._input) > len(self._body):
            self._transport.write(self._answer)
        else:
            return
        self._input = b""


def protocols() -> Factory:
    """Return a factory of protocols for connections."""
    return Floor
