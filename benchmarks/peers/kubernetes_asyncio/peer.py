"""Peer: kubernetes_asyncio, with models (pods) or dictionaries (custom resources) updated by list and watch."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from kubernetes_asyncio import client, watch
from peers._commands import Commands, Facts, arguments, packages, serve, timed
from peers._store import GROUP, Store


class Kept:
    """A dictionary of all objects of a kind, updated as in the library's examples."""

    def __init__(self, api: client.ApiClient, kind: str) -> None:
        self._kind, self.store, self._news = kind, Store(), asyncio.Event()
        pods = client.CoreV1Api(api).list_pod_for_all_namespaces
        self._call: Any = (
            pods if kind == "pods" else partial(client.CustomObjectsApi(api).list_cluster_custom_object, *GROUP)
        )
        self._watched: Any = pods if kind == "pods" else client.CustomObjectsApi(api).list_cluster_custom_object

    async def list(self) -> str:
        """Read the whole list; return its version."""
        page = await self._call()
        if self._kind == "pods":
            self.store.replace(page.items)
            return str(page.metadata.resource_version)
        self.store.replace(page["items"])
        return str(page["metadata"]["resourceVersion"])

    async def follow(self, version: str) -> None:
        """Watch, and list again after the watch has expired."""
        names = () if self._kind == "pods" else GROUP
        while True:
            try:
                async with watch.Watch() as events:
                    async for event in events.stream(self._watched, *names, resource_version=version):
                        self.store.put(event["object"])
                        self._news.set()
            except client.ApiException as error:
                if error.status != 410:
                    raise
            version = await self.list()

    async def wait_for(self, until: int) -> Facts:
        """Wait for a version."""
        while self.store.version < until:
            self._news.clear()
            await self._news.wait()
        return {"objects": len(self.store.objects)}


async def main() -> None:
    """Run the peer with its arguments."""
    told = arguments()
    async with client.ApiClient(client.Configuration(host=told.server)) as api, asyncio.TaskGroup() as group:
        kept = Kept(api, told.kind)
        running: list[asyncio.Task[None]] = []

        async def sync() -> Facts:
            version = await kept.list()
            running.append(group.create_task(kept.follow(version)))
            return {"objects": len(kept.store.objects)}

        async def read(name: str, seconds: float) -> Facts:
            reader = kept.store.readers()[name]

            async def once(number: int) -> int:
                return reader(number)

            return await timed(once, seconds)

        reads: Commands = {name: partial(read, name) for name in ("get", "label", "index")}
        await serve({"sync": sync, "follow": kept.wait_for, **reads}, packages("kubernetes_asyncio", "aiohttp"))
        for task in running:
            task.cancel()


if __name__ == "__main__":
    asyncio.run(main())
