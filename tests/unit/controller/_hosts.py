"""A host of controllers on an in-process API server, and a reconciler that records its calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

from pyctrl.api import ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import Client, Config, EventRecorder, EventWriter
from pyctrl.controller import (
    Controller,
    Reconciler,
    Request,
    Result,
    reconcile_causes,
)
from pyctrl.kinds.core.v1 import ConfigMap


class PlainHost:
    """The minimal host for a builder."""

    def __init__(self, client: Client) -> None:
        self.live_client = client
        self.random = Random(1)
        self.cache = Cache(client, random=self.random)
        self.client = CachedClient(self.cache, client)
        self.controller_names: set[str] = set()
        self.controllers: list[Controller] = []
        self.events = EventWriter(client)

    def add(self, runnable: Controller, /) -> None:
        self.controllers.append(runnable)
        self.controller_names.add(runnable.name)

    def event_recorder(self, name: str, /) -> EventRecorder:
        return self.events.recorder(name)


class Journal(Reconciler):
    """Records its requests and their causes."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.causes: list[str] = []

    async def reconcile(self, request: Request) -> Result | None:
        self.requests.append(request)
        self.causes += [str(cause).split(" (")[0] for cause in reconcile_causes()]
        return None

    def take(self) -> list[str]:
        """Return the calls since the last `take`, sorted."""
        names = sorted(str(request) for request in self.requests)
        self.requests.clear()
        return names


def make_host() -> PlainHost:
    return PlainHost(Client.connect(Config.in_process(ApiServer())))


@asynccontextmanager
async def running(host: PlainHost) -> AsyncIterator[Client]:
    """Run the host's cache and controllers for the length of a block."""
    async with asyncio.TaskGroup() as group:
        caching = group.create_task(host.cache.run())
        for controller in host.controllers:
            group.create_task(controller.run())
        await settle()
        yield host.live_client
        for controller in host.controllers:
            controller.ask_to_stop()
        await settle()
        caching.cancel()


async def settle() -> None:
    """Wait until all pending work is done."""
    await asyncio.sleep(2)


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)
