"""One HTTP/1.1 exchange as a client, over any connection: a whole response, a stream, or an upgrade."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from urllib.parse import urlsplit

from pyctrl._go.text import quoted
from pyctrl._headers import Headers, MalformedHeader, parse_headers
from pyctrl._pipes import ByteConnection
from pyctrl._tasks import until_first_ends
from pyctrl.apiserver._errors import Response, Upgrade
from pyctrl.apiserver._proxy.round_tripper import BackendConnection, BrokenResponse, NoResponse, OutgoingRequest

__all__ = ["exchange"]

HEAD_LIMIT = 10 * 1024 * 1024  # bytes; net/http's limit for responses
PIECE = 64 * 1024  # bytes passed on at a time

_WITHOUT_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
_BROKEN = "net/http: HTTP/1.x transport connection broken: "


async def exchange(
    connection: BackendConnection, request: OutgoingRequest, keep: Callable[[], None] | None = None
) -> Response:
    """Send a request on a connection that is not used otherwise, and return the response.

    The connection is closed with the body of the response, unless it is kept.

    Args:
        keep: Takes the connection back after a response, if another request can be sent on it. Without it the
            request asks the server to close the connection.

    Raises:
        NoResponse: The connection ended before the first byte of the response.
        BrokenResponse: The connection ended before the response, or the response is no HTTP.
        OSError: The connection is lost.
    """
    reader = _ResponseReader(connection)

    async def end() -> None:
        if keep is not None and reader.keeps_alive:
            keep()
        else:
            await connection.close()

    try:
        with suppress(OSError):  # the server may respond without reading all
            await connection.write(_encoded(request, closes=keep is None))
        status, headers = await reader.head(request)
        if status == HTTPStatus.SWITCHING_PROTOCOLS:
            return Response(status=status, headers=headers.pairs, body=Upgrade(_tunnel(connection, reader)))
        kept = [pair for pair in headers.pairs if pair[0].lower() != "transfer-encoding"]  # those of the decoded body
        has_body = request.method != "HEAD" and status not in _WITHOUT_BODY
        if request.is_streaming and has_body:
            stream = _closing(connection, reader.body(headers), end)
            await anext(stream)  # begun, so that closing it closes the connection even if nothing is read
            return Response(status=status, headers=kept, body=stream)
        body = b"".join([part async for part in reader.body(headers)]) if has_body else b""
    except MalformedHeader:
        await connection.close()
        raise BrokenResponse(f"{_BROKEN}malformed MIME header") from None
    except ConnectionAbortedError:
        await connection.close()
        raise BrokenResponse("unexpected EOF") from None
    except BaseException:
        await connection.close()
        raise
    await end()
    return Response(status=status, headers=kept, body=body)


def _encoded(request: OutgoingRequest, *, closes: bool) -> bytes:
    url, names = urlsplit(request.url), {name.lower() for name, _ in request.headers}
    target = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
    lines = [f"{request.method} {target} HTTP/1.1"]
    if "host" not in names:
        lines.append(f"Host: {url.netloc}")
    if closes and not request.is_upgrade:
        lines.append("Connection: close")
    lines += [f"{name}: {value}" for name, value in request.headers if value.isprintable()]
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(request.body)}")
    return "\r\n".join((*lines, "", "")).encode("utf-8", "surrogateescape") + request.body


class _ResponseReader:
    """Reads the response from a connection."""

    def __init__(self, connection: ByteConnection) -> None:
        self._connection = connection
        self._buffer = bytearray()
        self._is_silent = True  # nothing was received yet
        self._may_continue = False  # the server keeps the connection open, and has told where the body ends

    @property
    def keeps_alive(self) -> bool:
        """Whether another request can be sent after the body."""
        return self._may_continue and not self._buffer

    async def head(self, request: OutgoingRequest) -> tuple[int, Headers]:
        """Return the status and the headers; interim responses are dropped."""
        while True:
            first, *lines = (await self._until(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            version, _, status = first.partition(" ")
            if not version.startswith("HTTP/1.") or not status[:3].isdecimal():
                why = f"malformed HTTP response {quoted(first)}"
                raise BrokenResponse(why if request.is_upgrade else _BROKEN + why)
            code = int(status[:3])
            is_final = code >= HTTPStatus.OK or (request.is_upgrade and code == HTTPStatus.SWITCHING_PROTOCOLS)
            if is_final:
                headers = parse_headers(lines)
                self._may_continue = version == "HTTP/1.1" and "close" not in headers.get("connection", "").lower()
                return code, headers

    async def body(self, headers: Headers) -> AsyncGenerator[bytes, None]:
        """Yield the body in the parts in which it arrives.

        Raises:
            ConnectionAbortedError: The connection ended before the body.
        """
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while size := _chunk_size(await self._line()):
                async for part in self._counted(size):
                    yield part
                await self._line()
            while await self._line():
                pass  # trailers
        elif "content-length" in headers:
            async for part in self._counted(_length(headers["content-length"])):
                yield part
        else:
            self._may_continue = False
            while part := await self.read():
                yield part

    async def read(self, size: int = PIECE) -> bytes:
        """Return received bytes, at most as many as wanted; b"" at the end."""
        if not self._buffer:
            self._buffer += await self._connection.read()
        part = bytes(self._buffer[:size])
        del self._buffer[:size]
        return part

    async def _counted(self, size: int) -> AsyncGenerator[bytes, None]:
        while size:
            part = await self.read(min(size, PIECE))
            if not part:
                raise _ended()
            size -= len(part)
            yield part

    async def _line(self) -> bytes:
        return (await self._until(b"\n")).rstrip(b"\r")

    async def _until(self, end: bytes) -> bytes:
        """Return the bytes before a delimiter, and drop it."""
        seen = 0
        while (index := self._buffer.find(end, max(0, seen - len(end)))) < 0:
            seen = len(self._buffer)
            data = await self._received()
            if not data:
                raise _ended() if self._buffer else BrokenResponse("EOF")
            if seen > HEAD_LIMIT:
                raise BrokenResponse(f"{_BROKEN}net/http: server response headers exceeded {HEAD_LIMIT} bytes")
            self._buffer += data
        found = bytes(self._buffer[:index])
        del self._buffer[: index + len(end)]
        return found

    async def _received(self) -> bytes:
        """Return received bytes.

        Raises:
            NoResponse: The connection ended before the first one.
        """
        try:
            data = await self._connection.read()
        except ConnectionError:
            if self._is_silent:
                raise NoResponse("EOF") from None
            raise
        if self._is_silent and not data:
            raise NoResponse("EOF")
        self._is_silent = False
        return data


def _ended() -> ConnectionAbortedError:
    return ConnectionAbortedError("the connection ended before the response")


def _length(value: str) -> int:
    if not (value.isascii() and value.isdecimal()):
        raise BrokenResponse(f"{_BROKEN}bad Content-Length {quoted(value)}")
    return int(value)


def _chunk_size(line: bytes) -> int:
    try:
        return int(line.partition(b";")[0], 16)
    except ValueError:
        raise ConnectionAbortedError("the response has a malformed chunk") from None


async def _closing(
    connection: BackendConnection, parts: AsyncGenerator[bytes, None], end: Callable[[], Awaitable[None]]
) -> AsyncGenerator[bytes, None]:
    """Yield b"", then the parts, and end the connection afterwards; close it if that is not reached.

    A connection that ends before the body raises ConnectionError, which ends that of the client, as in
    `httputil.ReverseProxy`.
    """
    try:
        yield b""
        async for part in parts:
            yield part
    except BrokenResponse as error:
        await connection.close()
        raise ConnectionAbortedError(str(error)) from None
    except BaseException:
        await connection.close()
        raise
    await end()


def _tunnel(connection: BackendConnection, reader: _ResponseReader) -> Callable[[ByteConnection], Awaitable[None]]:
    """Return a function that copies bytes in both directions until either side closes, as kube-apiserver does."""

    async def serve(client: ByteConnection) -> None:
        try:
            await until_first_ends(_copy(client.read, connection.write), _copy(reader.read, client.write))
        finally:
            await connection.close()

    return serve


async def _copy(read: Callable[[], Awaitable[bytes]], write: Callable[[bytes], Awaitable[None]]) -> None:
    with suppress(OSError):  # one of the sides is gone
        while data := await read():
            await write(data)
