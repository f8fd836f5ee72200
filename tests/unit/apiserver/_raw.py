"""A client that sends any bytes and reports the response and whether the connection is open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import urlsplit


class Told(NamedTuple):
    """One response."""

    status: int
    headers: dict[str, str]
    body: bytes


class Raw:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, text: str | bytes) -> None:
        """Send bytes, or text with line feeds for line ends."""
        self.writer.write(text if isinstance(text, bytes) else text.replace("\n", "\r\n").encode())
        await self.writer.drain()

    async def ask(self, method: str, path: str, *lines: str, body: bytes = b"") -> Told:
        """Send a request and read its response."""
        length = [f"Content-Length: {len(body)}"] if body else []
        head = "\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *length, *lines])
        await self.send((head + "\n\n").replace("\n", "\r\n").encode() + body)
        return await self.told(has_body=method != "HEAD")

    async def told(self, *, has_body: bool = True) -> Told:
        """Read a response: with Content-Length, chunked, or up to the end of the connection."""
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().rstrip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        status = int(first.split(" ")[1])
        if status == 100 or not has_body:
            body = b""
        elif "content-length" in headers:
            body = await self.reader.readexactly(int(headers["content-length"]))
        elif headers.get("transfer-encoding") == "chunked":
            body = b"".join([part async for part in self.chunks()])
        else:
            body = await self.reader.read()
        return Told(status, headers, body)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Read chunks up to the last one."""
        while size := int(await self.reader.readline(), 16):
            yield await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)

    async def is_closed(self) -> bool:
        """Wait until the server closes the connection; return whether it sent no further byte."""
        return await self.reader.read() == b""


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Raw]:
    """Open a connection until the end of the block."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        yield Raw(reader, writer)
    finally:
        writer.close()
