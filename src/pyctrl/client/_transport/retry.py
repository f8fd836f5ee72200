"""Retry policy of a single request: which failures are retried, how often, and after which delay."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from pyctrl.client._transport.transport import HttpRequest, HttpResponse, HttpStream
from pyctrl.errors import ConnectionFailed, StreamBroken, TransportError

__all__ = ["Retries", "RetryPolicy", "retry_after"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Limits of the retries of a request.

    Responses with Retry-After (429, 503, any 5xx) are retried for every verb: the server has not acted. Broken
    connections are retried for reads. A write is retried only if it was not sent.
    """

    answers: int = 10  # retries after Retry-After, as in client-go
    connections: int = 3  # retries after connection failures
    connection_delay_seconds: float = 0.1  # doubled after every attempt
    longest_wait_seconds: float = 30.0  # a response with a longer Retry-After is final


class Retries:
    """State of the retries of one request."""

    def __init__(self, policy: RetryPolicy, random: Random) -> None:
        self._policy = policy
        self._random = random
        self._answers = 0
        self._connections = 0

    def after_error(self, request: HttpRequest, error: TransportError) -> float | None:
        """Return the seconds to wait after a connection failure, or None if the error is final."""
        if self._connections >= self._policy.connections or not _is_repeatable(request, error):
            return None
        seconds = self._policy.connection_delay_seconds * 2.0**self._connections * self._random.uniform(0.5, 1.0)
        self._connections += 1
        return seconds

    def after_answer(self, response: HttpResponse) -> float | None:
        """Return the seconds to wait after an error response, or None if the response is final."""
        seconds = retry_after(response)
        if seconds is None or seconds > self._policy.longest_wait_seconds:
            return None
        # Not earlier than the server requests, not all clients at the same time, and at least 0.1 s.
        seconds = max(seconds, 0.1) * self._random.uniform(1.0, 1.1)
        if self._answers >= self._policy.answers:
            return None
        self._answers += 1
        return seconds


def retry_after(response: HttpResponse | HttpStream) -> float | None:
    """Return the seconds of a Retry-After header, or None. API servers do not use the form with a date."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else None


def _is_repeatable(request: HttpRequest, error: TransportError) -> bool:
    if isinstance(error, ConnectionFailed):
        return True
    return isinstance(error, StreamBroken) and request.method in ("GET", "HEAD")
