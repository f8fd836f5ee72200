"""One HTTP/1.1 exchange over the pipes of a forwarded port."""

from __future__ import annotations

import asyncio
import http.client
import io
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from pyctrl._pipes import Pipe
from pyctrl._tasks import unwrapped

__all__ = ["HttpAnswer", "MalformedAnswer", "exchange"]

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_INFORMATIONAL = re.compile(rb"HTTP/1\.[01] 1\d\d ")
_WITHOUT_BODY = re.compile(rb"HTTP/1\.[01] (?:204|304) ")


class MalformedAnswer(Exception):
    """The server did not answer with HTTP. The text is the reason, in Go's words."""


class HttpAnswer(NamedTuple):
    """A response as it was received, with its body decoded."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


async def exchange(connect: Callable[[Pipe, Pipe], Awaitable[None]], method: str, data: bytes) -> HttpAnswer:
    """Send a request and return the response.

    Args:
        connect: Serves the connection: it reads the first pipe and writes to the second one.
        method: The method of the request.
        data: The request as bytes.

    Raises:
        MalformedAnswer: The connection ended before the response, or the response is no HTTP.
    """
    to_server, to_client = Pipe(), Pipe()

    async def serve() -> None:
        try:
            await connect(to_server, to_client)
        finally:
            to_client.close()

    with unwrapped():
        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(serve())
            writing = tasks.create_task(_send(to_server, data))
            answer = await _receive(to_client, is_head=method == "HEAD")
            writing.cancel()
            to_server.close()
            to_client.discard()
            serving.cancel()
    return _parsed(answer, method)


async def _send(pipe: Pipe, data: bytes) -> None:
    try:
        await pipe.write(data)
    except BrokenPipeError:
        return  # the server answers without reading the rest


async def _receive(pipe: Pipe, *, is_head: bool) -> bytes:
    """Read until the response is complete; interim responses are dropped."""
    data = bytearray()
    while chunk := await pipe.read():
        data += chunk
        while _INFORMATIONAL.match(data) and (end := data.find(b"\r\n\r\n")) >= 0:
            del data[: end + 4]
        if _is_complete(bytes(data), is_head=is_head):
            break
    return bytes(data)


def _is_complete(data: bytes, *, is_head: bool) -> bool:
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return False
    head, size = data[: end + 2], len(data) - end - 4
    if is_head or _WITHOUT_BODY.match(data):
        return True
    if _CHUNKED.search(head):
        return data.endswith(b"0\r\n\r\n")
    length = _LENGTH.search(head)
    return length is not None and size >= int(length[1])


class _Received:
    """The received bytes as the socket that `http.client` reads."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, *_: object, **__: object) -> io.BytesIO:
        return io.BytesIO(self._data)


def _parsed(data: bytes, method: str) -> HttpAnswer:
    if not data:
        raise MalformedAnswer("EOF")
    response = http.client.HTTPResponse(_Received(data), method=method)  # type: ignore[arg-type]  # it only reads
    try:
        response.begin()
        body = response.read()
    except (http.client.HTTPException, ValueError) as error:
        raise MalformedAnswer(f"net/http: HTTP/1.x transport connection broken: {error}") from None
    return HttpAnswer(response.status, response.getheaders(), body)
