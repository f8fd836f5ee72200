"""Peer: kopf. Its cache is an index of whole objects; its lightest handler, on.event, replaces a reconcile.

The number of workers is unlimited, the default: each belongs to one object and lives for five seconds, so that with a
limit of one, an object would wait five seconds for each object before it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import kopf
from peers._commands import Facts, arguments, packages, serve
from peers._store import GROUP


class Seen:
    """The calls of the handler."""

    def __init__(self) -> None:
        self.objects: set[str] = set()
        self.count = self.version = 0
        self.news = asyncio.Event()

    def take(self, uid: str, version: int) -> None:
        """Record a call."""
        self.objects.add(uid)
        self.count += 1
        self.version = max(self.version, version)
        self.news.set()

    async def wait_for(self, *, version: int = 0, count: int = 0) -> Facts:
        """Wait for a version and a number of calls."""
        while self.version < version or self.count < count:
            self.news.clear()
            await self.news.wait()
        return {"objects": len(self.objects)}


def registered(server: str, seen: Seen, *, with_index: bool) -> kopf.OperatorRegistry:
    """Return the registry of handlers."""
    registry = kopf.OperatorRegistry()

    async def login(**_: Any) -> kopf.ConnectionInfo:
        return kopf.ConnectionInfo(server=server)

    async def objects(namespace: str, name: str, body: kopf.Body, **_: Any) -> dict[tuple[str, str], Any]:
        return {(namespace, name): dict(body)}

    async def called(meta: kopf.Meta, **_: Any) -> None:
        seen.take(str(meta["uid"]), int(meta["resourceVersion"]))

    kopf.on.login(registry=registry)(login)
    if with_index:
        kopf.index(*GROUP, registry=registry)(objects)
    kopf.on.event(*GROUP, registry=registry)(called)
    return registry


async def main() -> None:
    """Run the peer with its arguments."""
    told = arguments()
    seen = Seen()
    is_cache = told.work == "cache"
    registry = registered(told.server, seen, with_index=is_cache)
    kopf.configure()
    running: list[asyncio.Task[Any]] = []

    async def sync() -> Facts:
        operator = kopf.operator(registry=registry, standalone=True, clusterwide=True)
        running.append(asyncio.ensure_future(operator))
        return await seen.wait_for(count=told.objects)

    async def follow(until: int) -> Facts:
        return await seen.wait_for(version=until, count=0 if is_cache else 2 * told.objects)

    await serve({"sync": sync, "follow": follow}, packages("kopf", "aiohttp"))
    for task in running:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(main())
