"""Retries of a single request: which failures are repeated, how often, and after how long."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from pyctrl.client._transport.transport import HttpRequest, HttpResponse, HttpStream
from pyctrl.errors import ConnectionFailed, StreamBroken, TransportError

__all__ = ["Retries", "RetryPolicy", "retry_after"]


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


class Retries:
    """The retries of one request: decides whether there is another, and after how many seconds."""

    def __init__(self, policy: RetryPolicy, random: Random) -> None:
        self._policy = policy
        self._random = random
        self._answers = 0
        self._connections = 0

    def after_error(self, request: HttpRequest, error: TransportError) -> float | None:
        """Return the seconds to wait after no answer came, or None when the error is final."""
        if self._connections >= self._policy.connections or not _is_repeatable(request, error):
            return None
        seconds = self._policy.connection_delay_seconds * 2.0**self._connections * self._random.uniform(0.5, 1.0)
        self._connections += 1
        return seconds

    def after_answer(self, response: HttpResponse) -> float | None:
        """Return the seconds to wait after a refusal of the server, or None when the answer is final."""
        seconds = retry_after(response)
        if seconds is None or seconds > self._policy.longest_wait_seconds:
            return None
        # Never earlier than the server asks, never all clients together, and never without a pause.
        seconds = max(seconds, 0.1) * self._random.uniform(1.0, 1.1)
        if self._answers >= self._policy.answers:
            return None
        self._answers += 1
        return seconds


def retry_after(response: HttpResponse | HttpStream) -> float | None:
    """Return the seconds of a Retry-After header, or None; the form with a date is not used by API servers."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else None


def _is_repeatable(request: HttpRequest, error: TransportError) -> bool:
    if isinstance(error, ConnectionFailed):
        return True
    return isinstance(error, StreamBroken) and request.method in ("GET", "HEAD")
