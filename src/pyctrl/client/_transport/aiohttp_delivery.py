"""Delivery of response bodies to a function, in the same loop iteration in which the socket received them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import aiohttp

__all__ = ["deliver_body"]


async def deliver_body(response: aiohttp.ClientResponse, take: Callable[[bytes], None]) -> Exception | None:
    """Pass each chunk of a response to ``take`` until its end. Return the exception that ``take`` has raised, if any.

    aiohttp's reader wakes a task for received data. Meanwhile, a protocol between aiohttp's protocol and the socket's
    transport reads the data after each call instead.
    """
    connection, content = response.connection, response.content
    tap = _Tap(content, take)
    transport = None if connection is None else connection.transport
    inner = None if connection is None else connection.protocol
    if transport is not None and inner is not None:  # otherwise the response is complete, or the connection closed
        tap.inner = inner
        transport.set_protocol(tap)
    try:
        tap.deliver()  # data received with the head
        if (error := content.exception()) is not None:
            raise error
        await content.wait_eof()
    except Exception:
        if tap.failure is None:
            raise
    finally:
        # The connection may be in use for another request. A closed one has no protocol.
        if transport is not None and inner is not None and transport.get_protocol() is tap:
            transport.set_protocol(inner)
    return tap.failure


class _Tap(asyncio.Protocol):
    """Protocol that forwards all calls, and delivers the data that the inner protocol has parsed."""

    def __init__(self, content: aiohttp.StreamReader, take: Callable[[bytes], None]) -> None:
        self._content, self._take = content, take
        self.inner: asyncio.Protocol | None = None
        #: The exception that ``take`` has raised.
        self.failure: Exception | None = None

    def deliver(self) -> None:
        """Pass the received data to ``take``."""
        content = self._content
        if self.failure is not None or content.exception() is not None:
            return
        try:
            while chunk := content.read_nowait():
                self._take(chunk)
        except Exception as error:  # noqa: BLE001 - for the waiting task, not for the transport, which is the caller
            self.failure = error
            content.set_exception(error)  # wakes the waiting task

    def data_received(self, data: bytes) -> None:
        assert self.inner is not None
        self.inner.data_received(data)
        self.deliver()

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
