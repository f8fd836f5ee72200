"""Replay of a recording against the embedded server, in process: every step is one `handle`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from pyctrl.apiserver import ApiServer, Response, Upgrade
from tests.conformance._recording import JSON, Case, fill, holds

TOKENS = {"admin": "admin-token", "plain": "plain-token"}
POLL_SECONDS = 0.05

#: Objects that controllers create in every namespace; each case starts once they exist.
FURNITURE = ("configmaps/kube-root-ca.crt", "serviceaccounts/default")


class Replay:
    """One run of one case."""

    def __init__(self, server: ApiServer, case: Case) -> None:
        self._server = server
        self._case = case
        self.steps: list[JSON] = []
        self.observed: list[JSON] = []
        self._answers: dict[str, JSON] = {}

    async def run(self) -> None:
        """Create the namespace, wait for its default objects, and run all steps."""
        body = {"metadata": {"name": self._case.namespace}}
        made = await self._call({"method": "POST", "path": "/api/v1/namespaces", "body": body})
        assert made["code"] == 201, made
        for thing in FURNITURE if self._case.has_controllers else ():
            path = f"/api/v1/namespaces/{self._case.namespace}/{thing}"
            await self._wait({"method": "GET", "path": path, "until": {"code": 200}})
        for step in self._case.steps:
            await self._run(step)
            await asyncio.sleep(POLL_SECONDS)  # time for the controllers, as the recorder's requests took

    async def _run(self, step: JSON) -> None:
        slot = len(self.steps)
        self.steps.append(step)
        self.observed.append(None)
        try:
            observed = await self._observe(step)
        except (KeyError, IndexError, TypeError) as error:  # an earlier answer lacks a value of this request
            observed = {"code": 0, "text": f"{type(error).__name__}: {error}"}
        self._answers[step["id"]] = self.observed[slot] = observed

    async def _observe(self, step: JSON) -> JSON:
        if "watch" in step:
            return await self._watch(step["watch"])
        if "eventually" in step:
            return await self._wait(fill(step["eventually"], self._answers))
        return await self._call(fill(step["request"], self._answers))

    async def _wait(self, request: JSON) -> JSON:
        loop = asyncio.get_running_loop()
        end = loop.time() + request.get("timeout", 30)
        while True:
            observed = await self._call(request)
            if holds(observed, request["until"]) or loop.time() > end:
                return observed
            await asyncio.sleep(POLL_SECONDS)

    async def _watch(self, watch: JSON) -> JSON:
        spec = fill({key: value for key, value in watch.items() if key != "during"}, self._answers)
        answer = await self._ask({"method": "GET", **spec})
        if isinstance(answer.body, bytes):
            return _decoded(answer)
        assert not isinstance(answer.body, Upgrade)
        try:
            for step in watch.get("during", ()):
                await self._run(step)
            return {"code": 200, "events": await _events(answer.body, spec["events"], spec.get("timeout", 10))}
        finally:
            await answer.body.aclose()

    async def _call(self, request: JSON) -> JSON:
        return _decoded(await self._ask(request))

    async def _ask(self, request: JSON) -> Response:
        headers: dict[str, str] = {"Accept": "application/json", **(request.get("headers") or {})}
        who = request.get("as", "admin")
        token = who.removeprefix("token:") if who.startswith("token:") else TOKENS.get(who)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        body, data = request.get("body"), b""
        if body is not None:
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        query: Mapping[str, Any] = request.get("query") or {}
        pairs = [(name, str(each)) for name, value in query.items() for each in _every(value)]
        return await self._server.handle(request["method"], request["path"], pairs, headers, data)


def _every(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else [value]


async def _events(chunks: AsyncGenerator[bytes, None], count: int, seconds: float) -> list[JSON]:
    events: list[JSON] = []
    try:
        async with asyncio.timeout(seconds):
            async for chunk in chunks:
                events += [json.loads(line) for line in chunk.splitlines()]
                if len(events) >= count:
                    return events[:count]
            events.append("closed")
    except TimeoutError:
        events.append("timeout")
    return events[:count]


def _decoded(answer: Response) -> JSON:
    assert isinstance(answer.body, bytes)  # watches do not get here
    observed: dict[str, JSON] = {"code": answer.status}
    warnings = sorted(value for name, value in answer.headers if name == "Warning")
    if warnings:
        observed["warnings"] = warnings
    try:
        observed["body"] = json.loads(answer.body) if answer.body else None
    except ValueError:
        observed["text"] = answer.body.decode().strip()
    return observed
