"""A network with a minimal server that stores Leases only.

An API server in this process would take twenty times as long, and a thousand histories are many requests.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from pyctrl.client import Headers, HttpRequest, HttpResponse, HttpStream
from pyctrl.errors import ConnectionFailed, RequestTimeout, StreamBroken, TransportError
from tests.simulation._processes_in_one import context_of

_JSON = Headers([("Content-Type", "application/json")])
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"


class LeaseServer:
    """Stores Leases with the versions and conflicts of an API server; other writes succeed and are dropped."""

    def __init__(self) -> None:
        self.version = 0
        self.leases: dict[str, dict[str, Any]] = {}

    def answer(self, request: HttpRequest) -> HttpResponse:
        """Return the response to a request, without delay."""
        sent = json.loads(request.body) if request.body else {}
        collection, _, name = request.path.partition(LEASES)[2].partition("/")
        if not request.path.startswith(LEASES) or collection:
            return _response(201, sent)
        name = name or sent["metadata"]["name"]
        kept = self.leases.get(name)
        if request.method == "POST":
            return _refusal(409, "AlreadyExists") if kept else self.keep(name, sent)
        if kept is None:
            return _refusal(404, "NotFound")
        if request.method == "GET":
            return _response(200, kept)
        if sent["metadata"]["resourceVersion"] != kept["metadata"]["resourceVersion"]:
            return _refusal(409, "Conflict")
        return self.keep(name, sent)

    def keep(self, name: str, lease: dict[str, Any]) -> HttpResponse:
        """Store a Lease as a new version."""
        self.version += 1
        lease["metadata"]["resourceVersion"] = str(self.version)
        self.leases[name] = lease
        return _response(200, lease)


@dataclass
class Link:
    """Connection of one process to the server. Requests in flight arrive even if their sender stops."""

    server: LeaseServer
    random: Random
    #: Nothing gets through; refused at once, or without an answer.
    is_cut: bool = False
    is_silent: bool = False
    #: Shares of requests and of answers that are lost.
    loses_requests: float = 0.0
    loses_answers: float = 0.0
    #: The longest that a request, and an answer, is under way.
    delay: float = 0.0
    #: Writes of elected work that were sent.
    acts: list[float] = field(default_factory=list)

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request and wait for its response."""
        loop = asyncio.get_running_loop()
        if "configmaps" in request.path:
            self.acts.append(loop.time())
        answer: asyncio.Future[HttpResponse] = loop.create_future()
        carrying = loop.create_task(self._carry(request, answer), context=context_of(""))
        under_way.add(carrying)
        carrying.add_done_callback(under_way.discard)
        try:
            async with asyncio.timeout(request.timeout):
                return await answer
        except TimeoutError:
            raise RequestTimeout(f"no answer to {request}") from None

    async def _carry(self, request: HttpRequest, answer: asyncio.Future[HttpResponse]) -> None:
        await asyncio.sleep(self.delay * self.random.random())
        if self._loses(self.loses_requests):
            return self._fail(answer, ConnectionFailed("no connection"))
        response = self.server.answer(request)
        await asyncio.sleep(self.delay * self.random.random())
        if self._loses(self.loses_answers):
            return self._fail(answer, StreamBroken("the answer was lost"))
        if not answer.done():
            answer.set_result(response)

    def _loses(self, share: float) -> bool:
        return self.is_cut or self.random.random() < share

    def _fail(self, answer: asyncio.Future[HttpResponse], error: TransportError) -> None:
        if not self.is_silent and not answer.done():
            answer.set_exception(error)

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        """Refuse: these tests use no watches."""
        raise ConnectionFailed("no streams")

    async def aclose(self) -> None:
        """Do nothing: there is no connection to close."""


under_way: set[asyncio.Task[None]] = set()


def _response(status: int, body: dict[str, Any]) -> HttpResponse:
    return HttpResponse(status=status, headers=_JSON, body=json.dumps(body).encode())


def _refusal(code: int, reason: str) -> HttpResponse:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}
    return _response(code, status | {"details": {"kind": "leases"}, "message": reason})
