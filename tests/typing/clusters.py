"""Several clusters, as type checkers see them. Checked by mypy and pyright, never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import assert_type

from pyctrl.cache import CachedClient
from pyctrl.client import Config
from pyctrl.controller import Builder, Controller, FleetController, Reconciler, Request, for_object, mapped
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import (
    ClusterProvider,
    Clusters,
    ConnectedCluster,
    Fleet,
    InMemoryProvider,
    KubeconfigProvider,
    Manager,
)
from pyctrl.rbac import Grants


class Copier(Reconciler[ConfigMap]):
    """A user's reconciler."""

    async def reconcile(self, request: Request) -> None:
        """The request has the cluster."""
        assert_type(request.cluster, str)
        assert_type(self.client, CachedClient)


class Mine:
    """A user's provider."""

    async def follow(self) -> AsyncIterator[Mapping[str, Config]]:
        """An async generator implements the protocol."""
        yield {}


def of_secret(secret: Secret) -> list[Request]:
    """A user's handler."""
    return [Request("default", secret.metadata.name)]


def make_copier() -> Copier:
    """A function that makes a reconciler."""
    return Copier()


def a_second_cluster(manager: Manager, config: Config) -> None:
    """Controllers may run in the second cluster, and may watch it."""
    remote = manager.add_cluster("remote", config)
    assert_type(remote, ConnectedCluster)
    assert_type(remote.client, CachedClient)
    assert_type(manager.clusters, Clusters)
    assert_type(manager.clusters["remote"], ConnectedCluster)
    assert_type(manager.clusters.get("remote"), ConnectedCluster | None)
    builder = Builder(manager).reconciles(ConfigMap).watches(Secret, mapped(of_secret), cluster=remote)
    assert_type(builder.build(Copier()), Controller)
    assert_type(Builder(remote).reconciles(ConfigMap).build(Copier()), Controller)
    assert_type(manager.grants(cluster="remote"), Grants)


def a_fleet(manager: Manager) -> None:
    """A class or a function makes the reconciler of each cluster; the home cluster may watch all of them."""
    providers: list[ClusterProvider] = [
        Mine(),
        InMemoryProvider(),
        KubeconfigProvider("/etc/clusters", contexts=["a"], trusted=True),
    ]
    fleet = manager.add_fleet("edge", providers[0])
    assert_type(fleet, Fleet)
    assert_type(fleet["a"], ConnectedCluster)
    controller = Builder(fleet).reconciles(ConfigMap).owns(Secret).build_each(Copier)
    assert_type(controller, FleetController)
    assert_type(controller.controllers, Mapping[str, Controller])
    Builder(fleet).reconciles(ConfigMap).build_each(make_copier)
    home = Builder(manager).reconciles(ConfigMap).watches(Secret, for_object, cluster=fleet)
    home.watches_clusters(fleet, lambda cluster: [Request("default", cluster)]).build(Copier())
