"""Simulated kubelet, controllers and volume provisioner for clusters that lack them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, wait_for_list
from pyctrl.cluster import add_controllers, add_kubelet, add_volumes
from pyctrl.kinds.core.v1 import Node, PersistentVolume, PersistentVolumeClaim
from pyctrl.kinds.storage.v1 import StorageClass
from pyctrl.manager import Manager
from pyctrl.testing._cluster.cluster_under_test import ClusterUnderTest

__all__ = ["stand_ins", "volume_maker"]

_PROVISIONER = "pretend.pyctrl.dev"
_CLAIM_CLASS = "volume.beta.kubernetes.io/storage-class"


@asynccontextmanager
async def stand_ins(cluster: ClusterUnderTest) -> AsyncIterator[None]:
    """Run a simulated kubelet, and the controllers if the cluster has none.

    Nothing is run for a cluster with nodes, nor for the embedded one. Simulated nodes of an earlier test do not count:
    their kubelet no longer runs.
    """
    async with cluster.client() as client:
        has_nodes = cluster.is_embedded or any(not _is_pretend(node) for node in await client.list(Node))
    if has_nodes:
        yield
        return
    async with Manager(cluster.config) as manager:
        if not cluster.has_controllers:
            add_controllers(manager)
        add_kubelet(manager)
        async with manager.running():
            yield


def _is_pretend(node: Node) -> bool:
    return node.status.node_info.kernel_version.endswith("-pretend")


@asynccontextmanager
async def volume_maker(cluster: ClusterUnderTest) -> AsyncIterator[str]:
    """Yield the name of a storage class with immediate binding and volume expansion.

    It is one of the cluster's own, or a new one with a simulated provisioner. A new one is deleted afterwards with its
    claims and volumes.
    """
    async with cluster.client() as client:
        if cluster.is_embedded:
            yield "standard"
            return
        if found := [each.metadata.name for each in await client.list(StorageClass) if _is_usable(each)]:
            yield found[0]
            return
        meta = ObjectMeta(generate_name="pretend-")
        made = await client.create(
            StorageClass(metadata=meta, provisioner=_PROVISIONER, reclaim_policy="Delete", allow_volume_expansion=True)
        )
        async with Manager(cluster.config) as manager:
            if not cluster.has_controllers:
                add_controllers(manager)  # they bind the provisioner's volumes
            add_volumes(manager, classes=False)
            async with manager.running():
                yield made.metadata.name
                await _empty(client, made.metadata.name)
        await client.delete(made)


def _is_usable(storage_class: StorageClass) -> bool:
    is_immediate = storage_class.volume_binding_mode == "Immediate" and bool(storage_class.allow_volume_expansion)
    return is_immediate and storage_class.provisioner not in (_PROVISIONER, "kubernetes.io/no-provisioner")


async def _empty(client: Client, name: str) -> None:
    """Delete the claims of a class, and wait until its volumes are deleted."""
    for claim in await client.list(PersistentVolumeClaim):
        if name in (claim.spec.storage_class_name, claim.metadata.annotations.get(_CLAIM_CLASS)):
            await client.delete(claim)

    def none_left(volumes: object) -> bool:
        assert isinstance(volumes, list)
        return all(volume.spec.storage_class_name != name for volume in volumes)

    await wait_for_list(client, PersistentVolume, none_left, timeout=60)
