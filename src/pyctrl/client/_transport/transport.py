"""Transport interface: requests, responses, and the protocols `Transport` and `Application`.

There are two transports, `AiohttpTransport` for a cluster and `InProcessTransport` for an `Application` in this
process. Fault injection wraps either.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pyctrl._headers import Headers
from pyctrl._time_slices import TimeSlice

__all__ = [
    "HEAD_TIMEOUT",
    "REQUEST_TIMEOUT",
    "Application",
    "ApplicationConnection",
    "ApplicationResponse",
    "ApplicationUpgrade",
    "Headers",
    "HttpRequest",
    "HttpResponse",
    "HttpStream",
    "Transport",
    "UpgradedStream",
    "deliver",
]

REQUEST_TIMEOUT = 30.0  # seconds for a whole response; kube-apiserver times out after 60
HEAD_TIMEOUT = 30.0  # seconds for the response head of a stream; a watch cache that catches up responds within 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request, with a path relative to the server. Pass `Headers` if a name has several values.

    ``timeout`` is in seconds and applies to the whole response; None is for watches, which have no end.
    ``head_timeout`` applies to the head of a stream. Headers and body are not in its repr: they may have a token
    or a Secret.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    timeout: float | None = REQUEST_TIMEOUT
    head_timeout: float | None = HEAD_TIMEOUT

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A complete response of any status."""

    status: int
    headers: Headers
    body: bytes = field(repr=False)


class HttpStream(Protocol):
    """A response whose body is streamed."""

    @property
    def status(self) -> int:
        """The status code."""
        ...

    @property
    def headers(self) -> Headers:
        """The response headers."""
        ...

    async def read(self) -> bytes:
        """Return the rest of the body."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Iterate over the body's chunks as they are received; no chunk is empty."""
        ...


@runtime_checkable
class UpgradedStream(HttpStream, Protocol):
    """The response with the status 101 to a request with the header `Upgrade`: a connection with another protocol.

    `chunks` has the bytes that the server sends.
    """

    async def write(self, data: bytes) -> None:
        """Write bytes to the server. Waits while it reads slower than they are written."""
        ...


@runtime_checkable
class _DeliveringStream(Protocol):
    """Stream that can call a function for each chunk."""

    async def deliver(self, take: Callable[[bytes], None]) -> None:
        """Pass each chunk of the body to a function until its end."""


async def deliver(stream: HttpStream, take: Callable[[bytes], None]) -> None:
    """Pass each chunk of a stream's body to ``take`` until its end, or until ``take`` raises.

    A stream with a method ``deliver`` calls ``take`` as soon as it receives a chunk, without waking a task. So ``take``
    must not block.
    """
    if isinstance(stream, _DeliveringStream):
        await stream.deliver(take)
        return
    slice_ = TimeSlice.current()
    async for chunk in stream.chunks():
        take(chunk)
        await slice_.step()  # a server in this process may always have another chunk


class Transport(Protocol):
    """Sender of requests to an API server.

    A response with an HTTP error status is returned, not raised. It raises a `TransportError`, or a `ConfigError` if
    the login is invalid. It handles credentials, TLS and proxies, but not retries.
    """

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the whole response."""
        ...

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        """Send a request. Its response body can be read inside the block, which closes it at the end.

        The response head must be received within the request's ``head_timeout``. After ``idle_timeout`` seconds without
        data, reading raises `RequestTimeout`.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection. It may be called more than once."""
        ...


class ApplicationConnection(Protocol):
    """The server's end of an upgraded connection."""

    async def read(self) -> bytes:
        """Return the received bytes, at least one; b"" after the client has closed the connection."""
        ...

    async def write(self, data: bytes) -> None:
        """Write bytes to the client. Waits while it reads slower than they are written."""
        ...


class ApplicationUpgrade(Protocol):
    """The body of a response with the status 101, which takes over the connection."""

    @property
    def serve(self) -> Callable[[ApplicationConnection], Awaitable[None]]:
        """Serves the connection until one of its ends closes it."""
        ...


class ApplicationResponse(Protocol):
    """Response of an `Application`. A body that is an iterator is streamed, and closed when its reader stops."""

    @property
    def status(self) -> int:
        """The status code."""
        ...

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """The headers, as pairs."""
        ...

    @property
    def body(self) -> bytes | AsyncIterator[bytes] | ApplicationUpgrade:
        """The whole body, an iterator over its chunks, or the new protocol of the connection."""
        ...


class Application(Protocol):
    """An HTTP server as a function, such as the embedded API server."""

    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> ApplicationResponse:
        """Handle one request."""
        ...
