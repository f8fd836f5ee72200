"""HTTP/1.1 connection: reads requests one after another, calls the handler and writes the responses.

A connection has one task, which ends when the client disconnects. All buffers are limited: reading pauses while a
response is prepared, and writing waits for the client. A client that stops reading is disconnected.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from enum import Enum
from typing import Protocol

from pyctrl.apiserver._authn import Peer, user_of_certificate
from pyctrl.apiserver._errors import Response, StatusError, Upgrade
from pyctrl.apiserver._http.body import ChunkedBody, CountedBody
from pyctrl.apiserver._http.head import HEAD_LIMIT, MalformedHead, RequestHead, parse_head
from pyctrl.apiserver._http.response import (
    ENDED,
    OWN_HEADERS,
    continue_response,
    encode_chunk,
    encode_response,
    encode_stream_head,
    encode_upgrade_head,
    error_response,
    has_length,
    is_compressible,
)
from pyctrl.apiserver._serializer.decoding import BODY_LIMIT

__all__ = ["HTTPConnection"]

log = logging.getLogger("pyctrl.apiserver")

IDLE_SECONDS = 90.0  # between requests, as in kube-apiserver
HEAD_SECONDS = 32.0  # to receive a head, as in kube-apiserver
BODY_SECONDS = 60.0  # to receive a body; kube-apiserver's timeout of a request
STALL_SECONDS = 30.0  # without the client reading a byte; kube-apiserver ends slow watches sooner
LINGER_SECONDS = 1.0  # for a client to read the refusal of a body that it is still sending; net/http: 0.5

AHEAD = 64 * 1024  # bytes of further requests that are read before a response is written


class Handler(Protocol):
    """Handles the requests of connections."""

    def __call__(self, head: RequestHead, body: bytes, peer: Peer, /) -> Awaitable[Response]:
        """Return the response to a request. It must not raise, whatever the client sends."""
        ...


class _Stage(Enum):
    """What a connection is used for."""

    REQUESTS = "requests"
    STREAM = "stream"  # a response without an end, which ends when the client closes its side
    UPGRADE = "upgrade"  # another protocol, which decides itself what the end of the client's side means


class HTTPConnection(asyncio.Protocol):
    """The connection of one client, and the `UpgradedConnection` of its `Upgrade`.

    Args:
        handle: Handles the requests.
        living: The open connections; this one is in the set while it is open.
    """

    def __init__(self, handle: Handler, living: set[HTTPConnection]) -> None:
        self._handle, self._living = handle, living
        self._buffer = bytearray()
        self._transport: asyncio.Transport
        self._peer: Peer
        self.task: asyncio.Task[None]
        self.gone = asyncio.Event()  # set when the socket is closed
        self._input: asyncio.Future[None] | None = None  # done when more data is received
        self._output: asyncio.Future[None] | None = None  # done when the transport accepts more data; None if it does
        self._is_at_end = False  # the client has closed its side
        self._is_stopping = False
        self._stage = _Stage.REQUESTS
        self._is_reading = True

    # -- callbacks of the transport ----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the task of the connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        address = transport.get_extra_info("peername")
        self._peer = _with_certificate(Peer(str(address[0]) if address else ""), transport)
        self.task = asyncio.get_running_loop().create_task(self._run())
        self.task.add_done_callback(self._close)  # not in the task: it may be cancelled before it starts
        self._living.add(self)

    def data_received(self, data: bytes) -> None:
        """Buffer received data; pause reading while there is too much of it."""
        self._buffer += data
        if self._input is None and len(self._buffer) > AHEAD and self._is_reading:
            self._is_reading = False
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        """End a stream; finish any other response, which a client that closed its side may still read."""
        self._is_at_end = True
        if self._stage is _Stage.STREAM:
            self.task.cancel()
        self._wake()
        return self._transport.get_extra_info("sslcontext") is None  # TLS has no half-closed connections

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the task of the connection."""
        self._living.discard(self)
        self._is_at_end = True
        self._buffer.clear()  # at once: connection, transport and task are a cycle that the collector frees later
        self.gone.set()
        self.task.cancel()

    def pause_writing(self) -> None:
        """Make writers wait."""
        self._output = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """Let waiting writers continue."""
        if self._output is not None and not self._output.done():
            self._output.set_result(None)
        self._output = None

    def stop(self) -> None:
        """Close after the response that is in progress; a stream or an upgraded connection at once."""
        self._is_stopping = True
        if self._stage is not _Stage.REQUESTS:
            self.task.cancel()
        self._wake()

    def abort(self) -> None:
        """Close at once and drop unwritten data."""
        self._transport.abort()

    def _wake(self) -> None:
        if self._input is not None and not self._input.done():
            self._input.set_result(None)

    # -- requests ----------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            while await self._serve_one():
                pass
        except MalformedHead as refused:
            await self._refuse(error_response(refused.status, refused.body))
        except ConnectionError:
            pass  # the client has disconnected
        except Exception:
            log.exception("Connection failed", extra={"peer": self._peer.address})
            self._transport.abort()

    def _close(self, task: asyncio.Task[None]) -> None:
        """Close the transport when it has written its buffer, at the latest after STALL_SECONDS."""
        if self.gone.is_set():
            return
        unwritten = self._transport.get_write_buffer_size()
        self._transport.close()
        if unwritten:
            asyncio.get_running_loop().call_later(STALL_SECONDS, self._transport.abort)

    async def _serve_one(self) -> bool:
        """Serve one request; return False when it was the last of the connection."""
        data = await self._read_head()
        if data is None:
            return False
        head = parse_head(data)
        try:
            body = await self._read_body(head)
        except StatusError as refused:
            await self._refuse(encode_response(head, refused.response(OWN_HEADERS), closing=True))
            return False
        if body is None:
            return False
        return await self._respond(head, body)

    async def _read_head(self) -> bytes | None:
        """Read a head; return None when client or server close the connection first."""
        seen, timeout = 0, IDLE_SECONDS
        while (end := self._buffer.find(b"\r\n\r\n", max(0, seen - 3))) < 0:
            seen = len(self._buffer)
            if seen > HEAD_LIMIT:
                raise MalformedHead("431 Request Header Fields Too Large")
            if seen:
                timeout = HEAD_SECONDS
            if self._is_stopping or not await self._read_more(timeout):
                return None
        if end > HEAD_LIMIT:
            raise MalformedHead("431 Request Header Fields Too Large")
        head = bytes(self._buffer[:end])
        del self._buffer[: end + 4]
        return head

    async def _read_body(self, head: RequestHead) -> bytes | None:
        """Read a body; return None when the client disconnects or takes too long."""
        if not head.length and not head.is_chunked:
            return b""
        body = ChunkedBody(BODY_LIMIT) if head.is_chunked else CountedBody(head.length, BODY_LIMIT)
        if head.expects_continue:
            self._transport.write(continue_response())
        deadline = asyncio.get_running_loop().time() + BODY_SECONDS
        while (taken := body.take(self._buffer)) is None:
            if not await self._read_more(deadline - asyncio.get_running_loop().time()):
                return None
        return taken

    async def _read_more(self, seconds: float | None) -> bool:
        """Wait for more data; return False when the client has closed its side or the time is over."""
        if self._is_at_end:
            return False
        if not self._is_reading:
            self._is_reading = True
            self._transport.resume_reading()
        loop = asyncio.get_running_loop()
        waiting = self._input = loop.create_future()
        timer = None if seconds is None else loop.call_later(seconds, self._wake)
        before = len(self._buffer)
        try:
            await waiting
        finally:
            if timer is not None:
                timer.cancel()
            self._input = None
        return len(self._buffer) > before

    # -- responses ---------------------------------------------------------------------------------------------

    async def _respond(self, head: RequestHead, body: bytes) -> bool:
        """Write the response to a request; return False when the connection ends with it."""
        response = await self._handle(head, body, self._peer)
        closing = self._is_stopping or self._is_at_end or not head.keeps_alive
        if isinstance(response.body, bytes):
            if is_compressible(head, response):  # in a thread: a list of 40 MB takes 0.3 s
                encoded = await asyncio.to_thread(encode_response, head, response, closing=closing)
            else:
                encoded = encode_response(head, response, closing=closing)
            self._transport.write(encoded)
            await self._drain()
        elif isinstance(response.body, Upgrade):
            await self._upgrade(head, response, response.body)
            return False
        else:
            closing = not await self._stream(head, response, response.body, closing=closing)
        return not closing

    async def _upgrade(self, head: RequestHead, response: Response, upgrade: Upgrade) -> None:
        """Leave the connection to another protocol."""
        self._transport.write(encode_upgrade_head(head, response))
        self._stage = _Stage.UPGRADE
        await upgrade.serve(self)

    async def read(self) -> bytes:
        """Return bytes of an upgraded connection; see `UpgradedConnection.read`."""
        while not self._buffer:
            if not await self._read_more(None):
                return b""
        data = bytes(self._buffer)
        self._buffer.clear()
        return data

    async def write(self, data: bytes) -> None:
        """Write bytes of an upgraded connection, however long the client takes; see `UpgradedConnection.write`."""
        self._transport.write(data)
        if self._output is not None:
            await asyncio.shield(self._output)

    async def _stream(
        self, head: RequestHead, response: Response, body: AsyncGenerator[bytes, None], *, closing: bool
    ) -> bool:
        """Write a stream; return False when the connection ends with it."""
        is_chunked = head.minor_version > 0 and not has_length(response)
        self._transport.write(encode_stream_head(head, response, closing=closing))
        if self._is_at_end:  # the client closed its side before the stream began
            await body.aclose()
            return False
        self._stage = _Stage.STREAM
        try:
            async with aclosing(body) as parts:
                async for part in parts:
                    self._transport.write(encode_chunk(part) if is_chunked else part)
                    await self._drain()
        finally:
            self._stage = _Stage.REQUESTS
        if is_chunked:
            self._transport.write(ENDED)
        return head.minor_version > 0 and not closing

    async def _drain(self) -> None:
        """Wait until the client has read most of the data; abort the connection when it reads nothing."""
        while self._output is not None:
            before = self._transport.get_write_buffer_size()
            try:
                async with asyncio.timeout(STALL_SECONDS):
                    await asyncio.shield(self._output)
            except TimeoutError:
                if self._transport.get_write_buffer_size() >= before:
                    self._transport.abort()
                    raise ConnectionAbortedError("the client stopped reading") from None

    async def _refuse(self, response: bytes) -> None:
        """Write a response that ends the connection, and let the client read it while it may still be sending."""
        self._transport.write(response)
        if self._transport.can_write_eof():
            self._transport.write_eof()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + LINGER_SECONDS
        self._buffer.clear()
        while await self._read_more(deadline - loop.time()):
            self._buffer.clear()


def _with_certificate(peer: Peer, transport: asyncio.Transport) -> Peer:
    """Return the peer with the client certificate of its connection, which TLS has verified, if it has sent one."""
    certificate = transport.get_extra_info("peercert")
    if not certificate:
        return peer
    encoded = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
    return peer._replace(user=user_of_certificate(certificate), certificate=encoded or b"")
