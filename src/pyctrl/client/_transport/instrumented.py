"""Transport that measures and traces the requests to an API server: client-go's metrics and OpenTelemetry's spans."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from urllib.parse import urlencode, urlsplit

from pyctrl import _tracing
from pyctrl._metrics import REQUEST_DURATIONS, REQUEST_SIZES, Histogram, MetricFamily, counter, histogram
from pyctrl._tracing import Span, Tracing
from pyctrl.api import Access
from pyctrl.client._transport.transport import Headers, HttpRequest, HttpResponse, HttpStream, Transport

__all__ = ["NO_ANSWER", "InstrumentedTransport"]

#: client-go's code for requests without a response.
NO_ANSWER = "<error>"


class InstrumentedTransport:
    """Transport that counts every attempt of a request, and records it as a span if the program traces.

    A stream is measured until its response head: the duration of a watch says nothing about the server.

    Args:
        inner: the transport that sends the requests.
        server: the URL of the server; its host is a label and an attribute. "" if unknown.
    """

    def __init__(self, inner: Transport, *, server: str = "") -> None:
        self._inner = inner
        self._host = urlsplit(server).netloc.rpartition("@")[2]
        self._server = server.rstrip("/") if "://" in server else ""
        self._requests: dict[tuple[str, str], int] = defaultdict(int)
        self._retries: dict[tuple[str, str], int] = defaultdict(int)
        self._durations: dict[str, Histogram] = defaultdict(lambda: Histogram(REQUEST_DURATIONS))
        self._sent: dict[str, Histogram] = defaultdict(lambda: Histogram(REQUEST_SIZES))
        self._received: dict[str, Histogram] = defaultdict(lambda: Histogram(REQUEST_SIZES))

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the whole response."""
        tracing = _tracing.active
        began, code = _now(), NO_ANSWER
        try:
            if tracing is None:
                response = await self._inner.request(request)
            else:
                response = await self._request_in_span(tracing, request)
            code = str(response.status)
            self._received[request.method].observe(len(response.body))
        finally:
            self._count(request, code, began)
        return response

    async def _request_in_span(self, tracing: Tracing, request: HttpRequest) -> HttpResponse:
        with self._span(tracing, request) as span:
            response = await self._inner.request(_with_headers(request, span))
            _set_status(span, response.status)
            return response

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Send a request. Its response body can be read inside the block."""
        began, code = _now(), NO_ANSWER
        async with AsyncExitStack() as stack:
            try:
                stream = await self._open(stack, request, idle_timeout)
                code = str(stream.status)
            finally:
                self._count(request, code, began)
            yield stream

    async def _open(self, stack: AsyncExitStack, request: HttpRequest, idle_timeout: float | None) -> HttpStream:
        tracing = _tracing.active
        if tracing is None:
            return await stack.enter_async_context(self._inner.stream(request, idle_timeout=idle_timeout))
        with self._span(tracing, request) as span:
            opening = self._inner.stream(_with_headers(request, span), idle_timeout=idle_timeout)
            stream = await stack.enter_async_context(opening)
            _set_status(span, stream.status)
            return stream

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()

    def retried(self, request: HttpRequest, code: str) -> None:
        """Count a retry of a request after a response with this code, or `NO_ANSWER`."""
        self._retries[code, request.method] += 1

    def _count(self, request: HttpRequest, code: str, began: float) -> None:
        self._requests[code, request.method] += 1
        self._durations[request.method].observe(_now() - began)
        self._sent[request.method].observe(len(request.body or b""))

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return client-go's metrics; docs/metrics.md lists those that do not apply."""
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

    def _span(self, tracing: Tracing, request: HttpRequest) -> AbstractContextManager[Span]:
        access = Access.of_request(request.method, request.path, dict(reversed(request.query)))
        template = _path_template(request.path, access)
        query = f"?{urlencode(request.query)}" if request.query else ""
        attributes: dict[str, str | int | float | bool | list[str]] = {
            "http.request.method": request.method,
            "url.template": template,
            "url.full": f"{self._server}{request.path}{query}",
            **self._address(),
            **{f"k8s.request.{key}": value for key, value in _attributes(access).items() if value},
        }
        if access.namespace:
            attributes["k8s.namespace.name"] = access.namespace
        return tracing.span(f"{request.method} {template}", attributes, is_call=True)

    def _address(self) -> dict[str, str | int]:
        if not self._server:
            return {}
        url = urlsplit(self._server)
        return {
            "server.address": url.hostname or "",
            "server.port": url.port or (443 if url.scheme == "https" else 80),
            "url.scheme": url.scheme,
        }


def _now() -> float:
    return asyncio.get_running_loop().time()


def _attributes(access: Access) -> dict[str, str]:
    if not access.is_resource:
        return {"verb": access.verb}
    return {
        "verb": access.verb,
        "group": access.group,
        "resource": access.resource,
        "subresource": access.subresource,
        "name": access.name,
    }


def _path_template(path: str, access: Access) -> str:
    """Return the path with its namespace and name replaced by placeholders."""
    parts = path.split("/")
    if access.namespace and "namespaces" in parts:
        index = parts.index("namespaces") + 1
        parts[index : index + 1] = ["{namespace}"]
    if access.name and access.resource in parts:
        index = len(parts) - parts[::-1].index(access.resource)
        if index < len(parts):
            parts[index] = "{name}"
    return "/".join(parts)


def _with_headers(request: HttpRequest, span: Span) -> HttpRequest:
    if not (headers := span.headers):
        return request
    return replace(request, headers=Headers((*Headers.of(request.headers).pairs, *headers.items())))


def _set_status(span: Span, status: int) -> None:
    span.set({"http.response.status_code": status})
    if status >= 400:
        span.fail(str(status))
