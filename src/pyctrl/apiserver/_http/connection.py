"""One HTTP/1.1 connection: requests are read one after another, handed on, and their answers written back.

It has one task, which ends with its client. Nothing is buffered without a limit: reading pauses while an answer is
being made, and writing waits for the client, whose connection is cut when it stops reading.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from contextlib import aclosing
from typing import Protocol

from pyctrl.apiserver._authn import Peer, user_of_certificate
from pyctrl.apiserver._errors import Response, StatusError
from pyctrl.apiserver._http.body import ChunkedBody, CountedBody
from pyctrl.apiserver._http.head import HEAD_LIMIT, MalformedHead, RequestHead, parse_head
from pyctrl.apiserver._http.response import (
    ENDED,
    OWN_HEADERS,
    continue_response,
    encode_chunk,
    encode_response,
    encode_stream_head,
    error_response,
    is_compressible,
)
from pyctrl.apiserver._serializer.decoding import BODY_LIMIT

log = logging.getLogger("pyctrl.apiserver")

IDLE_SECONDS = 90.0  # between requests; kube-apiserver's own
HEAD_SECONDS = 32.0  # for a head to come in; kube-apiserver's own
BODY_SECONDS = 60.0  # for a body; how long kube-apiserver works on a request
STALL_SECONDS = 30.0  # without a byte taken; kube-apiserver ends watches that cannot keep up, sooner
LINGER_SECONDS = 1.0  # in which a client may read the refusal of what it is still sending; net/http gives 0.5

AHEAD = 64 * 1024  # bytes of requests that are read before the one before them is answered


class Handler(Protocol):
    """Makes the answer to a request."""

    def __call__(self, head: RequestHead, body: bytes, peer: Peer, /) -> Awaitable[Response]:
        """Answer a request. Nothing that a client sends makes it raise."""
        ...


class HTTPConnection(asyncio.Protocol):
    """A client's connection, from its first byte to its last.

    Args:
        handle: answers requests.
        living: where the connection is while it lives.
    """

    def __init__(self, handle: Handler, living: set[HTTPConnection]) -> None:
        self._handle, self._living = handle, living
        self._buffer = bytearray()
        self._transport: asyncio.Transport
        self._peer: Peer
        self.task: asyncio.Task[None]
        self.gone = asyncio.Event()  # its socket is closed
        self._input: asyncio.Future[None] | None = None  # somebody waits for more to be read
        self._output: asyncio.Future[None] | None = None  # writing has to wait until this is done
        self._is_at_end = False  # the client sends nothing more
        self._is_stopping = False
        self._is_streaming = False
        self._is_reading = True

    # -- what the transport tells ------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to serve."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        address = transport.get_extra_info("peername")
        certificate = transport.get_extra_info("peercert")
        self._peer = Peer(str(address[0]) if address else "", user_of_certificate(certificate) if certificate else None)
        self.task = asyncio.get_running_loop().create_task(self._run())
        self.task.add_done_callback(self._close)  # and not in the task, which may be cancelled before it has begun
        self._living.add(self)

    def data_received(self, data: bytes) -> None:
        """Keep what has come, and stop reading while there is more than enough."""
        self._buffer += data
        if self._input is None and len(self._buffer) > AHEAD and self._is_reading:
            self._is_reading = False
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        """End a watch, which nobody reads; but finish an answer, which a client that has said all may wait for."""
        self._is_at_end = True
        if self._is_streaming:
            self.task.cancel()
        self._wake()
        return self._transport.get_extra_info("sslcontext") is None  # TLS cannot be half closed

    def connection_lost(self, exc: Exception | None) -> None:
        """End with the client."""
        self._living.discard(self)
        self._is_at_end = True
        self._buffer.clear()  # now: the cycle of connection, transport and task lives until it is collected
        self.gone.set()
        self.task.cancel()

    def pause_writing(self) -> None:
        """Let writers wait."""
        self._output = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """Let writers go on."""
        if self._output is not None and not self._output.done():
            self._output.set_result(None)
        self._output = None

    def stop(self) -> None:
        """End when the request that is being answered is; a stream at once."""
        self._is_stopping = True
        if self._is_streaming:
            self.task.cancel()
        self._wake()

    def abort(self) -> None:
        """Close at once, whatever was left to be written."""
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
            pass  # the client has gone: nobody is left to tell
        except Exception:
            log.exception("connection failed", extra={"peer": self._peer.address})
            self._transport.abort()

    def _close(self, task: asyncio.Task[None]) -> None:
        """Let the transport write what is left, but not wait for ever for a client to take it."""
        if self.gone.is_set():
            return
        left = self._transport.get_write_buffer_size()
        self._transport.close()
        if left:
            asyncio.get_running_loop().call_later(STALL_SECONDS, self._transport.abort)

    async def _serve_one(self) -> bool:
        """Serve one request; False when it was the last of the connection."""
        data = await self._head()
        if data is None:
            return False
        head = parse_head(data)
        try:
            body = await self._body(head)
        except StatusError as refused:
            await self._refuse(encode_response(head, refused.response(OWN_HEADERS), closing=True))
            return False
        if body is None:
            return False
        return await self._answer(head, body)

    async def _head(self) -> bytes | None:
        """Read a head; None when the client, or the server, ends before there is one."""
        seen, patience = 0, IDLE_SECONDS
        while (end := self._buffer.find(b"\r\n\r\n", max(0, seen - 3))) < 0:
            seen = len(self._buffer)
            if seen > HEAD_LIMIT:
                raise MalformedHead("431 Request Header Fields Too Large")
            if seen:
                patience = HEAD_SECONDS
            if self._is_stopping or not await self._more(patience):
                return None
        if end > HEAD_LIMIT:
            raise MalformedHead("431 Request Header Fields Too Large")
        head = bytes(self._buffer[:end])
        del self._buffer[: end + 4]
        return head

    async def _body(self, head: RequestHead) -> bytes | None:
        """Read a body; None when the client goes before it is whole, or takes too long."""
        if not head.length and not head.is_chunked:
            return b""
        body = ChunkedBody(BODY_LIMIT) if head.is_chunked else CountedBody(head.length, BODY_LIMIT)
        if head.expects_continue:
            self._transport.write(continue_response())
        deadline = asyncio.get_running_loop().time() + BODY_SECONDS
        while (taken := body.take(self._buffer)) is None:
            if not await self._more(deadline - asyncio.get_running_loop().time()):
                return None
        return taken

    async def _more(self, seconds: float) -> bool:
        """Wait until more has been read; False when nothing will be, or has been in time."""
        if self._is_at_end:
            return False
        if not self._is_reading:
            self._is_reading = True
            self._transport.resume_reading()
        loop = asyncio.get_running_loop()
        waiting = self._input = loop.create_future()
        timer = loop.call_later(seconds, self._wake)
        before = len(self._buffer)
        try:
            await waiting
        finally:
            timer.cancel()
            self._input = None
        return len(self._buffer) > before

    # -- answers -----------------------------------------------------------------------------------------------

    async def _answer(self, head: RequestHead, body: bytes) -> bool:
        """Answer a request; False when the connection ends with it."""
        answer = await self._handle(head, body, self._peer)
        closing = self._is_stopping or self._is_at_end or not head.keeps_alive
        if isinstance(answer.body, bytes):
            if is_compressible(head, answer.body):  # in a thread: a list of 40 MB takes 0.3 s
                encoded = await asyncio.to_thread(encode_response, head, answer, closing=closing)
            else:
                encoded = encode_response(head, answer, closing=closing)
            self._transport.write(encoded)
            await self._written()
        else:
            closing = not await self._stream(head, answer, closing=closing)
        return not closing

    async def _stream(self, head: RequestHead, answer: Response, *, closing: bool) -> bool:
        """Write a stream as it comes; False when the connection ends with it."""
        assert not isinstance(answer.body, bytes)
        is_chunked = head.minor_version > 0
        self._transport.write(encode_stream_head(head, answer, closing=closing))
        if self._is_at_end:  # the end came with the request, before there was a stream to end
            await answer.body.aclose()
            return False
        self._is_streaming = True
        try:
            async with aclosing(answer.body) as parts:
                async for part in parts:
                    self._transport.write(encode_chunk(part) if is_chunked else part)
                    await self._written()
        finally:
            self._is_streaming = False
        if is_chunked:
            self._transport.write(ENDED)
        return is_chunked and not closing

    async def _written(self) -> None:
        """Wait until the client has taken most of what was written; cut it off when it takes nothing."""
        while self._output is not None:
            before = self._transport.get_write_buffer_size()
            try:
                async with asyncio.timeout(STALL_SECONDS):
                    await asyncio.shield(self._output)
            except TimeoutError:
                if self._transport.get_write_buffer_size() >= before:
                    self._transport.abort()
                    raise ConnectionAbortedError("the client has stopped reading") from None

    async def _refuse(self, answer: bytes) -> None:
        """Write an answer that ends the connection, and let the client read it: it may still be sending."""
        self._transport.write(answer)
        if self._transport.can_write_eof():
            self._transport.write_eof()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + LINGER_SECONDS
        self._buffer.clear()
        while await self._more(deadline - loop.time()):
            self._buffer.clear()
