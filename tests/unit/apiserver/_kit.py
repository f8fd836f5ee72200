"""Requests to an API server in one line, and events of its watches."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from pyctrl.apiserver import ApiServer, Response, Upgrade

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
MERGE = {"Content-Type": "application/merge-patch+json"}


class Asker:
    """Sends requests to an API server and decodes the responses."""

    def __init__(self, server: ApiServer | None = None) -> None:
        self.server = server or ApiServer(random=Random(7))

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        **query: str,
    ) -> tuple[int, Any]:
        """Send a request; return the code and the decoded body. A parameter such as `from_` loses its underscore."""
        answer = self.answer(method, path, body, headers=headers, **query)
        assert isinstance(answer.body, bytes)
        return answer.status, json.loads(answer.body)

    def answer(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        **query: str,
    ) -> Response:
        """Send a request; return the response."""
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return self.server.handle_nowait(method, path, _query(query), headers or {}, data)

    def make(self, name: str, *, data: Mapping[str, str] | None = None, **metadata: Any) -> Any:
        """Create a ConfigMap in `default`."""
        body = {"metadata": {"name": name, **metadata}, "data": data or {}}
        code, made = self("POST", CONFIGMAPS, body)
        assert code == 201, made
        return made

    def change(self, name: str, **patch: Any) -> Any:
        """Merge a patch into a ConfigMap in `default`."""
        code, changed = self("PATCH", f"{CONFIGMAPS}/{name}", patch, headers=MERGE)
        assert code == 200, changed
        return changed

    @asynccontextmanager
    async def watching(self, path: str = CONFIGMAPS, **query: str) -> AsyncIterator[Watching]:
        """Watch a collection until the block ends."""
        answer = await self.server.handle("GET", path, _query({"watch": "true", **query}), {}, b"")
        assert answer.status == 200
        assert not isinstance(answer.body, (bytes, Upgrade))
        watching = Watching(answer.body)
        try:
            yield watching
        finally:
            await answer.body.aclose()


def _query(parameters: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name.rstrip("_"), value) for name, value in parameters.items()]


class Watching:
    """The events of one watch, one at a time."""

    def __init__(self, chunks: AsyncGenerator[bytes, None]) -> None:
        self._chunks = chunks
        self._lines: list[bytes] = []

    async def next(self) -> dict[str, Any] | None:
        """Return the next event, or None if the server has ended the watch."""
        while not self._lines:
            try:
                chunk = await anext(self._chunks)
            except StopAsyncIteration:
                return None
            self._lines = chunk.splitlines()
        event: dict[str, Any] = json.loads(self._lines.pop(0))
        return event

    async def take(self, count: int) -> list[tuple[str, str]]:
        """Return the next events as type and name."""
        found = []
        for _ in range(count):
            event = await self.next()
            assert event is not None
            found.append((event["type"], event["object"]["metadata"].get("name", "")))
        return found

    async def rest(self) -> list[dict[str, Any]]:
        """Return all events until the server ends the watch."""
        found = []
        while (event := await self.next()) is not None:
            found.append(event)
        return found
