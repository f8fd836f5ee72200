"""A server on aiohttp's low-level HTTP/1.1 code, with the work of `protocols.py`."""

from __future__ import annotations

import asyncio

from _protocol_connection import Factory
from _protocol_work import BODY_LIMIT, HEAD_LIMIT, JSON_TYPE, answer
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader
from aiohttp.web_protocol import RequestHandler
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response, StreamResponse
from aiohttp.web_server import Server


async def _handle(request: BaseRequest) -> StreamResponse:
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    status, content = answer(request.method, request.path, request.headers, await request.read())
    if isinstance(content, bytes):
        return Response(body=content, status=status, content_type=JSON_TYPE)
    response = StreamResponse(status=status, headers={"Content-Type": JSON_TYPE})
    response.enable_chunked_encoding()
    await response.prepare(request)
    async for part in content:
        await response.write(part)
    await response.write_eof()
    return response


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: RequestHandler,
    writer: AbstractStreamWriter,
    task: asyncio.Task[None],
) -> BaseRequest:
    loop = asyncio.get_running_loop()
    return BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=BODY_LIMIT)


def protocols() -> Factory:
    """Return a factory of protocols for connections."""
    return Server(
        _handle,
        request_factory=_request,
        access_log=None,
        auto_decompress=False,
        max_line_size=HEAD_LIMIT,
        max_field_size=HEAD_LIMIT,
        max_headers=HEAD_LIMIT,
    )
