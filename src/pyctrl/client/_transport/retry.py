"""When to ask the server again, and after how long: the one place for retries of single requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from pyctrl.client._transport.leader_gate import check_gate
from pyctrl.client._transport.metered import NO_ANSWER
from pyctrl.client._transport.transport import HttpRequest, HttpResponse, HttpStream, Transport
from pyctrl.errors import ConnectionFailed, StreamBroken, TransportError

__all__ = ["RetryPolicy", "RetryingTransport", "retry_after"]

log = logging.getLogger("pyctrl.client")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long to try again.

    The server's refusals are repeated for every verb: an answer with Retry-After (429, 503, any 5xx) says that
    the server has not acted. Broken connections are repeated for reads; a write is repeated only when nothing was
    sent.
    """

    answers: int = 10  # further tries after Retry-After; client-go's
    connections: int = 3  # further tries when the connection fails
    connection_delay_seconds: float = 0.1  # doubles with every try
    longest_wait_seconds: float = 30.0  # a server that asks for more gets its answer passed on


def retry_after(response: HttpResponse | HttpStream) -> float | None:
    """Return the seconds of a Retry-After header, or None; the form with a date is not used by API servers."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else None


class RetryingTransport:
    """A transport that repeats what `RetryPolicy` lets it repeat, and passes on everything else.

    Streams are not repeated: whoever reads one knows how to resume it.
    """

    def __init__(
        self,
        inner: Transport,
        *,
        policy: RetryPolicy | None = None,
        random: Random | None = None,
        on_retry: Callable[[HttpRequest, str], object] = lambda _request, _code: None,
    ) -> None:
        self._inner = inner
        self._on_retry = on_retry
        self._policy = policy or RetryPolicy()
        self._random = random or Random()

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request until there is an answer worth passing on, or the tries are used up.

        Raises:
            NotLeading: it is a write of elected work, and the lease no longer covers it.
        """
        refused = broken = 0
        while True:
            check_gate(request)  # before each try: waiting may have taken longer than a lease lasts
            code = NO_ANSWER
            try:
                response = await self._inner.request(request)
            except TransportError as error:
                if broken >= self._policy.connections or not _is_repeatable(request, error):
                    raise
                seconds = self._policy.connection_delay_seconds * 2**broken * self._random.uniform(0.5, 1.0)
                broken += 1
                log.debug("connection failed, trying again", extra={"request": str(request), "seconds": seconds})
            else:
                wait = self._wait_for(response)
                if wait is None or refused >= self._policy.answers:
                    return response
                seconds, code = wait, str(response.status)
                refused += 1
                log.debug("server asks to wait", extra={"request": str(request), "seconds": seconds})
            await asyncio.sleep(seconds)
            self._on_retry(request, code)

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Send a request once; inside the block its body can be read."""
        async with self._inner.stream(request, idle_timeout=idle_timeout) as stream:
            yield stream

    async def aclose(self) -> None:
        """Close the transport underneath."""
        await self._inner.aclose()

    def _wait_for(self, response: HttpResponse) -> float | None:
        """Seconds to wait before the next try, or None when the answer stands."""
        if response.status != 429 and response.status < 500:
            return None
        seconds = retry_after(response)
        if seconds is None or seconds > self._policy.longest_wait_seconds:
            return None
        # never before the server said, never all clients at once, and never at once
        return max(seconds, 0.1) * self._random.uniform(1.0, 1.1)


def _is_repeatable(request: HttpRequest, error: TransportError) -> bool:
    if isinstance(error, ConnectionFailed):
        return True
    return isinstance(error, StreamBroken) and request.method in ("GET", "HEAD")
