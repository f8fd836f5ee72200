"""Client of a user who waits after each write until the world is at rest."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from pyctrl.client import Client, HttpRequest, HttpResponse, HttpStream, Transport

__all__ = ["resting"]

VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}

Settle = Callable[[str], Awaitable[None]]


def resting(client: Client, settle: Settle) -> Client:
    """Return a client like another one that calls ``settle`` after each successful write, with the write in words."""
    return Client(_RestingTransport(client.transport, settle), options=client.options)


class _RestingTransport:
    def __init__(self, inner: Transport, settle: Settle) -> None:
        self._inner, self._settle = inner, settle

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request; after a write that succeeded, wait for rest."""
        response = await self._inner.request(request)
        if request.method in VERBS and response.status < 400 and ("dryRun", "All") not in request.query:
            await self._settle(_text(request, response))
        return response

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        """Send a request whose response is streamed."""
        return self._inner.stream(request, idle_timeout=idle_timeout)

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()


def _text(request: HttpRequest, response: HttpResponse) -> str:
    """Return such as ``create podsets default/web``; the path is /api/v1/… or /apis/GROUP/VERSION/…."""
    parts = request.path.strip("/").split("/")
    rest = parts[2:] if parts[0] == "api" else parts[3:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    resource, name, *subresource = [*rest, _name(response)] if len(rest) == 1 else rest
    return f"{VERBS[request.method]} {'/'.join((resource, *subresource))} {f'{namespace}/' * bool(namespace)}{name}"


def _name(response: HttpResponse) -> str:
    """Return the name of the object in a response; * of several."""
    try:
        return str(json.loads(response.body)["metadata"]["name"])
    except (ValueError, KeyError, TypeError):
        return "*"
