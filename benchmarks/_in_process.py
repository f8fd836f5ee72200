"""Cost of the API server's verbs in process: `ApiServer.handle`, without client and socket."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec
import psutil
from _meter import Meter
from _objects import DEFINITION, encoded

from pyctrl.apiserver import ApiServer, Upgrade

WATCHERS = 50
CHUNK = 50  # single requests per measurement
HEADERS = {"accept": "application/json", "content-type": "application/json", "user-agent": "benchmark/1"}
MERGE = {**HEADERS, "content-type": "application/merge-patch+json"}
APPLY = {**HEADERS, "content-type": "application/apply-patch+yaml"}
TABLE = {**HEADERS, "accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
METADATA = {**HEADERS, "accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}


@dataclass
class Kind:
    """A measured kind."""

    path: str
    make: Callable[[str], dict[str, Any]]


class InProcess:
    """One server, and its measured requests."""

    def __init__(self, kind: Kind, meter: Meter) -> None:
        self._server = ApiServer(random=Random(1))
        self._kind = kind
        self._meter = meter
        self._made = 0
        made = self._server.handle_nowait("POST", _DEFINITIONS, body=encoded(DEFINITION))
        assert made.status == 201, made.body

    async def _ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: dict[str, str] = HEADERS,
        query: tuple[tuple[str, str], ...] = (),
    ) -> bytes:
        answer = await self._server.handle(method, path, query, headers, body)
        assert answer.status in (200, 201), answer.body
        assert isinstance(answer.body, bytes)
        return answer.body

    def _next(self, count: int) -> list[tuple[str, bytes]]:
        """Make new objects; return their paths and the bodies that create them."""
        names = [f"orders-{number:06}" for number in range(self._made, self._made + count)]
        self._made += count
        return [(f"{self._kind.path}/{name}", encoded(self._kind.make(name))) for name in names]

    async def _create(self, objects: list[tuple[str, bytes]]) -> None:
        for _, body in objects:
            await self._ask("POST", self._kind.path, body)

    async def singles(self) -> None:
        """Measure requests for one object, each with its own objects."""
        objects = self._next(CHUNK)
        paths = [path for path, _ in objects]
        measure = self._meter.measure
        await measure("create", CHUNK, lambda: self._create(objects))

        async def every(method: str, body: bytes, headers: dict[str, str], **query: str) -> None:
            for path in paths:
                await self._ask(method, path, body, headers, tuple(query.items()))

        await measure("get", CHUNK, lambda: every("GET", b"", HEADERS))
        changed = [self._relabelled(await self._ask("GET", path)) for path in paths]

        async def replace() -> None:
            for path, body in zip(paths, changed, strict=True):
                await self._ask("PUT", path, body)

        await measure("replace", CHUNK, replace)
        patch = encoded({"metadata": {"labels": {"patched": "yes"}}})
        await measure("merge patch", CHUNK, lambda: every("PATCH", patch, MERGE))
        typed = msgspec.json.decode(objects[0][1])
        wish = {"apiVersion": typed["apiVersion"], "kind": typed["kind"], "metadata": {"labels": {"applied": "yes"}}}
        applied = encoded(wish)
        await measure("apply", CHUNK, lambda: every("PATCH", applied, APPLY, fieldManager="benchmark"))

    @staticmethod
    def _relabelled(data: bytes) -> bytes:
        obj = msgspec.json.decode(data)
        obj["metadata"]["labels"]["replaced"] = "yes"
        return encoded(obj)

    async def fill(self, count: int) -> tuple[float, int]:
        """Create objects up to a number; return the memory and the bytes of one object."""
        gc.collect()
        process, missing = psutil.Process(), count - self._made
        before = process.memory_info().rss
        for _ in range(missing):
            await self._create(self._next(1))
        gc.collect()
        size = len(await self._ask("GET", f"{self._kind.path}/orders-{count - 1:06}"))
        return (process.memory_info().rss - before) / missing, size

    async def lists(self, count: int) -> None:
        """Measure lists of all objects in several forms, as the cost of one listed object."""
        measure, path = self._meter.measure, self._kind.path

        async def whole(headers: dict[str, str] = HEADERS, **query: str) -> None:
            await self._ask("GET", path, b"", headers, tuple(query.items()))

        async def pages() -> None:
            token = ""
            while True:
                body = await self._ask("GET", path, b"", HEADERS, (("limit", "500"), ("continue", token)))
                token = msgspec.json.decode(body, type=_Page).metadata.continue_
                if not token:
                    return

        await measure("list", count, whole)
        await measure("list, pages of 500", count, pages)
        await measure("list, label selector", count, lambda: whole(labelSelector="replaced=yes"))
        await measure("list, metadata only", count, lambda: whole(METADATA))
        await measure("list, table", count, lambda: whole(TABLE))

    async def fan_out(self, events: int) -> None:
        """Measure the cost of an event for each of 50 watchers, one by one and many in one turn of the loop."""
        measure = self._meter.measure
        alone = await measure("create", events, lambda: self._create(self._next(events)))
        async with self._watching() as seen:

            async def one_by_one() -> None:
                for each in self._next(events):
                    await self._create([each])
                    await seen(1)

            async def at_once() -> None:
                await self._create(self._next(events))
                await seen(events)

            less = alone * events
            await measure("event, one by one", events * WATCHERS, one_by_one, less=less)
            await measure("event, many at once", events * WATCHERS, at_once, less=less)

    @asynccontextmanager
    async def _watching(self) -> AsyncIterator[Callable[[int], Any]]:
        """Start 50 tasks that read watches; yield a function that waits until each has received a number of events."""
        counts = [0] * WATCHERS
        wanted, all_seen = 0, asyncio.Event()

        async def read(number: int, body: AsyncGenerator[bytes, None]) -> None:
            async for chunk in body:
                counts[number] += chunk.count(b"\n")
                if min(counts) >= wanted:
                    all_seen.set()

        async def seen(more: int) -> None:
            nonlocal wanted
            wanted += more
            all_seen.clear()
            if min(counts) < wanted:
                await all_seen.wait()

        version = msgspec.json.decode(await self._ask("GET", self._kind.path, query=(("limit", "1"),)))
        query = (("watch", "true"), ("resourceVersion", version["metadata"]["resourceVersion"]))
        answers = [await self._server.handle("GET", self._kind.path, query, HEADERS, b"") for _ in range(WATCHERS)]
        bodies = [answer.body for answer in answers if not isinstance(answer.body, (bytes, Upgrade))]
        tasks = [asyncio.create_task(read(number, body)) for number, body in enumerate(bodies)]
        await asyncio.sleep(0)
        try:
            yield seen
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class _ListMeta(msgspec.Struct):
    continue_: str = msgspec.field(name="continue", default="")


class _Page(msgspec.Struct):
    metadata: _ListMeta
