"""Transport to an API server in this process, without sockets and threads. It works in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Generator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache, partial
from types import TracebackType, coroutine
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pyctrl._pipes import PipeConnection
from pyctrl._tasks import end
from pyctrl.client._login.credentials import Anonymous, Credentials
from pyctrl.client._transport.transport import (
    Application,
    ApplicationResponse,
    ApplicationUpgrade,
    Headers,
    HttpRequest,
    HttpResponse,
    HttpStream,
)
from pyctrl.errors import ConnectionFailed, RequestTimeout, StreamBroken

if TYPE_CHECKING:
    from pyctrl.client._login.impersonation import Impersonation

__all__ = ["InProcessTransport"]

T = TypeVar("T")


REMEMBERED = 64  # headers of requests and of answers


class _SentHeaders(NamedTuple):
    """The headers of a request, and what was added to them."""

    given: Headers
    authorization: str | None
    headers: Headers


@lru_cache(maxsize=REMEMBERED)
def _headers_of_answer(pairs: tuple[tuple[str, str], ...]) -> Headers:
    return Headers(pairs)


class InProcessTransport:
    """Transport that calls an `Application` directly and behaves like a network.

    A request yields to other tasks at least once, as with a socket. Timeouts apply. Cancelling the caller cancels the
    handler. Leaving a stream's block closes the application's iterator. An exception of the handler is raised as
    `StreamBroken`, with the exception as its cause.

    Args:
        application: handles the requests; it is not closed with the transport.
        credentials: provides the Authorization header of every request, and renews it after a 401.
        impersonate: the user to impersonate.
        headers: sent with every request; a request's own headers win.
    """

    def __init__(
        self,
        application: Application,
        *,
        credentials: Credentials | None = None,
        impersonate: Impersonation | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._application = application
        self._credentials = credentials or Anonymous()
        self._headers = Headers.of(headers or {}).over(Headers(impersonate.headers() if impersonate else ()))
        self._closed = False
        self._sent: dict[int, _SentHeaders] = {}

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the whole response."""
        await asyncio.sleep(0)
        answering = self._answer(request)
        try:
            waits_for = answering.send(None)
        except StopIteration as answered:  # nearly always: no timer is needed
            response: HttpResponse = answered.value
            return response
        async with _Deadline(request, _deadline_after(request.timeout)):
            return await _continued(answering, waits_for)

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        answer = await self._send(request)
        body = answer.body
        if not isinstance(body, (bytes, AsyncIterator)):
            raise StreamBroken(f"{request} was answered with another protocol; open it as a stream")
        if not isinstance(body, bytes):
            body = await _Stream(answer, body, request, None, None).read_and_close()
        return HttpResponse(status=answer.status, headers=_headers_of_answer(tuple(answer.headers)), body=body)

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Send a request. Its response body can be read inside the block."""
        ends_at = _deadline_after(request.timeout)
        async with _Deadline(request, _earlier_deadline(ends_at, _deadline_after(request.head_timeout))):
            await asyncio.sleep(0)
            answer = await self._send(request)
        body = answer.body
        if not isinstance(body, (bytes, AsyncIterator)):
            async with _upgraded(answer, body, request) as connection:
                yield connection
            return
        stream = _Stream(answer, body, request, idle_timeout, ends_at)
        try:
            yield stream
        finally:
            await stream.aclose()

    async def aclose(self) -> None:
        """Raise `ConnectionFailed` for further requests."""
        self._closed = True

    async def _send(self, request: HttpRequest) -> ApplicationResponse:
        if self._closed:
            raise ConnectionFailed(f"the transport is closed; {request} was not sent")
        headers = await self._headers_of(request)
        answer = await self._call(request, headers)
        if answer.status == 401 and await self._credentials.refresh(headers.get("Authorization")):
            return await self._call(request, await self._headers_of(request))
        return answer

    async def _call(self, request: HttpRequest, headers: Headers) -> ApplicationResponse:
        try:
            return await self._application.handle(
                request.method, request.path, request.query, headers, request.body or b""
            )
        except Exception as error:
            raise StreamBroken(f"the API server in this process failed at {request}: {error!r}") from error

    async def _headers_of(self, request: HttpRequest) -> Headers:
        """Return the headers of a request; those of a client's requests are few, and are kept."""
        authorization, given = await self._credentials.authorization(), request.headers
        known = self._sent.get(id(given))  # the id is that of these headers, because they are kept with it
        if known is not None and known.authorization == authorization:
            return known.headers
        headers = Headers.of(given).over(self._headers)
        if authorization is not None and "Authorization" not in headers:
            headers = Headers((*headers.pairs, ("Authorization", authorization)))
        if isinstance(given, Headers):  # others may change
            if len(self._sent) == REMEMBERED:
                self._sent.clear()
            self._sent[id(given)] = _SentHeaders(given, authorization, headers)
        return headers


@coroutine
def _continued(running: Coroutine[Any, Any, T], waits_for: Any) -> Generator[Any, Any, T]:
    """Await the rest of a coroutine that was started, and waits for a future."""
    while True:
        try:
            found = yield waits_for
        except BaseException as error:  # noqa: BLE001 - the coroutine handles it, as a cancellation
            step = partial(running.throw, error)
        else:
            step = partial(running.send, found)
        try:
            waits_for = step()
        except StopIteration as done:
            result: T = done.value
            return result


class _Stream:
    """`HttpStream` of one response."""

    def __init__(
        self,
        answer: ApplicationResponse,
        body: bytes | AsyncIterator[bytes],
        request: HttpRequest,
        idle_timeout: float | None,
        ends_at: float | None,
    ) -> None:
        self.status = answer.status
        self.headers = Headers(answer.headers)
        self._request = request
        self._idle_timeout = idle_timeout
        self._ends_at = ends_at
        self._body = _single_chunk(body) if isinstance(body, bytes) else body

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self])

    async def read_and_close(self) -> bytes:
        try:
            return await self.read()
        finally:
            await self.aclose()

    def chunks(self) -> AsyncIterator[bytes]:
        return self

    def __aiter__(self) -> _Stream:
        return self

    async def __anext__(self) -> bytes:
        while True:
            async with _Deadline(self._request, _earlier_deadline(self._ends_at, _deadline_after(self._idle_timeout))):
                try:
                    chunk = await anext(self._body)
                except StopAsyncIteration:
                    raise
                except Exception as error:
                    raise StreamBroken(f"the response to {self._request} was interrupted: {error!r}") from error
            if chunk:
                return chunk

    async def aclose(self) -> None:
        close = getattr(self._body, "aclose", None)
        if close is not None:
            await close()


@asynccontextmanager
async def _upgraded(
    answer: ApplicationResponse, upgrade: ApplicationUpgrade, request: HttpRequest
) -> AsyncIterator[HttpStream]:
    """Run the server's end of a connection in a task while the client's end is open."""
    client, server = PipeConnection.pair()

    async def serve() -> None:
        try:
            await upgrade.serve(server)
        finally:
            server.close()

    task = asyncio.get_running_loop().create_task(serve())
    try:
        yield _UpgradedStream(answer, request, client, task)
    finally:
        client.close()
        await end([task])
        if not task.cancelled():
            task.exception()  # the client has noticed it as the end of the connection


class _UpgradedStream:
    """`UpgradedStream` of one response."""

    def __init__(
        self,
        answer: ApplicationResponse,
        request: HttpRequest,
        connection: PipeConnection,
        task: asyncio.Task[None],
    ) -> None:
        self.status = answer.status
        self.headers = Headers(answer.headers)
        self._request, self._connection, self._task = request, connection, task

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        while chunk := await self._connection.read():
            yield chunk
        self._check()

    async def write(self, data: bytes) -> None:
        try:
            await self._connection.write(data)
        except ConnectionError as error:
            raise StreamBroken(f"the connection of {self._request} is closed") from error

    def _check(self) -> None:
        """Raise the error with which the server's end has failed."""
        if self._task.done() and not self._task.cancelled() and (error := self._task.exception()) is not None:
            raise StreamBroken(f"the connection of {self._request} was interrupted: {error!r}") from error


async def _single_chunk(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _deadline_after(seconds: float | None) -> float | None:
    return None if seconds is None else asyncio.get_running_loop().time() + seconds


def _earlier_deadline(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


class _Deadline:
    """Context manager that raises `RequestTimeout` at a loop time. It does not convert other TimeoutErrors."""

    def __init__(self, request: HttpRequest, when: float | None) -> None:
        self._request = request
        self._limit = asyncio.timeout_at(when)

    async def __aenter__(self) -> None:
        await self._limit.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError as expired:
            raise RequestTimeout(f"{self._request} timed out") from expired
