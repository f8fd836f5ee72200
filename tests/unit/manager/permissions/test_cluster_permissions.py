"""Permissions in several clusters: each login is reviewed in its cluster, and missing permissions name the cluster."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from copy import deepcopy
from typing import Any

import pytest

from pyctrl.api import Key, ObjectMeta, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config
from pyctrl.cluster import Cluster
from pyctrl.controller import Builder, ControllerState, Reconciler, Request, mapped
from pyctrl.errors import Forbidden, MissingPermissions, UnknownCluster
from pyctrl.kinds.core.v1 import ConfigMap, Secret, ServiceAccount
from pyctrl.manager import InMemoryProvider, Manager, Preflight
from pyctrl.rbac import Grants, allow, manifests
from tests.unit.manager._fleets import config_map, settle

BOT = Key("default", "bot")


class Guarded:
    """A cluster with RBAC, and an account without permissions."""

    def __init__(self, cluster: Cluster, admin: Client) -> None:
        self.cluster, self.admin = cluster, admin
        self.config: Config = cluster.config_for_account(BOT)
        self._granted: list[dict[str, Any]] = []

    async def grant(self, granted: Grants) -> None:
        """Grant the account these permissions."""
        self._granted = manifests(granted, name="bot", account=BOT)
        for document in self._granted:
            await self.admin.create(Unstructured(deepcopy(document)))

    async def revoke(self) -> None:
        """Revoke the permissions."""
        for document in self._granted:
            await self.admin.delete(Unstructured(deepcopy(document)))


@asynccontextmanager
async def guarded() -> AsyncIterator[Guarded]:
    async with Cluster(rbac=True, kubelet=False, controllers=False) as cluster, cluster.client() as admin:
        await admin.create(ServiceAccount(metadata=ObjectMeta(name=BOT.name, namespace=BOT.namespace)))
        yield Guarded(cluster, admin)


@contextmanager
def warned() -> Iterator[list[str]]:
    """Collect the warnings of managers."""
    told: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    logger, handler = logging.getLogger("pyctrl.manager"), Keep(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield told
    finally:
        logger.removeHandler(handler)


class Copier(Reconciler[ConfigMap]):
    """Copies each ConfigMap of its own cluster to another one."""

    rbac = (allow(ConfigMap, "create", cluster="remote"),)

    def __init__(self, to: Client) -> None:
        self.to = to

    async def reconcile(self, request: Request) -> None:
        found = await self.client.find(ConfigMap, request.key)
        if found is not None and await self.to.find(ConfigMap, request.key) is None:
            await self.to.create(config_map(request.name, found.data["text"]))


def of_the_same_name(found: ConfigMap) -> list[Request]:
    return [Request(found.metadata.namespace, found.metadata.name)]


async def test_a_controller_waits_for_its_rights_in_another_cluster() -> None:
    """A controller waits for permissions in another cluster; reviews, messages and roles are for that cluster."""
    async with guarded() as away, Manager(Config.in_process(ApiServer()), namespaces=["default"]) as manager:
        await manager.live_client.create(config_map("a", "of home"))
        remote = manager.add_cluster("remote", away.config, namespaces=["default"])
        builder = Builder(manager).reconciles(ConfigMap)
        builder.watches(ConfigMap, mapped(of_the_same_name), cluster=remote)
        controller = builder.build(Copier(remote.client))
        with warned() as told:
            async with manager.running():
                await settle()
                assert controller.state is ControllerState.WAITING_FOR_RIGHTS
                assert (
                    "it may not create configmaps in namespace 'default' in cluster 'remote'"
                    in (manager.not_ready["configmap"])
                )
                await away.grant(manager.grants(cluster="remote"))
                await settle(31)
                assert (await away.admin.get(ConfigMap, Key("default", "a"))).data["text"] == "of home"
                assert manager.not_ready == {}
        (text,) = told
        first, *_ = text.splitlines()
        assert first == (
            "configmap may not create, list and watch configmaps in namespace 'default' of cluster 'remote', "
            "and waits until it may"
        )


async def test_roles_are_for_one_cluster_each() -> None:
    """The home cluster, a named cluster and a fleet each have roles with only their own permissions."""

    class Watcher(Reconciler[Secret]):
        rbac = (allow(Secret, "patch"), allow(ConfigMap, "get", cluster=""))

        async def reconcile(self, request: Request) -> None: ...

    async with Manager(Config.in_process(ApiServer())) as manager:
        remote = manager.add_cluster("remote", Config.in_process(ApiServer()))
        fleet = manager.add_fleet("edge", InMemoryProvider(), namespaces=["shop"])
        builder = Builder(manager).reconciles(ConfigMap)
        builder.watches(ConfigMap, mapped(of_the_same_name), cluster=remote).build(Copier(remote.client))
        Builder(fleet).reconciles(Secret).build_each(Watcher)
        said = {name: sorted(map(str, manager.grants(cluster=name).accesses())) for name in ("", "remote", "edge")}
        with pytest.raises(UnknownCluster, match="no cluster 'mars'"):
            manager.grants(cluster="mars")
    assert said == {
        "": [f"{verb} configmaps at the cluster scope" for verb in ("get", "list", "watch")],
        "remote": [f"{verb} configmaps at the cluster scope" for verb in ("create", "list", "watch")],
        "edge": [f"{verb} secrets in namespace 'shop'" for verb in ("list", "patch", "watch")],
    }


class Marker(Reconciler[ConfigMap]):
    """Creates a Secret for each ConfigMap."""

    rbac = (allow(Secret, "create", "get"),)

    async def reconcile(self, request: Request) -> None:
        if await self.client.live.find(Secret, request.key) is None:
            await self.client.create(Secret(metadata=ObjectMeta(name=request.name, namespace=request.namespace)))


async def test_one_of_a_fleet_that_lacks_rights_keeps_the_others_from_nothing() -> None:
    """Missing permissions in a cluster of a fleet affect no other cluster, even if they are an error at start."""
    async with guarded() as poor, Cluster(controllers=False, kubelet=False) as rich, rich.client() as admin:
        clusters = InMemoryProvider({"poor": poor.config, "rich": rich.config})
        await poor.admin.create(config_map("a"))
        await admin.create(config_map("a"))
        async with Manager(Config.in_process(ApiServer()), preflight=Preflight.STRICT) as manager:
            fleet = manager.add_fleet("edge", clusters, namespaces=["default"])
            controller = Builder(fleet).reconciles(ConfigMap).build_each(Marker)
            with warned() as told:
                async with manager.running():
                    await settle()
                    states = {name: each.state for name, each in controller.controllers.items()}
                    assert states == {"poor": ControllerState.WAITING_FOR_RIGHTS, "rich": ControllerState.RUNNING}
                    assert await admin.find(Secret, Key("default", "a")) is not None
                    assert "may not" in fleet["poor"].trouble
                    assert manager.not_ready == {}
                    await poor.grant(manager.grants(cluster="edge"))
                    await settle(31)
                    assert await poor.admin.find(Secret, Key("default", "a")) is not None
                    assert fleet["poor"].trouble == ""
            assert all("of cluster 'poor'" in text for text in told)


async def test_strict_means_clusters_that_are_there_from_the_start() -> None:
    """With strict permissions, the manager fails with those that are missing in a cluster added by name."""
    async with guarded() as away, Manager(Config.in_process(ApiServer()), preflight=Preflight.STRICT) as manager:
        Builder(manager.add_cluster("remote", away.config)).reconciles(ConfigMap).build(Marker())
        with pytest.raises(MissingPermissions, match="of cluster 'remote'"):
            await manager.run(handle_signals=False)


async def test_another_login_is_reviewed_anew() -> None:
    """New credentials with the missing permissions are used at once."""
    async with guarded() as away:
        provider = InMemoryProvider({"one": away.config})
        await away.admin.create(config_map("a"))
        async with Manager(Config.in_process(ApiServer())) as manager:
            fleet = manager.add_fleet("edge", provider)
            controller = Builder(fleet).reconciles(ConfigMap).build_each(Marker)
            async with manager.running():
                await settle(70)  # reviews are 30 seconds apart by now
                assert [each.is_ready for each in controller.controllers.values()] == [False]
                provider.add("one", away.cluster.config)
                await settle(2)
                assert [each.is_ready for each in controller.controllers.values()] == [True]
                assert await away.admin.find(Secret, Key("default", "a")) is not None


async def test_what_was_refused_elsewhere_and_never_declared_is_told() -> None:
    """A refused request without declared permission logs the missing declaration, with the cluster."""

    class Careless(Reconciler[ConfigMap]):
        async def reconcile(self, request: Request) -> None:
            await remote.client.create(config_map("b"))

    async with guarded() as away, Manager(Config.in_process(ApiServer())) as manager:
        remote = manager.add_cluster("remote", away.config)
        await manager.live_client.create(config_map("a"))
        builder = Builder(manager).reconciles(ConfigMap)
        builder.watches(ConfigMap, mapped(of_the_same_name), cluster=remote).build(Careless())
        await away.grant(manager.grants(cluster="remote"))
        with warned() as told:
            async with manager.running():
                await settle()
                with pytest.raises(Forbidden, match="in cluster 'remote'"):
                    await remote.client.create(config_map("b"))
    assert any('lacks allow(ConfigMap, "create", cluster="remote")' in text for text in told)
