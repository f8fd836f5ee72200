"""The work of `protocols.py`: all its servers send the same responses, so that only the HTTP code differs."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping

OBJECT_BYTES = 4096
LINES = 10_000  # of one watch
HEAD_LIMIT = 1024 * 1024 + 4096  # bytes; as in Go's net/http
BODY_LIMIT = 3 * 1024 * 1024  # bytes; as in kube-apiserver

JSON_TYPE = "application/json"
LINE = (
    json.dumps({"type": "MODIFIED", "object": {"metadata": {"name": "a", "resourceVersion": "1"}, "data": "x" * 40}})
    + "\n"
).encode()
REFUSAL = json.dumps({"kind": "Status", "code": 405}).encode()


def answer(
    method: str, path: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, bytes | AsyncGenerator[bytes, None]]:
    """Answer a request with an object, the received object, or the lines of a watch.

    Headers are looked up as in an API server: their names match in any case.
    """
    assert "json" in headers.get("accept", "json")
    assert not headers.get("impersonate-user", "")
    if path == "/watch":
        return 200, _watch()
    if method == "POST":
        return 201, body
    return (200, _OBJECT) if method == "GET" else (405, REFUSAL)


def _object() -> bytes:
    empty = json.dumps({"kind": "ConfigMap", "data": {"a": ""}})
    return empty.replace('""', f'"{"x" * (OBJECT_BYTES - len(empty))}"').encode()


_OBJECT = _object()


async def _watch() -> AsyncGenerator[bytes, None]:
    for _ in range(LINES):
        yield LINE
