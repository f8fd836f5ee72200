"""Requests as spans, for programs that trace: `pyctrl.enable_tracing`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from urllib.parse import urlencode, urlsplit

from pyctrl import _tracing
from pyctrl._tracing import Span, Tracing
from pyctrl.api import Access
from pyctrl.client._transport.transport import Headers, HttpRequest, HttpResponse, HttpStream, Transport

__all__ = ["TracedTransport"]


class TracedTransport:
    """A transport that tells of each request, each try of it, when the program traces; else it only hands them on.

    Of a stream the span ends with its head: how long a watch is open says nothing about the server.

    Args:
        inner: carries the requests.
        server: the URL of the server, "" when it is not known.
    """

    def __init__(self, inner: Transport, *, server: str = "") -> None:
        self._inner = inner
        self._server = server.rstrip("/") if "://" in server else ""

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request."""
        tracing = _tracing.active
        if tracing is None:
            return await self._inner.request(request)
        with self._span(tracing, request) as span:
            response = await self._inner.request(_with_headers(request, span))
            _set_status(span, response.status)
            return response

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Send a request; inside the block its body can be read."""
        tracing = _tracing.active
        if tracing is None:
            async with self._inner.stream(request, idle_timeout=idle_timeout) as stream:
                yield stream
            return
        async with AsyncExitStack() as stack:
            with self._span(tracing, request) as span:
                opening = self._inner.stream(_with_headers(request, span), idle_timeout=idle_timeout)
                stream = await stack.enter_async_context(opening)
                _set_status(span, stream.status)
            yield stream

    async def aclose(self) -> None:
        """Close the transport underneath."""
        await self._inner.aclose()

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
    """Return the path without names, of which there are many."""
    parts = path.split("/")
    if access.namespace and "namespaces" in parts:
        place = parts.index("namespaces") + 1
        parts[place : place + 1] = ["{namespace}"]
    if access.name and access.resource in parts:
        place = len(parts) - 1 - parts[::-1].index(access.resource) + 1
        if place < len(parts):
            parts[place] = "{name}"
    return "/".join(parts)


def _with_headers(request: HttpRequest, span: Span) -> HttpRequest:
    if not (headers := span.headers):
        return request
    return replace(request, headers=Headers((*Headers.of(request.headers).pairs, *headers.items())))


def _set_status(span: Span, status: int) -> None:
    span.set({"http.response.status_code": status})
    if status >= 400:
        span.fail(str(status))
