"""The measured peer: pyctrl's cache, its typed reads, and its controller."""

from __future__ import annotations

import asyncio

from peers._commands import Commands, Facts, arguments, packages, serve, timed
from pydantic import Field

from pyctrl import Builder, Condition, Config, CustomResource, Key, Manager, Model, Reconciler, Request
from pyctrl.api import KindLike
from pyctrl.cache import Cache, Deleted, KindOptions, Synced
from pyctrl.client import Client


class Setting(Model):
    """One setting."""

    name: str
    value: str = ""


class Endpoint(Model):
    """An address of a widget."""

    host: str
    port: int
    ready: bool = False
    zone: str = ""


class WidgetSpec(Model):
    """The desired state."""

    image: str
    pool: str
    replicas: int = 1
    env: list[Setting] = Field(default_factory=list)


class WidgetStatus(Model):
    """The observed state."""

    phase: str = ""
    ready_replicas: int = 0
    conditions: list[Condition] = Field(default_factory=list)
    endpoints: list[Endpoint] = Field(default_factory=list)


class Widget(CustomResource[WidgetSpec, WidgetStatus], group="benchmarks.example.com", version="v1"):
    """The custom resource of every peer."""


def looked_at(widget: Widget) -> bool:
    """Read the name and a field of the spec, because unread fields are not decoded."""
    return bool(widget.metadata.name and widget.spec.replicas)


def visit(value: object) -> None:
    """Read everything in an object."""
    if isinstance(value, Model):
        for name in type(value).model_fields:
            visit(getattr(value, name))
    elif isinstance(value, list):
        for item in value:
            visit(item)


class CachePeer:
    """A cache with one kind and one subscriber, as a controller has it."""

    def __init__(self, client: Client, kind: KindLike, *, with_index: bool, compress: bool) -> None:
        self._cache = Cache(client, options={kind: KindOptions(compress=compress)})
        if with_index:
            self._cache.add_index(Widget, "pool", lambda widget: [widget.spec.pool])
        self._informer = self._cache.informer(kind)
        self._seen, self._news = 0, asyncio.Event()
        self._keys: list[Key] = []

    async def run(self) -> None:
        """Keep the cache up to date, and count changes."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._cache.run())
            group.create_task(self._follow())

    async def _follow(self) -> None:
        with self._informer.subscribe() as changes:
            async for change in changes:
                if not isinstance(change, Synced | Deleted):
                    self._seen = max(self._seen, int(change.new.version))
                if not len(changes):
                    self._news.set()

    async def follow(self, until: int) -> Facts:
        """Wait for a change."""
        while self._seen < until:
            self._news.clear()
            await self._news.wait()
        return {"objects": self._informer.statistics().objects}

    async def synced(self) -> Facts:
        """Wait for the first list."""
        await self._informer.wait_for_sync()
        return {"objects": self._informer.statistics().objects}

    async def get(self, seconds: float) -> Facts:
        """Get one object after the other, and read the fields that a reconciler reads."""
        keys = await self._all_keys()

        async def read(number: int) -> int:
            looked_at(await self._cache.get(Widget, keys[number % len(keys)]))
            return 1

        return await timed(read, seconds)

    async def whole(self, seconds: float) -> Facts:
        """Get one object after the other, and read every field."""
        keys = await self._all_keys()

        async def read(number: int) -> int:
            visit(await self._cache.get(Widget, keys[number % len(keys)]))
            return 1

        return await timed(read, seconds)

    async def _all_keys(self) -> list[Key]:
        self._keys = self._keys or [widget.key for widget in await self._cache.list(Widget)]
        return self._keys

    async def label(self, seconds: float) -> Facts:
        """List the objects with a label."""

        async def read(_number: int) -> int:
            return sum(map(looked_at, await self._cache.list(Widget, labels="batch=b-0")))

        return await timed(read, seconds)

    async def index(self, seconds: float) -> Facts:
        """List the objects of an index value."""

        async def read(_number: int) -> int:
            return sum(map(looked_at, await self._cache.list(Widget, index=("pool", "p-0"))))

        return await timed(read, seconds)


class NoOp(Reconciler[Widget]):
    """Does nothing and counts the reconciles."""

    def __init__(self) -> None:
        self.count, self.news = 0, asyncio.Event()

    async def reconcile(self, request: Request) -> None:
        """Count the reconcile."""
        self.count += 1
        self.news.set()

    async def wait_for(self, count: int) -> Facts:
        """Wait for a number of reconciles."""
        while self.count < count:
            self.news.clear()
            await self.news.wait()
        return {"objects": self.count}


async def cache(config: Config, kind: KindLike, *, with_index: bool, compress: bool) -> None:
    """Run the work with the cache."""
    async with Client.connect(config) as client, asyncio.TaskGroup() as group:
        running: list[asyncio.Task[None]] = []
        peer = CachePeer(client, kind, with_index=with_index, compress=compress)

        async def sync() -> Facts:
            running.append(group.create_task(peer.run()))
            return await peer.synced()

        commands: Commands = {
            "sync": sync,
            "follow": peer.follow,
            "get": peer.get,
            "whole": peer.whole,
            "label": peer.label,
            "index": peer.index,
        }
        await serve(commands, packages("aiohttp", "msgspec", "pydantic"))
        for task in running:
            task.cancel()


async def reconcile(config: Config, objects: int, workers: int) -> None:
    """Run the work with a controller: all objects once, and again after each has changed."""
    async with Manager(config) as manager, asyncio.TaskGroup() as group:
        reconciler = NoOp()
        Builder(manager).reconciles(Widget).options(workers=workers).build(reconciler)

        async def sync() -> Facts:
            group.create_task(manager.run())
            return await reconciler.wait_for(objects)

        async def follow(until: int) -> Facts:
            return await reconciler.wait_for(2 * objects)

        await serve({"sync": sync, "follow": follow}, packages("aiohttp", "msgspec", "pydantic"))
        manager.ask_to_stop()


def _kind(plural: str) -> KindLike:
    if plural == "widgets":
        return Widget
    from pyctrl.kinds.core.v1 import Pod  # imported here, because widgets do not need it

    return Pod


def main() -> None:
    """Run the peer with its arguments."""
    told = arguments("--compress")
    config = Config.from_flags(master=told.server, kubeconfig=None)
    if told.work == "reconcile":
        asyncio.run(reconcile(config, told.objects, told.workers))
    else:
        asyncio.run(cache(config, _kind(told.kind), with_index=told.work == "reads", compress=told.compress))


if __name__ == "__main__":
    main()
