"""Provisioning, expansion and deletion of simulated volumes, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest
import pytest_asyncio

from pyctrl.api import Key, Quantity
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.cluster import Cluster, Kubelet
from pyctrl.errors import Forbidden
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim
from tests.unit.cluster._pods import reasons
from tests.unit.cluster._volumes import bound, claim, volume, volume_phase

C = Key("default", "c")


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        yield client


async def test_a_claim_gets_a_volume_made(client: Client) -> None:
    """A claim of class standard is bound to a new volume of its size, with the events of both."""
    created = await client.create(claim(storageClassName="standard"))
    found = await bound(client)
    name = f"pvc-{created.metadata.uid}"
    assert (found.spec.volume_name, found.status.capacity["storage"]) == (name, Quantity("1Gi"))
    assert found.metadata.annotations == {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
        "volume.beta.kubernetes.io/storage-provisioner": "pretend.pyctrl.dev",
        "volume.kubernetes.io/storage-provisioner": "pretend.pyctrl.dev",
    }
    made = await volume_phase(client, name, "Bound")
    assert made.spec.claim_ref is not None
    assert (made.spec.claim_ref.uid, made.spec.persistent_volume_reclaim_policy) == (created.metadata.uid, "Delete")
    await asyncio.sleep(1)
    told = await reasons(client, "c")
    assert told.index("ExternalProvisioning") < told.index("ProvisioningSucceeded")


async def test_a_claim_gets_the_default_class(client: Client) -> None:
    """A claim without a class gets the default class when it is created; "" means no class."""
    created = await client.create(claim(storageClassName=None))
    assert created.spec.storage_class_name == "standard"
    await client.create(claim("none"))
    assert (await bound(client)).spec.storage_class_name == "standard"
    await asyncio.sleep(60)
    assert (await client.get(PersistentVolumeClaim, Key("default", "none"))).status.phase == "Pending"
    assert await reasons(client, "none") == ["FailedBinding"]


async def test_volumes_take_the_time_that_pods_take() -> None:
    """start_seconds delays the processing of claims."""
    async with Cluster(kubelet=Kubelet(start_seconds=2)) as cluster, cluster.client() as client:
        created = await client.create(claim(storageClassName=None))
        await asyncio.sleep(1.9)
        untouched = await client.get(PersistentVolumeClaim, C)
        assert untouched.spec == created.spec
        await bound(client)


async def test_claims_grow(client: Client) -> None:
    """A bound claim is expanded with its volume; a class without expansion is refused by the server."""
    await client.create(claim(storageClassName="standard"))
    await bound(client)
    more = MergePatch({"spec": {"resources": {"requests": {"storage": "3Gi"}}}})
    await client.patch(PersistentVolumeClaim, C, more)
    grown = await wait_for(
        client, PersistentVolumeClaim, C, lambda found: found.status.capacity["storage"] == Quantity("3Gi")
    )
    made = await client.get(PersistentVolume, Key("", grown.spec.volume_name or ""))
    assert made.spec.capacity["storage"] == Quantity("3Gi")
    await client.create(volume("fixed", "1Gi"))
    await client.create(claim("fixed", volumeName="fixed"))
    await bound(client, "fixed")
    with pytest.raises(Forbidden, match="only dynamically provisioned pvc can be resized"):
        await client.patch(PersistentVolumeClaim, Key("default", "fixed"), more)


async def test_provisioning_fails_as_scripted(client: Client) -> None:
    """The annotation makes provisioning fail with an event; after its removal provisioning succeeds."""
    error = {"pyctrl.dev/provision-error": "the array is full"}
    await client.create(claim(storageClassName="standard", annotations=error))
    await asyncio.sleep(60)
    assert (await client.get(PersistentVolumeClaim, C)).status.phase == "Pending"
    assert "ProvisioningFailed" in await reasons(client, "c")
    await client.patch(
        PersistentVolumeClaim, C, MergePatch({"metadata": {"annotations": {"pyctrl.dev/provision-error": None}}})
    )
    await bound(client)
