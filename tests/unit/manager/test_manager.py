"""The manager with a real cache, controllers and API server in one process."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

import pytest

from pyctrl.api import GroupVersionKind, Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, KindOptions, Outside, Selector
from pyctrl.client import Client, Config
from pyctrl.controller import Builder, ControllerState, OnSyncFailure, Reconciler, Request, Result
from pyctrl.errors import ManagerError, NotCovered, NotSynced
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import Group, Manager
from pyctrl.testing import VirtualTimeLoop


def now() -> float:
    return asyncio.get_running_loop().time()


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


class Copier(Reconciler[ConfigMap]):
    """Copies each ConfigMap whose name does not mark it as a copy."""

    async def reconcile(self, request: Request) -> Result | None:
        if request.name.endswith("-copy"):
            return None
        copy = Key(request.namespace, f"{request.name}-copy")
        if await self.client.find(ConfigMap, copy) is None:
            await self.client.create(config_map(copy.name))
        return None


class Idle(Reconciler[Secret]):
    """Does nothing."""

    async def reconcile(self, request: Request) -> None: ...


async def names(client: Client) -> Sequence[str]:
    found = await client.list(ConfigMap, namespace="default")
    return sorted(m.metadata.name for m in found if m.metadata.name != "kube-root-ca.crt")


async def test_a_program_runs_until_a_signal_and_goes_on() -> None:
    """A manager reconciles existing and new objects, stops on SIGTERM, and leaves the loop running."""
    async with Manager(Config.in_process(ApiServer())) as manager:
        await manager.live_client.create(config_map("early"))
        Builder(manager).reconciles(ConfigMap).build(Copier())

        async def user() -> None:
            await manager.elected.wait()
            assert manager.started.is_set()
            await manager.live_client.create(config_map("late"))
            await asyncio.sleep(1)
            cast(VirtualTimeLoop, asyncio.get_running_loop()).send_signal(signal.SIGTERM)

        async with asyncio.TaskGroup() as group:
            group.create_task(user())
            await manager.run()
        assert await names(manager.live_client) == ["early", "early-copy", "late", "late-copy"]


async def test_a_controller_can_be_built_while_the_manager_runs() -> None:
    """A controller added at run time adds its informer, waits for the first list, and stops with the others."""
    async with Manager(Config.in_process(ApiServer())) as manager, asyncio.TaskGroup() as group:
        group.create_task(manager.run(handle_signals=False))
        await manager.elected.wait()
        await manager.client.create(config_map("a"))
        controller = Builder(manager).reconciles(ConfigMap).build(Copier())
        await asyncio.sleep(1)
        assert await names(manager.live_client) == ["a", "a-copy"]
        assert controller.statistics().reconciles.success >= 2
        manager.ask_to_stop()


async def test_a_controller_can_be_stopped_while_the_manager_runs() -> None:
    """Other controllers continue; the stopped controller's watch can be removed, and its name is free."""
    async with Manager(Config.in_process(ApiServer())) as manager:
        Builder(manager).reconciles(ConfigMap).build(Copier())
        secrets = Builder(manager).reconciles(Secret).build(Idle())
        async with manager.running():
            secrets.ask_to_stop()
            await asyncio.sleep(1)
            assert secrets.state is ControllerState.STOPPED
            await manager.cache.remove(Secret)
            with pytest.raises(NotCovered):
                await manager.client.list(Secret)
            await manager.client.create(config_map("a"))
            await asyncio.sleep(1)
            assert "a-copy" in await names(manager.live_client)
            again = Builder(manager).reconciles(Secret).build(Idle())
            await asyncio.sleep(1)
            assert (again.name, again.state) == ("secret", ControllerState.RUNNING)
            assert manager.not_ready == {}


async def test_runnables_of_ones_own_find_a_filled_cache() -> None:
    """A runnable in a later group starts once the first lists are complete."""
    seen: list[bool] = []
    async with Manager(Config.in_process(ApiServer())) as manager:
        manager.cache.informer(ConfigMap)

        async def look() -> None:
            seen.append(await manager.client.find(ConfigMap, Key("default", "none")) is None)
            manager.ask_to_stop()

        manager.add(look, group=Group.OTHERS)
        await manager.run(handle_signals=False)

    assert seen == [True]


async def test_a_kind_that_nobody_serves_ends_the_manager_if_that_is_asked_for() -> None:
    """With OnSyncFailure.END, an error names the missing kinds after the time for the first lists."""
    config, limit = Config.in_process(ApiServer()), timedelta(seconds=30)
    async with Manager(config, cache_sync_timeout=limit, on_sync_failure=OnSyncFailure.END) as manager:
        Builder(manager).reconciles(GroupVersionKind("example.com", "v1", "Missing")).build(cast(Any, Copier()))
        with pytest.raises(NotSynced, match=r"example.com/v1, Kind=Missing: .*is its definition installed"):
            await manager.run(handle_signals=False)

    assert now() == 30


async def test_what_the_cache_watches_is_decided_in_one_place() -> None:
    """Namespaces, kinds and reads outside of the cache are options of the manager."""
    options = KindOptions(selectors=[Selector(labels="app=web")])
    config = Config.in_process(ApiServer())
    async with Manager(config, namespaces=["default"], kinds={ConfigMap: options}) as manager:
        manager.cache.informer(ConfigMap)

        async def look() -> None:
            await manager.client.create(config_map("a"))
            with pytest.raises(NotCovered, match="app=web"):
                await manager.client.list(ConfigMap, namespace="default")
            with pytest.raises(NotCovered, match="add 'other' to the namespaces of the manager"):
                await manager.client.list(ConfigMap, namespace="other", labels="app=web")
            manager.ask_to_stop()

        manager.add(look)
        await manager.run(handle_signals=False)
    async with Manager(config, outside=Outside.LIVE) as manager:
        assert "a" in await names(manager.client)


async def test_a_given_client_stays_open() -> None:
    """The manager does not close a client that it was given."""
    async with Client.connect(Config.in_process(ApiServer())) as client:
        async with Manager(client=client) as manager:
            assert manager.live_client is client
        assert await names(client) == []


async def test_using_a_manager_that_is_not_connected_says_so() -> None:
    """Any use before `async with` raises an error that names `async with`."""
    manager = Manager(Config.in_process(ApiServer()))
    with pytest.raises(ManagerError, match="async with Manager"):
        _ = manager.client
    with pytest.raises(ManagerError, match="async with Manager"):
        await manager.run()
    with pytest.raises(ManagerError, match="async with Manager"):
        Builder(manager).reconciles(ConfigMap).build(Copier())


def test_a_manager_needs_to_know_its_cluster() -> None:
    """A manager with neither or both of config and client raises an error at once."""
    with pytest.raises(ManagerError, match=r"such as Config.load\(\), client="):
        Manager()


async def test_two_managers_live_in_one_loop() -> None:
    """Two managers in one loop have separate names, caches and shutdowns."""
    server = ApiServer()
    async with Manager(Config.in_process(server)) as one, Manager(Config.in_process(server)) as two:
        for manager in (one, two):
            Builder(manager).reconciles(ConfigMap).build(Copier())
        async with asyncio.TaskGroup() as group:
            for manager in (one, two):
                group.create_task(manager.run(handle_signals=False))
            await asyncio.sleep(1)
            one.ask_to_stop()
            await asyncio.sleep(1)
            await two.client.create(config_map("a"))
            await asyncio.sleep(1)
            assert await names(two.live_client) == ["a", "a-copy"]
            two.ask_to_stop()


async def test_a_cache_is_handed_over_warm(caplog: pytest.LogCaptureFixture) -> None:
    """A manager with a running cache starts without a list, reads what was written, and leaves the cache running."""
    requests: list[str] = []
    server = ApiServer()

    class Noting:
        async def handle(self, method: str, path: str, query: Any, headers: Any, body: bytes) -> Any:
            if method == "GET" and path.endswith("/configmaps"):
                requests.append("watch" if dict(query).get("watch") else "list")
            return await server.handle(method, path, query, headers, body)

    async with Client.connect(Config.in_process(Noting())) as client:
        cache = Cache(client)
        running = asyncio.create_task(cache.run())
        for number in range(3):
            async with Manager(cache=cache) as manager:
                Builder(manager).reconciles(ConfigMap).build(Copier())
                async with manager.running():
                    await manager.client.create(config_map(f"map-{number}"))
                    await asyncio.sleep(1)
                    assert await manager.client.find(ConfigMap, Key("default", f"map-{number}-copy")) is not None
        assert requests.count("watch") == 1
        assert len(requests) <= 2
        running.cancel()
        await asyncio.wait([running])
