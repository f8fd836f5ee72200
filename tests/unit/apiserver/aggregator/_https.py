"""A scripted HTTPS server that is the service `flavors` of an APIService."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from pyctrl.apiserver import KeyPair, ProxyRequest, ServiceReference
from tests.unit.client._authority import Authority

CLUSTER = Authority()
NAME = "flavors.default.svc"

#: Serves one connection: gets the head of the request, and the connection.
Script = Callable[[str, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(script: Script, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve with a script until the block ends; yield the port."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):  # the client gave up before its request
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                await script(head, reader, writer)
        finally:
            writer.close()

    context = tls or CLUSTER.server_context(NAME)
    async with await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context) as server:
        yield server.sockets[0].getsockname()[1]


def answering(*parts: bytes) -> Script:
    """Return a script that writes parts of a response, and closes the connection."""

    async def script(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()

    return script


def proxied(port: int, **changes: Any) -> ProxyRequest:
    """Return a request to the server."""
    options: dict[str, Any] = {
        "method": "GET",
        "url": f"https://127.0.0.1:{port}/apis/x/v1/flavors?a=1",
        "headers": [("Accept", "application/json"), ("X-Remote-Group", "a"), ("X-Remote-Group", "b")],
        "body": b"",
        "service": ServiceReference("default", "flavors", 443),
        "ca": CLUSTER.pem,
        **changes,
    }
    return ProxyRequest(**options)


def client_pair() -> KeyPair:
    """Return a client certificate."""
    issued = CLUSTER.client("front-proxy-client")
    return KeyPair(issued.certificate, issued.key)


HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"


class Conversation:
    """A script that answers each request of a connection with the next response, and counts the connections."""

    def __init__(self, *answers: bytes, requests_each: int = 1000) -> None:
        self._answers, self._requests_each = list(answers), requests_each
        self.connections = 0
        self.heads: list[str] = []
        self.ends_after = 1000  # requests

    async def __call__(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until the client closes it."""
        self.connections += 1
        for _ in range(self._requests_each):
            self.heads.append(head)
            if len(self.heads) >= self.ends_after:
                return
            writer.write(self._answers.pop(0) if self._answers else HELLO)
            await writer.drain()
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
            except (asyncio.IncompleteReadError, ConnectionError):
                return
