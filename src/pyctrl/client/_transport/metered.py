"""Counting what is asked of the server, under client-go's names."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from pyctrl._metrics import REQUEST_DURATIONS, REQUEST_SIZES, Histogram, MetricFamily, counter, histogram
from pyctrl.client._transport.transport import HttpRequest, HttpResponse, HttpStream, Transport

__all__ = ["MeteredTransport"]

#: client-go's word for requests that got no answer.
NO_ANSWER = "<error>"


class MeteredTransport:
    """A transport that counts what goes through it: each try by itself, a watch when its head has come.

    Args:
        inner: what carries the requests.
        server: the address of the server, of which the host is a label.
    """

    def __init__(self, inner: Transport, *, server: str = "") -> None:
        self._inner = inner
        self._host = urlsplit(server).netloc.rpartition("@")[2]
        self._requests: dict[tuple[str, str], int] = defaultdict(int)
        self._retries: dict[tuple[str, str], int] = defaultdict(int)
        self._durations: dict[str, Histogram] = defaultdict(lambda: Histogram(REQUEST_DURATIONS))
        self._sent: dict[str, Histogram] = defaultdict(lambda: Histogram(REQUEST_SIZES))
        self._received: dict[str, Histogram] = defaultdict(lambda: Histogram(REQUEST_SIZES))

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the whole answer."""
        began, code = _now(), NO_ANSWER
        try:
            response = await self._inner.request(request)
            code = str(response.status)
            self._received[request.method].observe(len(response.body))
        finally:
            self._count(request, code, began)
        return response

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Send a request; inside the block its body can be read."""
        began, code = _now(), NO_ANSWER
        is_open = False
        try:
            async with self._inner.stream(request, idle_timeout=idle_timeout) as stream:
                is_open, code = True, str(stream.status)
                self._count(request, code, began)
                yield stream
        finally:
            if not is_open:
                self._count(request, code, began)

    async def aclose(self) -> None:
        """Close the transport underneath."""
        await self._inner.aclose()

    def retried(self, request: HttpRequest, code: str = NO_ANSWER) -> None:
        """Take note that a request is sent again, after an answer with this code or none."""
        self._retries[code, request.method] += 1

    def _count(self, request: HttpRequest, code: str, began: float) -> None:
        self._requests[code, request.method] += 1
        self._durations[request.method].observe(_now() - began)
        self._sent[request.method].observe(len(request.body or b""))

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return client-go's series; see docs/metrics.md for those that make no sense here."""
        host = {"host": self._host}
        yield counter(
            "rest_client_requests_total",
            "Requests to the API server",
            *(({"code": code, "method": verb} | host, n) for (code, verb), n in self._requests.items()),
        )
        yield counter(
            "rest_client_request_retries_total",
            "Requests that were sent again",
            *(({"code": code, "verb": verb} | host, n) for (code, verb), n in self._retries.items()),
        )
        for name, meaning, by_verb in (
            ("request_duration_seconds", "Until the answer had come; of a watch, its head", self._durations),
            ("request_size_bytes", "Bodies of requests", self._sent),
            ("response_size_bytes", "Bodies of answers, without watches", self._received),
        ):
            samples = [({"verb": verb} | host, seen) for verb, seen in by_verb.items()]
            yield histogram(f"rest_client_{name}", meaning, *samples)


def _now() -> float:
    return asyncio.get_running_loop().time()
