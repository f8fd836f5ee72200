"""Replicas of a program in one virtual loop: managers with leader election and separate networks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random
from typing import Any, cast

from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import LeaderElection, Manager, Preflight
from pyctrl.testing import ConnectionRefused, FaultyTransport, Rule, VirtualTimeLoop

KEY = Key("default", "op")


def now() -> float:
    return asyncio.get_running_loop().time()


def stand_still(seconds: float) -> None:
    """Advance the time while the loop is stopped, as for a suspended process."""
    cast(VirtualTimeLoop, asyncio.get_running_loop())._now += seconds


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


class Noter(Reconciler[ConfigMap]):
    """Records the requests."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def reconcile(self, request: Request) -> None:
        if request.name != "kube-root-ca.crt":
            self.seen.append(request.name)


class Replica:
    """A manager with its own network to the server, and a controller that records its reconciles."""

    def __init__(self, server: ApiServer, name: str, *, grace: float = 30, **options: Any) -> None:
        self.network = FaultyTransport(InProcessTransport(server))
        self.manager = Manager(
            client=Client(self.network, random=Random(name)),
            leader_election=LeaderElection(name="op", namespace="default", identity=name, **options),
            grace_period=timedelta(seconds=grace),
            preflight=Preflight.OFF,
            random=Random(name),
        )
        self.noter = Noter()
        self.ran: asyncio.Task[None]

    @asynccontextmanager
    async def running(self, *add: Callable[[], Any], only_leader: bool = True) -> AsyncIterator[None]:
        """Run the replica during the block; `ran` has its result."""
        async with self.manager as manager:
            for runnable in add:
                manager.add(runnable)
            self.controller = Builder(manager).reconciles(ConfigMap).options(only_leader=only_leader).build(self.noter)
            self.ran = asyncio.create_task(manager.run(handle_signals=False))
            try:
                yield
            finally:
                self.network.clear()
                if not self.ran.done():
                    manager.ask_to_stop()
                await asyncio.wait([self.ran])

    @property
    def lists(self) -> int:
        """The number of lists and watches that the replica has sent."""
        return len([r for r in self.network.requests if r.method == "GET" and r.path.endswith("/configmaps")])

    def cut(self) -> None:
        self.network.add(Rule(ConnectionRefused(), times=None))


async def forever() -> None:
    await asyncio.Event().wait()
