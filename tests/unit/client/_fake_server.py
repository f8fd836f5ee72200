"""Scripted API server: it sends queued answers and records requests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyctrl.client import Headers


@dataclass
class Reply:
    """A queued answer."""

    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    body: bytes | AsyncIterator[bytes] = b"{}"


@dataclass
class Asked:
    """A recorded request."""

    method: str
    path: str
    query: dict[str, str]
    headers: Headers
    body: bytes

    @property
    def json(self) -> Any:
        """The decoded body."""
        return json.loads(self.body)


Handler = Callable[[Asked], Awaitable[Reply]]


@dataclass
class FakeServer:
    """Sends one queued answer for each request, or the answer of ``handler`` if it is set."""

    asked: list[Asked] = field(default_factory=list)
    line: list[Reply | Exception] = field(default_factory=list)
    handler: Handler | None = None

    def reply(
        self,
        document: Mapping[str, Any] | bytes | AsyncIterator[bytes] = b"{}",
        *,
        status: int = 200,
        headers: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Queue an answer."""
        body = json.dumps(document).encode() if isinstance(document, Mapping) else document
        self.line.append(Reply(status, headers, body))

    def refuse(self, code: int, reason: str, message: str = "refused", **headers: str) -> None:
        """Queue a Status."""
        document = {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message}
        self.reply(document, status=code, headers=[(k.replace("_", "-"), v) for k, v in headers.items()])

    def not_served(self) -> None:
        """Queue kube-apiserver's answer for an unknown path."""
        self.reply(b"404 page not found\n", status=404, headers=[("Content-Type", "text/plain")])

    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """Answer one request."""
        assert isinstance(headers, Headers)
        self.asked.append(Asked(method, path, dict(query), headers, body))
        if self.handler is not None:
            return await self.handler(self.asked[-1])
        answer = self.line.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer
