"""A recorder whose writer runs on an API server in this process, over a network that fails as scripted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from pyctrl.api import ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, EventRecorder, EventWriter, InProcessTransport
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.kinds.events.v1 import Event
from pyctrl.testing import FaultyTransport, Rule

EVENTS = "/apis/events.k8s.io/v1/*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A recorder with a running writer, and a client that reads the written events."""

    client: Client
    writer: EventWriter
    recorder: EventRecorder
    network: FaultyTransport
    #: The object of the events.
    shop: ConfigMap

    async def events(self) -> list[Event]:
        """Return all events, the oldest first."""
        return sorted(await self.client.list(Event), key=lambda event: (event.event_time, event.metadata.name))

    async def told(self) -> list[str]:
        """Return the events as ``reason: note xcount``."""
        return [f"{e.reason}: {e.note} x{e.series.count if e.series else 1}" for e in await self.events()]

    @property
    def writes(self) -> list[str]:
        """The methods of the requests that wrote events."""
        return [request.method for request in self.network.requests]


@asynccontextmanager
async def bench(*rules: Rule) -> AsyncIterator[Bench]:
    """Run a recorder for the block; at the end, stop the recorder and flush all events."""
    server = ApiServer()
    client = Client.connect(Config.in_process(server))
    network = FaultyTransport(InProcessTransport(server), rules)
    writer = EventWriter(Client(network, random=Random(1)), host="host", random=Random(1))
    shop = await client.create(config_map("shop"))
    async with asyncio.TaskGroup() as group:
        group.create_task(writer.run())
        yield Bench(client=client, writer=writer, recorder=writer.recorder("shops"), network=network, shop=shop)
        writer.ask_to_stop()


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


async def moment() -> None:
    """Let the writer do everything that needs no waiting."""
    await asyncio.sleep(0.001)
