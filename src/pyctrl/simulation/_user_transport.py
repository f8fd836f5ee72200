"""The connection of the scenario's user: it takes time, has no faults, and notes what the user writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

import msgspec

from pyctrl.api import RequestTarget
from pyctrl.client import HttpRequest, HttpResponse, HttpStream
from pyctrl.simulation._history import ObjectId, Sent
from pyctrl.simulation._network import NetworkLink
from pyctrl.simulation._operator_transport import note_answer

if TYPE_CHECKING:
    from pyctrl.simulation._world import World

__all__ = ["UserTransport"]


WEBHOOK_RETRIES = 60  # with a pause of a second


class UserTransport:
    """`Transport` of the scenario's client."""

    def __init__(self, link: NetworkLink) -> None:
        self._link = link
        self._world: World | None = None

    def connect(self, world: World) -> None:
        """Note writes in the history of a world from now on."""
        self._world = world

    async def aclose(self) -> None:
        """Do nothing: there is no connection to close."""

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request."""
        target = RequestTarget.parse(request.path)
        if self._world is None or target is None or request.method == "GET":
            return await self._link.exchange(request)
        body = msgspec.json.decode(request.body) if request.body else None
        verb = target.verb(request.method, dict(request.query))
        if verb == "patch" and "apply-patch" in request.headers.get("Content-Type", ""):
            verb = "apply"
        sent = Sent(process="user", verb=verb, target=_identity(target, body), subresource=target.subresource)
        sent.body = body
        self._world.touch()
        response = await self._link.exchange(request, sent)
        for _ in range(WEBHOOK_RETRIES):
            if response.status != 500 or b"failed calling webhook" not in response.body:
                break
            await asyncio.sleep(1.0)  # the operator is down: a user tries again
            response = await self._link.exchange(request, sent)
        note_answer(sent, response)
        self._world.note(sent)
        return response

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        """Open a stream."""
        return self._link.stream(request, _PassAll(), idle_timeout=idle_timeout)


class _PassAll:
    def connect(self, push: Callable[[bytes], None]) -> None:
        """Need no function: every line is passed at once."""

    async def pass_line(self, line: bytes) -> list[bytes]:
        """Return the line."""
        return [line]


def _identity(target: RequestTarget, body: object) -> ObjectId:
    name = target.name
    if not name and isinstance(body, dict):
        name = (body.get("metadata") or {}).get("name", "")
    resource = f"{target.resource}.{target.group}" if target.group else target.resource
    return ObjectId(resource, target.namespace, name)
