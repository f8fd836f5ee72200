"""A body that is handed over as soon as it has come, in the turn of the loop in which the socket gave it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import aiohttp

__all__ = ["deliver_body"]


async def deliver_body(response: aiohttp.ClientResponse, take: Callable[[bytes], None]) -> Exception | None:
    """Hand each piece of an answer to a function until it ends; return what the function has raised.

    aiohttp's reader wakes a task for what has come. So between its protocol and the socket's transport comes one that
    looks into the reader after each call, for as long as this lasts.
    """
    connection, content = response.connection, response.content
    tap = _Tap(content, take)
    transport = None if connection is None else connection.transport
    inner = None if connection is None else connection.protocol
    if transport is not None and inner is not None:  # else all has come, or nothing more will
        tap.inner = inner
        transport.set_protocol(tap)
    try:
        tap.look()  # what came with the head
        if (error := content.exception()) is not None:
            raise error
        await content.wait_eof()
    except Exception:
        if tap.failure is None:
            raise
    finally:
        # It may be in use again already, and then somebody else's; closed, it has none.
        if transport is not None and inner is not None and transport.get_protocol() is tap:
            transport.set_protocol(inner)
    return tap.failure


class _Tap(asyncio.Protocol):
    """Passes everything on, and then looks what has come of it."""

    def __init__(self, content: aiohttp.StreamReader, take: Callable[[bytes], None]) -> None:
        self._content, self._take = content, take
        self.inner: asyncio.Protocol | None = None
        #: What the function has raised.
        self.failure: Exception | None = None

    def look(self) -> None:
        """Hand over what has come."""
        content = self._content
        if self.failure is not None or content.exception() is not None:
            return
        try:
            while chunk := content.read_nowait():
                self._take(chunk)
        except Exception as error:  # noqa: BLE001 - it is for who waits, not for the transport that calls
            self.failure = error
            content.set_exception(error)  # wakes who waits

    def data_received(self, data: bytes) -> None:
        assert self.inner is not None
        self.inner.data_received(data)
        self.look()

    def eof_received(self) -> bool | None:
        assert self.inner is not None
        return self.inner.eof_received()

    def connection_lost(self, error: Exception | None) -> None:
        assert self.inner is not None
        self.inner.connection_lost(error)

    def pause_writing(self) -> None:
        assert self.inner is not None
        self.inner.pause_writing()

    def resume_writing(self) -> None:
        assert self.inner is not None
        self.inner.resume_writing()
