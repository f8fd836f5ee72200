"""The physical limit: reads the same responses with the HTTP library under pyctrl's transport, and decodes each once.

It keeps nothing and decides nothing. A read is one bare decode of an object; a reconcile is one put and get of a queue
and one task switch for each event.
"""

from __future__ import annotations

import argparse
import asyncio
from functools import partial

import aiohttp
import msgspec
from peers._commands import Commands, Facts, arguments, packages, serve, timed

PATHS = {"widgets": "/apis/benchmarks.example.com/v1/widgets", "pods": "/api/v1/pods"}
STREAMED = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
BATCH = 1_000  # objects in a list by label or index


class ListMeta(msgspec.Struct, rename={"more": "continue"}):
    """The end and the version of a list."""

    resourceVersion: str  # noqa: N815 - as it is on the wire
    more: str = ""


class Page(msgspec.Struct):
    """A decoded page."""

    metadata: ListMeta
    items: list[msgspec.Raw]


class Event(msgspec.Struct):
    """A decoded line of a watch."""

    type: str
    object: msgspec.Raw


class Bookmark(msgspec.Struct):
    """The content of a bookmark."""

    metadata: ListMeta


class Reader:
    """Lists and watches; counts, and keeps objects only for the work that reads them."""

    def __init__(self, session: aiohttp.ClientSession, told: argparse.Namespace) -> None:
        self._session, self._path, self._is_streamed = session, PATHS[told.kind], told.lists == "stream"
        self._keeps, self._is_reconciling = told.work == "reads", told.work == "reconcile"
        self._news = asyncio.Event()
        self._queue: asyncio.Queue[msgspec.Raw] = asyncio.Queue()
        self._is_synced = False
        self.kept: list[bytes] = []
        #: Objects of the list, the current version, and the number of events that workers took.
        self.objects = self.version = self.taken = 0

    async def run(self, workers: int) -> None:
        """Read continuously: a list, then its changes, and again when the server reports an expired version."""
        async with asyncio.TaskGroup() as group:
            for _ in range(workers if self._is_reconciling else 0):
                group.create_task(self._work())
            while True:
                self.objects, self._is_synced = 0, False
                if not self._is_streamed:
                    await self._pages()
                more = f"?watch=true&resourceVersion={self.version}"
                await self._watch(STREAMED if self._is_streamed else more)

    async def wait_for(self, *, version: int = 0, taken: int = 0) -> Facts:
        """Wait for a list, for a version, and for a number of events that workers took."""
        while not self._is_synced or self.version < version or self.taken < taken:
            self._news.clear()
            await self._news.wait()
        return {"objects": self.taken if self._is_reconciling else self.objects}

    async def _pages(self) -> None:
        scan, more = msgspec.json.Decoder(Page).decode, ""
        while True:
            query = "?limit=500" + (f"&continue={more}" if more else "")
            async with self._session.get(self._path + query) as response:
                page = scan(await response.read())
            self.objects += len(page.items)
            self._take(page.items)
            if not (more := page.metadata.more):
                break
        self._sync(int(page.metadata.resourceVersion))

    async def _watch(self, query: str) -> None:
        scan, rest = msgspec.json.Decoder(Event).decode_lines, b""
        async with self._session.get(self._path + query) as response:
            async for chunk in response.content.iter_any():
                lines, end, rest = (rest + chunk).rpartition(b"\n")
                if end and self._is_over(scan(lines)):
                    return

    def _is_over(self, events: list[Event]) -> bool:
        """Count events, each with the next version. Return whether the last one reports an expired version."""
        if events[-1].type == "ERROR":
            return True  # it is sent while nothing else is in progress
        if not self._is_synced:
            events = self._listed(events)
        if events:
            self._take([event.object for event in events])
            self.version += len(events)
            self._news.set()
        return False

    def _listed(self, events: list[Event]) -> list[Event]:
        """Count objects of a streamed list; return the bytes after its bookmark."""
        types = [event.type for event in events]
        end = types.index("BOOKMARK") if "BOOKMARK" in types else len(types)
        self.objects += end
        self._take([event.object for event in events[:end]])
        if end < len(types):
            self._sync(int(msgspec.json.decode(events[end].object, type=Bookmark).metadata.resourceVersion))
        return events[end + 1 :]

    def _sync(self, version: int) -> None:
        self.version, self._is_synced = version, True
        self._news.set()

    def _take(self, items: list[msgspec.Raw]) -> None:
        if self._keeps:
            self.kept.extend([bytes(item) for item in items])
        if self._is_reconciling:
            for item in items:
                self._queue.put_nowait(item)

    async def _work(self) -> None:
        while True:
            await self._queue.get()
            self.taken += 1
            if self._queue.empty():
                self._news.set()
            await asyncio.sleep(0)


async def main() -> None:
    """Run the peer with its arguments."""
    told = arguments()
    unpacked = ("Accept-Encoding",)  # not sent: decompressing costs more than reading uncompressed bytes
    async with (
        aiohttp.ClientSession(told.server, trust_env=False, skip_auto_headers=unpacked) as session,
        asyncio.TaskGroup() as group,
    ):
        reader = Reader(session, told)
        running: list[asyncio.Task[None]] = []
        is_reconciling = told.work == "reconcile"

        async def sync() -> Facts:
            running.append(group.create_task(reader.run(told.workers)))
            return await reader.wait_for(taken=told.objects if is_reconciling else 0)

        async def follow(until: int) -> Facts:
            return await reader.wait_for(version=until, taken=2 * told.objects if is_reconciling else 0)

        async def read(count: int, seconds: float) -> Facts:
            decode = msgspec.json.Decoder().decode

            async def once(number: int) -> int:
                start = number * count % len(reader.kept)
                return len([decode(data) for data in reader.kept[start : start + count]])

            return await timed(once, seconds)

        commands: Commands = {"sync": sync, "follow": follow, "get": partial(read, 1)}
        commands = {**commands, "label": partial(read, BATCH), "index": partial(read, BATCH)}
        await serve(commands, packages("aiohttp", "msgspec"))
        for task in running:
            task.cancel()


if __name__ == "__main__":
    asyncio.run(main())
