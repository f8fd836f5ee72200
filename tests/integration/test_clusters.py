"""Several clusters in one manager: the one under test as home, and an embedded one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.controller import Builder, Reconciler, Request, mapped
from pyctrl.errors import ClusterGone
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, Secret
from pyctrl.manager import InMemoryProvider, Manager
from pyctrl.testing import ClusterUnderTest

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded

OF = "pyctrl.test/of"


def marked(namespace: str, name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace, labels={OF: name}))


def says(state: str) -> Callable[[ConfigMap | None], bool]:
    return lambda found: found is not None and (found.data or {}).get("state") == state


@asynccontextmanager
async def second(namespace: str) -> AsyncIterator[tuple[Cluster, Client]]:
    """Another cluster, with a namespace of the same name."""
    async with Cluster(kubelet=False) as cluster, cluster.client() as client:
        await client.create(Namespace(metadata=ObjectMeta(name=namespace)))
        yield cluster, client


class Spreader(Reconciler[ConfigMap]):
    """Keeps a Secret in another cluster for each marked ConfigMap, and copies its data back to the map."""

    def __init__(self, there: Client) -> None:
        self.there = there

    async def reconcile(self, request: Request) -> None:
        found = await self.client.find(ConfigMap, request.key)
        if found is None or OF not in found.metadata.labels:
            return
        secret = await self.there.find(Secret, request.key)
        if secret is None:
            labels = {OF: request.name}
            metadata = ObjectMeta(name=request.name, namespace=request.namespace, labels=labels)
            await self.there.create(Secret(metadata=metadata))
        elif (state := secret.metadata.annotations.get("state", "new")) != found.data.get("state"):
            await self.client.patch(found, MergePatch({"data": {"state": state}}))


def of_label(secret: Secret) -> list[Request]:
    return [Request(secret.metadata.namespace, secret.metadata.labels[OF])] if OF in secret.metadata.labels else []


async def test_home_makes_and_follows_objects_elsewhere(
    cluster: ClusterUnderTest, client: Client, namespace: str
) -> None:
    """A write in the other cluster is read back at once, and changes there reconcile the home object."""
    key = Key(namespace, "a")
    async with second(namespace) as (other, there), Manager(cluster.config, namespaces=[namespace]) as manager:
        remote = manager.add_cluster("remote", other.config, namespaces=[namespace])
        builder = Builder(manager).reconciles(ConfigMap).watches(Secret, mapped(of_label), cluster=remote)
        builder.build(Spreader(remote.client))
        async with manager.running():
            await client.create(marked(namespace, "a"))
            await wait_for(client, ConfigMap, key, says("new"))
            await there.patch(Secret, key, MergePatch({"metadata": {"annotations": {"state": "used"}}}))
            await wait_for(client, ConfigMap, key, says("used"))
            await there.delete(Secret, key)  # and the Secret is created again
            await wait_for(client, ConfigMap, key, says("new"))
        assert await client.find(Secret, key) is None


class Marker(Reconciler[ConfigMap]):
    """Marks each ConfigMap with the name of its cluster."""

    async def reconcile(self, request: Request) -> None:
        found = await self.client.find(ConfigMap, request.key)
        if found is not None and OF in found.metadata.labels and "in" not in found.data:
            await self.client.patch(found, MergePatch({"data": {"in": request.cluster}}))


async def test_one_reconciler_works_in_each_cluster_of_a_fleet(
    cluster: ClusterUnderTest, client: Client, namespace: str
) -> None:
    """Each cluster's object of the same key is reconciled; a cluster that has left gets no more writes."""
    key = Key(namespace, "a")

    def is_marked(found: ConfigMap | None) -> bool:
        return found is not None and "in" in found.data

    async with second(namespace) as (other, there), Manager(cluster.config, namespaces=[namespace]) as manager:
        provider = InMemoryProvider({"tested": cluster.config, "other": other.config})
        fleet = manager.add_fleet("all", provider, namespaces=[namespace])
        Builder(fleet).reconciles(ConfigMap).build_each(Marker)
        async with manager.running():
            for each in (client, there):
                await each.create(marked(namespace, "a"))
            assert (await wait_for(client, ConfigMap, key, is_marked)).data["in"] == "tested"
            assert (await wait_for(there, ConfigMap, key, is_marked)).data["in"] == "other"

            theirs = fleet["other"].client
            provider.remove("other")
            await fleet.wait_until_gone("other")
            for each in (client, there):
                await each.create(marked(namespace, "b"))
            await wait_for(client, ConfigMap, Key(namespace, "b"), is_marked)
            assert "in" not in (await there.get(ConfigMap, Key(namespace, "b"))).data
            with pytest.raises(ClusterGone, match="'other' has left"):
                await theirs.delete(ConfigMap, key)
            await client.delete(ConfigMap, key)
            await wait_until_gone(client, ConfigMap, key)
            assert await there.find(ConfigMap, key) is not None
