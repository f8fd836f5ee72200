"""Several managers in one process and loop are independent of each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import aiohttp
import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, InProcessTransport
from pyctrl.controller import Builder, Controller
from pyctrl.errors import LeadershipLost
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Group, LeaderElection, Manager, Restart
from pyctrl.testing import ConnectionRefused, FaultyTransport, Rule
from tests.unit.manager._replicas import Noter, config_map, now


class Tenant:
    """A manager with a controller, a runnable and a lease, named like those of the other managers."""

    def __init__(self, server: ApiServer, namespace: str, name: str) -> None:
        self.network = FaultyTransport(InProcessTransport(server))
        election = LeaderElection(name="op", namespace=namespace, identity=name)
        self.manager = Manager(
            client=Client(self.network, random=Random(name)), leader_election=election, random=Random(name)
        )
        self.noter = Noter()
        self.fail = asyncio.Event()
        self.ran: asyncio.Task[None]

    async def fetch(self) -> None:
        await self.fail.wait()
        raise OSError(f"failed at {now()}")

    @asynccontextmanager
    async def running(self, *, restart: Restart | None = None) -> AsyncIterator[Controller]:
        async with self.manager as manager:
            manager.add(self.fetch, group=Group.OTHERS, restart=restart)
            controller = Builder(manager).reconciles(ConfigMap).build(self.noter)
            self.ran = asyncio.create_task(manager.run(handle_signals=False))
            await manager.elected.wait()
            yield controller
            manager.ask_to_stop()
            await asyncio.wait([self.ran])


async def test_each_ends_by_itself() -> None:
    """One manager fails, one loses its Lease, one stops; the last one reconciles on, with its own metrics only."""
    server = ApiServer()
    failing, losing, stopped, last = (
        Tenant(server, namespace, name)
        for namespace, name in [
            ("kube-system", "failing"),
            ("kube-public", "losing"),
            ("default", "stopped"),
            ("kube-node-lease", "last"),
        ]
    )
    admin = Client(InProcessTransport(server))
    async with last.running() as controller, failing.running(), losing.running(), stopped.running():
        await admin.create(config_map("a"))
        await asyncio.sleep(1)
        for tenant in (failing, losing, stopped, last):
            assert tenant.noter.seen == ["a"]
            assert tenant.manager.elector is not None
            assert tenant.manager.elector.statistics().is_leader

        failing.fail.set()
        await asyncio.wait([failing.ran])
        assert isinstance(failing.ran.exception(), OSError)
        losing.network.add(Rule(ConnectionRefused(), times=None))
        await asyncio.wait([losing.ran])
        assert isinstance(losing.ran.exception(), LeadershipLost)
        losing.network.clear()
        stopped.manager.ask_to_stop()
        await stopped.ran

        await admin.create(config_map("b"))
        await asyncio.sleep(1)
        assert [tenant.noter.seen for tenant in (failing, losing, stopped, last)] == [["a"], ["a"], ["a"], ["a", "b"]]
        assert last.manager.not_ready == {}
        assert not last.ran.done()
        assert controller.statistics().reconciles.success >= 2


async def test_one_that_is_down_is_no_others_trouble() -> None:
    """A runnable in its backoff is named by its own manager only, although others have one of the same name."""
    server = ApiServer()
    one, two = Tenant(server, "default", "one"), Tenant(server, "kube-system", "two")
    async with one.running(restart=Restart()), two.running(restart=Restart()):
        one.fail.set()
        await asyncio.sleep(0.1)
        assert [list(tenant.manager.not_ready) for tenant in (one, two)] == [["Tenant.fetch"], []]


@pytest.mark.real_time
async def test_each_has_its_own_servers() -> None:
    """The probes and metrics of a stopped manager are refused, and those of the other manager work."""
    server = ApiServer()
    managers = [
        Manager(Config.in_process(server), health_bind_address="127.0.0.1:0", metrics_bind_address="127.0.0.1:0")
        for _ in range(2)
    ]
    async with managers[0], managers[1], aiohttp.ClientSession() as visitor:

        async def answers(manager: Manager) -> list[int]:
            assert manager.health_server is not None
            assert manager.metrics is not None
            urls = [(manager.health_server.port, "readyz"), (manager.metrics.server.port, "metrics")]
            found = []
            for port, path in urls:
                async with visitor.get(f"http://127.0.0.1:{port}/{path}") as answer:
                    found.append(answer.status)
            return found

        async with managers[0].running():
            async with managers[1].running():
                assert [await answers(manager) for manager in managers] == [[200, 200], [200, 200]]
            assert await answers(managers[0]) == [200, 200]
            with pytest.raises(aiohttp.ClientConnectionError):
                await answers(managers[1])
