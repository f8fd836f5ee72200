"""The seam between the client and the wire: requests, answers, and the two protocols on either side of it.

Everything above speaks `Transport`. Below are two implementations, `AiohttpTransport` for a cluster and
`InProcessTransport` for an `Application` in this process; fault injection and virtual time plug in here too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pyctrl._headers import Headers
from pyctrl._time_slices import TimeSlice

__all__ = [
    "HEAD_TIMEOUT",
    "REQUEST_TIMEOUT",
    "Application",
    "ApplicationResponse",
    "Headers",
    "HttpRequest",
    "HttpResponse",
    "HttpStream",
    "Transport",
    "deliver",
]

REQUEST_TIMEOUT = 30.0  # seconds for a whole answer; kube-apiserver gives up on a request after 60
HEAD_TIMEOUT = 30.0  # seconds until the head of a stream has come; a watch cache that catches up answers within 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request, relative to the server. Pass `Headers` where a name needs several values.

    ``timeout`` is in seconds and counts for the whole answer; None is for watches, which have no end. Headers and body
    are not in its repr: they may hold a token or a Secret.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    timeout: float | None = REQUEST_TIMEOUT

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A whole answer, whatever its status."""

    status: int
    headers: Headers
    body: bytes = field(repr=False)


class HttpStream(Protocol):
    """An answer whose head has come and whose body is read as it comes."""

    @property
    def status(self) -> int:
        """The status code."""
        ...

    @property
    def headers(self) -> Headers:
        """The headers of the answer."""
        ...

    async def read(self) -> bytes:
        """Return the rest of the body."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Iterate over the body in the pieces in which it came; never an empty one."""
        ...


@runtime_checkable
class _DeliveringStream(Protocol):
    """A stream that can do so."""

    async def deliver(self, take: Callable[[bytes], None]) -> None:
        """Hand each piece of the body to a function until it ends."""


async def deliver(stream: HttpStream, take: Callable[[bytes], None]) -> None:
    """Hand each piece of a stream's body to a function until it ends; what the function raises ends it too.

    A stream that can calls the function when the piece comes, and saves to wake up a task for it; the function must
    not wait.
    """
    if isinstance(stream, _DeliveringStream):
        await stream.deliver(take)
        return
    slice_ = TimeSlice.current()
    async for chunk in stream.chunks():
        take(chunk)
        await slice_.step()  # a server in this process may never let its reader wait


class Transport(Protocol):
    """Carries requests to an API server.

    A failed HTTP status is an answer, not an error; what it raises is a `TransportError`, or a `ConfigError` when the
    login cannot be used. Credentials, TLS and proxies are its business, retries are not.
    """

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the whole answer."""
        ...

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        """Send a request; inside the block its body can be read. Leaving the block ends the answer.

        The head must come within `HEAD_TIMEOUT`. Silence for longer than ``idle_timeout`` seconds raises
        `RequestTimeout`.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection. Calling it twice is fine."""
        ...


class ApplicationResponse(Protocol):
    """What an `Application` answers. An iterator as body is streamed, and closed when its reader goes."""

    @property
    def status(self) -> int:
        """The status code."""
        ...

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """The headers, as pairs."""
        ...

    @property
    def body(self) -> bytes | AsyncIterator[bytes]:
        """The whole body, or its pieces."""
        ...


class Application(Protocol):
    """An HTTP server reduced to a function, such as the embedded API server."""

    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> ApplicationResponse:
        """Answer one request."""
        ...
