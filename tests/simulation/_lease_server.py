"""A minimal server that stores Leases only.

An API server in this process would take twenty times as long, and a thousand histories are many requests.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from pyctrl.client import Headers, HttpRequest, HttpResponse, HttpStream
from pyctrl.errors import ConnectionFailed
from pyctrl.simulation._network import NetworkLink

_JSON = Headers([("Content-Type", "application/json")])
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"


class _NoStreams:
    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        """Refuse: these tests use no watches."""
        raise ConnectionFailed("no streams")

    async def aclose(self) -> None:
        """Do nothing: there is no connection to close."""


class LeaseServer(_NoStreams):
    """Stores Leases with the versions and conflicts of an API server; other writes succeed and are dropped."""

    def __init__(self) -> None:
        self.version = 0
        self.leases: dict[str, dict[str, Any]] = {}
        #: Called with each other object that is written, when it is.
        self.written: Callable[[dict[str, Any]], None] = lambda _: None

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Return the response to a request, without delay."""
        sent = json.loads(request.body) if request.body else {}
        collection, _, name = request.path.partition(LEASES)[2].partition("/")
        if not request.path.startswith(LEASES) or collection:
            self.written(sent)
            return _response(201, sent)
        if request.method == "GET" and not name:
            return self._list()
        name = name or sent["metadata"]["name"]
        kept = self.leases.get(name)
        if request.method == "POST":
            return _refusal(409, "AlreadyExists") if kept else self.keep(name, sent)
        if kept is None:
            return _refusal(404, "NotFound")
        if request.method == "GET":
            return _response(200, kept)
        if request.method == "DELETE":
            return self._delete(name, sent.get("preconditions") or {})
        if sent["metadata"]["resourceVersion"] != kept["metadata"]["resourceVersion"]:
            return _refusal(409, "Conflict")
        return self.keep(name, sent)

    def keep(self, name: str, lease: dict[str, Any]) -> HttpResponse:
        """Store a Lease as a new version."""
        self.version += 1
        lease["metadata"]["resourceVersion"] = str(self.version)
        lease["metadata"].setdefault("uid", f"uid-{self.version}")
        self.leases[name] = lease
        return _response(200, lease)

    def _list(self) -> HttpResponse:
        metadata = {"resourceVersion": str(self.version)}
        api = {"kind": "LeaseList", "apiVersion": "coordination.k8s.io/v1"}
        return _response(200, {**api, "metadata": metadata, "items": list(self.leases.values())})

    def _delete(self, name: str, preconditions: dict[str, str]) -> HttpResponse:
        metadata = self.leases[name]["metadata"]
        if any(metadata[field] != value for field, value in preconditions.items()):
            return _refusal(409, "Conflict")
        self.version += 1
        return _response(200, self.leases.pop(name))


@dataclass
class Connection(_NoStreams):
    """`Transport` of one process over a link."""

    link: NetworkLink
    #: When it sent writes of elected work.
    acts: list[float] = field(default_factory=list)

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request and wait for its response."""
        if "configmaps" in request.path:
            self.acts.append(asyncio.get_running_loop().time())
        return await self.link.exchange(request)


def _response(status: int, body: dict[str, Any]) -> HttpResponse:
    return HttpResponse(status=status, headers=_JSON, body=json.dumps(body).encode())


def _refusal(code: int, reason: str) -> HttpResponse:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}
    return _response(code, status | {"details": {"kind": "leases"}, "message": reason})
