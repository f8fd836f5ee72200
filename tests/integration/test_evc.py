"""EphemeralVolumeClaim end to end, on any cluster."""

from __future__ import annotations

import pytest

from examples.evc.evc import FINALIZER, EphemeralVolumeClaim
from pyctrl.api import Quantity, find_condition, is_controlled_by
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim
from pyctrl.testing import ClusterUnderTest
from tests.integration._operators import EVC_DEFINITION, evc, evc_operator, has_come_to, install

COLLECTION = 90.0  # seconds; a real garbage collector looks for new kinds every 30


def message(claim: EphemeralVolumeClaim) -> str:
    """Return the message of the condition of a claim."""
    condition = find_condition(claim.status.conditions, "Ready")
    return condition.message if condition else ""


async def test_a_claim_gets_its_volume(
    cluster: ClusterUnderTest, client: Client, namespace: str, storage_class: str
) -> None:
    """A claim gets a bound PersistentVolumeClaim of its name and size; the status names the volume."""
    await install(client, EVC_DEFINITION)
    async with evc_operator(cluster, namespace, storage_class):
        created = await client.create(evc(namespace))
        claim = await has_come_to(client, created.key, "Bound")
    made = await client.get(PersistentVolumeClaim, created.key)
    assert is_controlled_by(made, created)
    assert (made.spec.access_modes, made.spec.storage_class_name) == (["ReadWriteOnce"], storage_class)
    assert made.metadata.annotations["volume.beta.kubernetes.io/storage-class"] == storage_class
    assert (claim.status.size, claim.status.phase, claim.status.volume) == ("2G", "Bound", made.spec.volume_name)


async def test_a_claim_grows_and_does_not_shrink(
    cluster: ClusterUnderTest, client: Client, namespace: str, storage_class: str
) -> None:
    """A larger size reaches the volume; a smaller one is rejected, with the server's reason in the condition."""
    await install(client, EVC_DEFINITION)
    async with evc_operator(cluster, namespace, storage_class):
        key = (await client.create(evc(namespace))).key
        await has_come_to(client, key, "Bound")
        await client.patch(EphemeralVolumeClaim, key, MergePatch({"spec": {"size": "4G"}}))
        claim = await wait_for(client, EphemeralVolumeClaim, key, lambda found: found.status.size == "4G")
        await has_come_to(client, key, "Bound")
        await client.patch(EphemeralVolumeClaim, key, MergePatch({"spec": {"size": "1G"}}))
        claim = await has_come_to(client, key, "ResizeRefused")
    assert "spec.resources.requests.storage: Forbidden: field can not be less than" in message(claim)
    made = await client.get(PersistentVolumeClaim, key)
    assert made.spec.resources.requests["storage"] == Quantity("4G")


async def test_a_claim_without_a_size(
    cluster: ClusterUnderTest, client: Client, namespace: str, storage_class: str
) -> None:
    """The condition reports a missing or rejected size, nothing is created, and a valid size fixes it."""
    await install(client, EVC_DEFINITION)
    async with evc_operator(cluster, namespace, storage_class):
        key = (await client.create(evc(namespace, None))).key
        assert message(await has_come_to(client, key, "InvalidSize")) == "Size must be set. Got None."
        assert await client.find(PersistentVolumeClaim, key) is None
        refused = (await client.create(evc(namespace, "-1G", "negative"))).key
        said = message(await has_come_to(client, refused, "InvalidSize"))
        assert 'spec.resources[storage]: Invalid value: "-1G": must be greater than zero' in said
        await client.patch(EphemeralVolumeClaim, key, MergePatch({"spec": {"size": "1G"}}))
        await has_come_to(client, key, "Bound")


@pytest.mark.slow("a real garbage collector looks for new kinds every 30 seconds")
@pytest.mark.timeout(120)
async def test_a_deleted_claim_takes_its_volume_along(
    cluster: ClusterUnderTest, client: Client, namespace: str, storage_class: str
) -> None:
    """The cluster collects the PersistentVolumeClaim and its volume, even without an operator."""
    await install(client, EVC_DEFINITION)
    async with evc_operator(cluster, namespace, storage_class):
        key = (await client.create(evc(namespace))).key
        claim = await has_come_to(client, key, "Bound")
    await client.delete(EphemeralVolumeClaim, key)
    await wait_until_gone(client, PersistentVolumeClaim, key, timeout=COLLECTION)
    assert claim.status.volume
    await wait_until_gone(client, PersistentVolume, claim.key._replace(namespace="", name=claim.status.volume))


async def test_with_a_finalizer(cluster: ClusterUnderTest, client: Client, namespace: str, storage_class: str) -> None:
    """A claim deleted while no operator runs waits for one, which deletes its volume."""
    await install(client, EVC_DEFINITION)
    async with evc_operator(cluster, namespace, storage_class, finalizer=True):
        key = (await client.create(evc(namespace))).key
        assert FINALIZER in (await has_come_to(client, key, "Bound")).metadata.finalizers
    await client.delete(EphemeralVolumeClaim, key)
    assert (await client.get(EphemeralVolumeClaim, key)).metadata.deletion_timestamp is not None
    async with evc_operator(cluster, namespace, storage_class, finalizer=True):
        await wait_until_gone(client, EphemeralVolumeClaim, key)
    assert await client.find(PersistentVolumeClaim, key) is None
