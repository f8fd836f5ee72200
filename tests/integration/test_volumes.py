"""Claims and volumes on whatever cluster the environment names; a pretend provisioner helps where none is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest_asyncio

from pyctrl.api import Key, ObjectMeta, Quantity
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.cluster import add_controllers, add_volumes
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim
from pyctrl.kinds.storage.v1 import StorageClass
from pyctrl.manager import Manager
from pyctrl.testing import ClusterUnderTest

PROVISIONER = "pretend.pyctrl.dev"


@pytest_asyncio.fixture
async def volumes(cluster: ClusterUnderTest) -> AsyncIterator[None]:
    """Somebody makes volumes for claims of the pretend provisioner's classes."""
    async with AsyncExitStack() as stack:
        if not cluster.is_embedded:
            manager = await stack.enter_async_context(Manager(cluster.config))
            if not cluster.has_controllers:
                add_controllers(manager)
            add_volumes(manager)
            await stack.enter_async_context(manager.running())
        yield


@pytest_asyncio.fixture
async def storage_class(client: Client, namespace: str, volumes: None) -> AsyncIterator[str]:
    """A class of this test's own."""
    made = StorageClass(
        metadata=ObjectMeta(name=namespace),
        provisioner=PROVISIONER,
        allow_volume_expansion=True,
        reclaim_policy="Delete",
    )
    await client.create(made)
    yield namespace
    await client.delete(made)


def claim(namespace: str, storage_class: str) -> PersistentVolumeClaim:
    """Make a claim of a gigabyte."""
    spec: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class}
    spec["resources"] = {"requests": {"storage": "1Gi"}}
    return PersistentVolumeClaim.from_wire({"metadata": {"name": "data", "namespace": namespace}, "spec": spec})


async def test_a_claim_is_bound_grows_and_goes(client: Client, namespace: str, storage_class: str) -> None:
    """A claim gets a volume of its own, which becomes larger when it asks for more, and is deleted with it."""
    created = await client.create(claim(namespace, storage_class))
    bound = await wait_for(
        client, PersistentVolumeClaim, created.key, lambda found: found.status.phase == "Bound", timeout=60
    )
    volume = Key("", f"pvc-{created.metadata.uid}")
    assert (bound.spec.volume_name, bound.status.capacity["storage"]) == (volume.name, Quantity("1Gi"))
    more = MergePatch({"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
    await client.patch(PersistentVolumeClaim, created.key, more)
    two = Quantity("2Gi")
    await wait_for(
        client, PersistentVolumeClaim, created.key, lambda found: found.status.capacity["storage"] == two, timeout=60
    )
    assert (await client.get(PersistentVolume, volume)).spec.capacity["storage"] == two
    await client.delete(created)
    await wait_until_gone(client, PersistentVolumeClaim, created.key)
    await wait_until_gone(client, PersistentVolume, volume)
