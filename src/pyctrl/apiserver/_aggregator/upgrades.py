"""Requests that continue with another protocol on a connection to an extension API server, such as WebSocket."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

from pyctrl.apiserver._aggregator.service_transport import ProxyRequest, ServiceUnreachable
from pyctrl.apiserver._errors import Response, Upgrade, UpgradedConnection

__all__ = ["upgrade"]

SWITCHING_PROTOCOLS = 101
HEAD_LIMIT = 64 * 1024  # bytes
PIECE = 64 * 1024  # bytes read at a time

# Headers of one connection, which a response that refuses the upgrade does not pass on.
_OF_CONNECTION = frozenset(("connection", "content-length", "keep-alive", "transfer-encoding"))


async def upgrade(request: ProxyRequest, tls: ssl.SSLContext) -> Response:
    """Send a request on a connection of its own, and return the response, whose body is an `Upgrade` after 101.

    Raises:
        ServiceUnreachable: There is no response. An OSError means the same.
    """
    url, service = urlsplit(request.url), request.service
    reader, writer = await asyncio.open_connection(
        url.hostname, url.port, ssl=tls, server_hostname=f"{service.name}.{service.namespace}.svc", limit=HEAD_LIMIT
    )
    try:
        writer.write(_encoded(request))
        status, headers = _parsed(await reader.readuntil(b"\r\n\r\n"))
        if status == SWITCHING_PROTOCOLS:
            return Response(status=status, headers=headers, body=Upgrade(_Pipe(reader, writer).serve), is_verbatim=True)
        body = await _body(reader, {name.lower(): value for name, value in headers})
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        writer.close()
        raise ServiceUnreachable("malformed HTTP response") from None
    except BaseException:
        writer.close()
        raise
    writer.close()
    headers = [(name, value) for name, value in headers if name.lower() not in _OF_CONNECTION]
    return Response(status=status, headers=headers, body=body, is_verbatim=True)


class _Pipe:
    """Copies bytes between the client's connection and that of the extension API server, in both directions."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def serve(self, client: UpgradedConnection) -> None:
        """Copy until either side closes, as kube-apiserver does."""
        try:
            async with asyncio.TaskGroup() as group:
                copies = [group.create_task(self._to_service(client)), group.create_task(self._to_client(client))]
                await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
                for each in copies:
                    each.cancel()
        finally:
            self._writer.close()

    async def _to_service(self, client: UpgradedConnection) -> None:
        try:
            while data := await client.read():
                self._writer.write(data)
                await self._writer.drain()
        except OSError:
            return

    async def _to_client(self, client: UpgradedConnection) -> None:
        try:
            while data := await self._reader.read(PIECE):
                await client.write(data)
        except OSError:
            return


def _encoded(request: ProxyRequest) -> bytes:
    url = urlsplit(request.url)
    target = f"{url.path}?{url.query}" if url.query else url.path
    lines = [f"{request.method} {target} HTTP/1.1"]
    if not any(name.lower() == "host" for name, _ in request.headers):
        lines.append(f"Host: {url.netloc}")
    lines += [f"{name}: {value}" for name, value in request.headers]
    if request.body:
        lines.append(f"Content-Length: {len(request.body)}")
    return "\r\n".join((*lines, "", "")).encode() + request.body


def _parsed(head: bytes) -> tuple[int, list[tuple[str, str]]]:
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    _, _, status = first.partition(" ")
    return int(status[:3]), [(name, value.strip()) for name, _, value in pairs]


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    """Return the body of a response that refuses the upgrade."""
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await (
            reader.readexactly(int(headers["content-length"])) if "content-length" in headers else reader.read()
        )
    chunks = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        chunks.append(await reader.readexactly(size))
        await reader.readline()
    return b"".join(chunks)
