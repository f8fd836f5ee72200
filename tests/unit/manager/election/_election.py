"""A replica with a leader elector on a network that can fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random
from typing import Any

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, EventWriter, InProcessTransport
from pyctrl.kinds.coordination.v1 import Lease, LeaseSpec
from pyctrl.manager import LeaderElection
from pyctrl.manager._election.leader_elector import LeaderElector
from pyctrl.testing import ConnectionRefused, FaultyTransport, Rule

KEY = Key("default", "op")


def now() -> float:
    return asyncio.get_running_loop().time()


class Work:
    """Elected work as in the lifecycle: records its start and end, and takes time to stop."""

    def __init__(self) -> None:
        self.journal: list[tuple[float, str]] = []
        self.takes = 0.0  # seconds to stop, when requested
        self.ignores_cancel = False
        self.is_running = False
        self.patience: list[float] = []

    @property
    def has_ended(self) -> bool:
        return not self.is_running

    def restart_elected(self) -> None:
        self.is_running = True
        self.journal.append((now(), "begins"))

    async def stop_elected(self, patience: timedelta) -> None:
        self.patience.append(patience.total_seconds())
        await asyncio.sleep(min(self.takes, patience.total_seconds()))
        self.is_running = self.ignores_cancel
        self.journal.append((now(), "ends"))


class Replica:
    """A candidate with its own network to the server."""

    def __init__(self, server: ApiServer, name: str, **options: Any) -> None:
        self.network = FaultyTransport(InProcessTransport(server))
        self.client = Client(self.network)
        self.work = Work()
        self.events = EventWriter(Client(InProcessTransport(server)), host=name)
        self.elector = LeaderElector(
            self.client,
            LeaderElection(name="op", **options),
            self.work,
            key=KEY,
            identity=name,
            random=Random(name),
            recorder=self.events.recorder("op"),
        )
        self.task: asyncio.Task[None]

    def leads(self) -> bool:
        return self.elector.statistics().is_leader

    @property
    def requests(self) -> list[str]:
        return [f"{request.method} {request.path.rpartition('/')[2]}" for request in self.network.requests]

    def cut(self) -> None:
        """Block all traffic from now on."""
        self.network.add(Rule(ConnectionRefused(), times=None))

    async def leads_at(self) -> float:
        """Wait until the candidate leads for the first time, and start its work, as the lifecycle does."""
        await self.elector.wait_until_ready()
        self.work.restart_elected()
        return now()

    async def end(self) -> None:
        """Wait until the candidate ends; raise its error."""
        await self.task

    def stop(self) -> None:
        """Stop the work and then the candidate, as the lifecycle does."""
        self.work.is_running = False
        self.elector.ask_to_stop()


@asynccontextmanager
async def running(*replicas: Replica) -> AsyncIterator[None]:
    """Run electors during the block; stop the remaining ones at the end."""
    for replica in replicas:
        replica.task = asyncio.create_task(replica.elector.run())
    try:
        yield
    finally:
        for replica in replicas:
            replica.network.clear()
            replica.stop()
        await asyncio.gather(*(replica.task for replica in replicas), return_exceptions=True)


async def spec(admin: Client) -> LeaseSpec:
    return (await admin.get(Lease, KEY)).spec
