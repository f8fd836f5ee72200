"""The HTTP front: aiohttp carries requests to `ApiServer.handle` and its answers, streams too, back."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from aiohttp import web

from ._answers import Answer, too_large
from ._bodies import BODY_LIMIT

if TYPE_CHECKING:
    from ._server import ApiServer

READ_LIMIT = 16 * 1024 * 1024  # bytes of a body before the connection is given up; the server itself refuses far less
CLOSE_SECONDS = 1.0  # for requests that run when serving ends; watches never end by themselves


@asynccontextmanager
async def serve(
    server: ApiServer, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """Serve HTTP (HTTPS with `tls`) until the block ends, and give the URL; port 0 takes any that is free."""
    runner = web.ServerRunner(
        web.Server(_Front(server).handle, client_max_size=READ_LIMIT),  # type: ignore[arg-type]
        shutdown_timeout=CLOSE_SECONDS,
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port, ssl_context=tls)
        await site.start()
        bound = runner.addresses[0]
        yield f"{'https' if tls else 'http'}://{host}:{bound[1]}"
    finally:
        await runner.cleanup()


class _Front:
    """One request at a time of one connection: read it, have it answered, write that."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server

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
        return await self._server.handle(
            request.method, url.raw_path, list(url.query.items()), dict(request.headers), body
        )

    async def _stream(self, request: web.BaseRequest, answer: Answer, body: AsyncIterator[bytes]) -> web.StreamResponse:
        """Write chunks as they come; a client that has gone ends the watch."""
        response = web.StreamResponse(status=answer.status, headers=list(answer.headers))
        response.enable_chunked_encoding()
        async with aclosing(body) as chunks:  # type: ignore[type-var]
            await response.prepare(request)
            async for chunk in chunks:
                await response.write(chunk)
            await response.write_eof()
        return response


async def _read(request: web.BaseRequest) -> bytes | None:
    """Read the body; None when it is larger than the server takes."""
    if (request.content_length or 0) > READ_LIMIT:
        return None
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge:
        return None
