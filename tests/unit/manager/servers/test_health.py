"""The health checks of a manager, in virtual time and once over a real socket."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any, cast

import pytest

from pyctrl.api import Key, ObjectMeta, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.cluster import Cluster
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.core.v1 import ConfigMap, Secret, ServiceAccount
from pyctrl.manager import Group, Liveness, Manager
from pyctrl.manager._servers.health import Heartbeat, liveness
from pyctrl.rbac import allow, grants, manifests
from tests.unit.manager.servers._probes import text


class Waiter(Reconciler[ConfigMap]):
    """Waits for the given time, and ignores cancellation meanwhile."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()

    async def reconcile(self, request: Request) -> None:
        while not self.may_end.is_set():
            with suppress(asyncio.CancelledError):  # like code that catches CancelledError
                await self.may_end.wait()


class Quick(Reconciler[ConfigMap]):
    """Does nothing."""

    async def reconcile(self, request: Request) -> None:
        pass


async def test_ready_means_that_everything_has_started() -> None:
    """A replica is ready between start and shutdown, and the response names all checks."""
    async with Manager(Config.in_process(ApiServer())) as manager, asyncio.TaskGroup() as group:
        Builder(manager).reconciles(ConfigMap).build(Quick())
        assert "[-]manager failed" in await text(manager, "/readyz")
        group.create_task(manager.run(handle_signals=False))
        await manager.elected.wait()
        await asyncio.sleep(1)
        assert await text(manager, "/readyz") == "200 ok"
        assert (await text(manager, "/readyz", ("verbose", ""))).splitlines() == [
            "200 [+]ping ok",
            "[+]manager ok",
            "[+]caches ok",
            "[+]controller-configmap ok",
            "readyz check passed",
        ]
        manager.ask_to_stop()
        assert await text(manager, "/readyz/manager") == "500 internal server error: it is stopping"
        assert await text(manager, "/healthz") == "200 ok"


async def test_checks_of_ones_own_count() -> None:
    """A user's check counts for its own endpoint only."""

    def broken() -> None:
        raise OSError("the disk is gone")

    async with Manager(Config.in_process(ApiServer())) as manager, manager.running():
        manager.add_health_check("disk", broken)
        manager.add_ready_check("licence", lambda: None)

        assert await text(manager, "/healthz/disk") == "500 internal server error: the disk is gone"
        assert await text(manager, "/readyz/licence") == "200 ok"
        assert await text(manager, "/readyz") == "200 ok"
        assert (await text(manager, "/metrics")).startswith("404")


async def test_a_runnable_that_says_so_counts_for_readiness() -> None:
    """A runnable with a readiness check, such as a webhook server, adds a check with its name."""

    class Server:
        name = "webhook server"
        why_not_ready = "it has no certificate"

        async def run(self) -> None:
            await asyncio.Event().wait()

    async with Manager(Config.in_process(ApiServer())) as manager:
        server = Server()
        manager.add(server, group=Group.WEBHOOKS)
        async with manager.running():
            assert "no certificate" in await text(manager, "/readyz/webhook-server")
            server.why_not_ready = ""
            assert await text(manager, "/readyz") == "200 ok"


@pytest.mark.parametrize(
    ("limits", "timeout"),
    [(Liveness(reconcile=timedelta(minutes=2)), None), (Liveness(), timedelta(minutes=1))],
    ids=["by its limit", "by twice its timeout, when it does not heed being cancelled"],
)
async def test_a_reconcile_that_takes_too_long_asks_for_a_restart(limits: Liveness, timeout: timedelta | None) -> None:
    """A reconcile beyond the time limit fails liveness, and the check names the controller."""
    reconciler = Waiter()
    async with Manager(Config.in_process(ApiServer()), liveness=limits) as manager:
        Builder(manager).reconciles(ConfigMap).options(reconcile_timeout=timeout).build(reconciler)
        async with manager.running():
            await manager.client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
            await asyncio.sleep(119)
            assert await text(manager, "/healthz") == "200 ok"
            await asyncio.sleep(2)
            assert "a reconcile has been running for 121 s" in await text(manager, "/healthz/controller-configmap")
            reconciler.may_end.set()


async def test_without_a_limit_a_reconcile_takes_as_long_as_it_takes() -> None:
    """Without a limit, a slow reconcile does not fail liveness."""
    reconciler = Waiter()
    async with Manager(Config.in_process(ApiServer())) as manager:
        Builder(manager).reconciles(ConfigMap).build(reconciler)
        async with manager.running():
            await manager.client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
            await asyncio.sleep(10_000)
            assert await text(manager, "/healthz") == "200 ok"
            reconciler.may_end.set()


async def test_a_dead_worker_asks_for_a_restart() -> None:
    """A reconciler that cancels its own worker's task fails liveness."""

    class Fatal(Reconciler[ConfigMap]):
        async def reconcile(self, request: Request) -> None:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(1)

    async with Manager(Config.in_process(ApiServer())) as manager:
        Builder(manager).reconciles(ConfigMap).options(workers=2).build(Fatal())
        async with manager.running():
            assert await text(manager, "/healthz") == "200 ok"
            await manager.client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
            await asyncio.sleep(1)
            assert "workers have died" in await text(manager, "/healthz/controller-configmap")


async def test_a_heart_that_has_not_beaten_asks_for_a_restart() -> None:
    """An event loop that does not run the heartbeat for ten seconds fails liveness."""
    async with Manager(Config.in_process(ApiServer())) as manager:
        assert liveness(manager, Liveness(), None) == {"event-loop": ""}
        assert liveness(manager, Liveness(), 10.0) == {"event-loop": ""}
        assert "has not run the heartbeat for 10.5 s" in liveness(manager, Liveness(), 10.5)["event-loop"]


async def test_the_heartbeat_tells_how_late_it_was() -> None:
    """The heartbeat is never late in virtual time, and has no age once it has ended."""
    heartbeat = Heartbeat()
    beating = asyncio.create_task(heartbeat.run())
    await asyncio.sleep(10.25)
    assert (heartbeat.age, heartbeat.lag) == (0.25, 0.0)
    beating.cancel()
    await asyncio.sleep(0)
    assert heartbeat.age is None


async def test_of_many_controllers_the_one_that_may_not_is_named() -> None:
    """Of twenty controllers, one lacks the permission to list: 19 reconcile; readiness and metrics name the other."""
    bot = Key("default", "bot")
    async with Cluster(rbac=True) as cluster, cluster.client() as admin:
        await admin.create(ServiceAccount(metadata=ObjectMeta(name="bot", namespace="default")))
        rule = allow(ConfigMap, "list", "watch", where="default")
        for role in manifests(grants([rule], namespaces=None, own_namespace="default"), name="bot", account=bot):
            await admin.create(Unstructured(role))
        async with Manager(cluster.config_for_account(bot), namespaces=["default"]) as manager:
            for number in range(19):
                Builder(manager).reconciles(ConfigMap).options(name=f"maps-{number}").build(Quick())
            Builder(manager).reconciles(Secret).build(cast(Any, Quick()))
            async with manager.running():
                await asyncio.sleep(1)
                lines = (await text(manager, "/readyz")).splitlines()
                assert sum(line.startswith("[+]controller-maps-") for line in lines) == 19
                assert "[-]controller-secret failed: reason withheld" in lines
                assert "may not list" in await text(manager, "/readyz/controller-secret")
                checks = next(family for family in manager.collect_metrics() if family.name == "pyctrl_ready_check")
                failing = [labels["check"] for labels, value in checks.samples if value == 0]
                assert "controller-secret" in failing
                assert not [check for check in failing if check.startswith("controller-maps")]
