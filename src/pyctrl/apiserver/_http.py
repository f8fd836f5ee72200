"""The HTTP front: aiohttp carries requests to `ApiServer.handle` and its answers, streams too, back."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from aiohttp import web

from ._answers import Answer, too_large
from ._bodies import BODY_LIMIT

if TYPE_CHECKING:
    from aiohttp.abc import AbstractStreamWriter
    from aiohttp.http import RawRequestMessage
    from aiohttp.streams import StreamReader

    from ._server import ApiServer

CLOSE_SECONDS = 1.0  # for requests that run when serving ends


@asynccontextmanager
async def serve(
    server: ApiServer, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """Serve HTTP (HTTPS with `tls`) until the block ends, and give the URL; port 0 takes any that is free."""
    front = _Front(server)
    # A client that goes cancels its handler: an idle watch would not notice otherwise.
    web_server = web.Server(front.handle, request_factory=front.request, handler_cancellation=True, access_log=None)
    runner = web.ServerRunner(web_server, shutdown_timeout=CLOSE_SECONDS)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port, ssl_context=tls)
        await site.start()
        bound = runner.addresses[0]
        yield f"{'https' if tls else 'http'}://{host}:{bound[1]}"
    finally:
        front.end_streams()
        await runner.cleanup()


class _Front:
    """One request at a time of one connection: read it, have it answered, write that."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._streams: set[asyncio.Task[object]] = set()

    def end_streams(self) -> None:
        """End every watch: it would not end by itself."""
        for task in self._streams:
            task.cancel()

    @staticmethod
    def request(
        message: RawRequestMessage,
        payload: StreamReader,
        protocol: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: asyncio.Task[None],
    ) -> web.BaseRequest:
        """Make a request as aiohttp does, but with this server's limit on bodies."""
        loop = asyncio.get_running_loop()
        return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=BODY_LIMIT)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        answer = await self._answer(request)
        if isinstance(answer.body, bytes):
            return web.Response(status=answer.status, body=answer.body, headers=list(answer.headers))
        return await self._stream(request, answer, answer.body)

    async def _answer(self, request: web.BaseRequest) -> Answer:
        body = await _read(request)
        if body is None:
            return too_large(BODY_LIMIT).answer()
        url = request.rel_url
        return await self._server.handle(request.method, url.raw_path, list(url.query.items()), request.headers, body)

    async def _stream(
        self, request: web.BaseRequest, answer: Answer, body: AsyncGenerator[bytes, None]
    ) -> web.StreamResponse:
        """Write chunks as they come; a client that has gone ends the watch."""
        response = web.StreamResponse(status=answer.status, headers=list(answer.headers))
        response.enable_chunked_encoding()
        task = asyncio.current_task()
        assert task is not None  # aiohttp runs every handler in one
        self._streams.add(task)
        try:
            async with aclosing(body) as chunks:
                with suppress(ConnectionError):  # the client has gone; nobody is left to tell
                    await response.prepare(request)
                    async for chunk in chunks:
                        await response.write(chunk)
                    await response.write_eof()
        finally:
            self._streams.discard(task)
        return response


async def _read(request: web.BaseRequest) -> bytes | None:
    """Read the body; None when it is larger than the server takes."""
    if (request.content_length or 0) > BODY_LIMIT:
        return None
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge:
        return None
