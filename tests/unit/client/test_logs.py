"""`read_logs` and `follow_logs`: the options of requests, and lines of streams."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer, Response
from pyctrl.client import Client, InProcessTransport, follow_logs, read_logs

P = Key("ns", "p")


class Server(ApiServer):
    """Answers every request with the same chunks, and records it."""

    def __init__(self, *chunks: bytes) -> None:
        super().__init__()
        self._chunks = chunks
        self.requests: list[tuple[str, dict[str, str]]] = []

    async def handle(self, method: str, path: str, query: Any, *_: Any, **__: Any) -> Response:
        self.requests.append((f"{method} {path}", dict(query)))
        body = self._stream() if ("follow", "true") in query else b"".join(self._chunks)
        return Response(status=200, headers=(("Content-Type", "text/plain"),), body=body)

    async def _stream(self) -> AsyncGenerator[bytes, None]:
        for chunk in self._chunks:
            yield chunk


async def test_a_log_is_read() -> None:
    """The text is returned as it is; bytes that are not UTF-8 are replaced. Options are query parameters."""
    server = Server(b"one\n", b"\xff\n")
    async with Client(InProcessTransport(server)) as client:
        assert await read_logs(client, P) == "one\n\N{REPLACEMENT CHARACTER}\n"
        since = datetime(2026, 1, 2, tzinfo=UTC)
        await read_logs(
            client, P, container="c", previous=True, since=since, tail_lines=0, limit_bytes=9, timestamps=True
        )
    all_options = {
        "container": "c",
        "previous": "true",
        "sinceTime": "2026-01-02T00:00:00Z",
        "tailLines": "0",
        "limitBytes": "9",
        "timestamps": "true",
    }
    path = "GET /api/v1/namespaces/ns/pods/p/log"
    assert server.requests == [(path, {}), (path, all_options)]


async def test_a_log_is_followed() -> None:
    """Lines are complete, however the stream is cut, empty ones included, and the last one needs no end."""
    server = Server(b"on", b"e\n\ntw", b"o\r\nthree")
    async with Client(InProcessTransport(server)) as client:
        lines = [line async for line in follow_logs(client, P, since=timedelta(milliseconds=100))]
    assert lines == ["one", "", "two\r", "three"]
    assert server.requests[0][1] == {"follow": "true", "sinceSeconds": "1"}
