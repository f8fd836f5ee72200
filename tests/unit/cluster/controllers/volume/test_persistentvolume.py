"""Binding and reclaiming of volumes, in virtual time."""

from __future__ import annotations

import asyncio

from pyctrl.api import Key, Quantity
from pyctrl.client import Client, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim, Pod
from pyctrl.kinds.storage.v1 import StorageClass
from tests.unit.cluster._pods import pod, reasons, until, until_phase
from tests.unit.cluster._volumes import bound, claim, volume, volume_phase

C = Key("default", "c")


async def test_the_class_may_be_an_annotation(client: Client) -> None:
    """The beta annotation still selects a class."""
    said = {"volume.beta.kubernetes.io/storage-class": "standard"}
    await client.create(claim(annotations=said, storageClassName=None))
    found = await bound(client)
    made = await client.get(PersistentVolume, Key("", found.spec.volume_name or ""))
    assert (found.spec.storage_class_name, made.spec.storage_class_name) == (None, "standard")


async def test_the_server_warns_of_what_is_out_of_date() -> None:
    """The warnings are those of kube-apiserver 1.36: class annotation, fractional bytes, Recycle."""
    heard: list[str] = []
    old = {"volume.beta.kubernetes.io/storage-class": "x", "volume.beta.kubernetes.io/mount-options": "x"}
    async with Cluster(controllers=False, kubelet=False) as cluster:
        config = cluster.config
        async with Client.connect(config, on_warning=lambda warning: heard.append(warning.text)) as client:
            await client.create(claim(size="1500m", annotations=old))
            source = {"hostPath": None, "nfs": {"server": "a", "path": "/b"}}  # mount options are not for all sources
            made = volume("v", "1Gi", persistentVolumeReclaimPolicy="Recycle", **source)
            made.metadata.annotations = old
            await client.create(made)
    use = 'deprecated since v1.8; use "storageClassName" attribute instead'
    assert heard == [
        f"metadata.annotations[volume.beta.kubernetes.io/storage-class]: {use}",
        'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
        f"metadata.annotations[volume.beta.kubernetes.io/storage-class]: {use}",
        (
            "metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; "
            'use "mountOptions" attribute instead'
        ),
        (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. "
            "Instead, the recommended approach is to use dynamic provisioning."
        ),
    ]


async def test_a_volume_made_by_hand_is_bound(client: Client) -> None:
    """The smallest matching volume is bound; class, mode, selector and claimRef must match."""
    for name, size, more in (
        ("large", "5Gi", {}),
        ("fits", "2Gi", {}),
        ("small", "500Mi", {}),
        ("classy", "1Gi", {"storageClassName": "other"}),
        ("read-only", "1Gi", {"accessModes": ["ReadOnlyMany"]}),
        ("block", "1Gi", {"volumeMode": "Block"}),
        ("reserved", "1Gi", {"claimRef": {"namespace": "default", "name": "another"}}),
    ):
        await client.create(volume(name, size, **more))
    await volume_phase(client, "fits", "Available")
    await client.create(claim())
    found = await bound(client)
    assert (found.spec.volume_name, found.status.capacity["storage"]) == ("fits", Quantity("2Gi"))
    assert (await client.get(PersistentVolume, Key("", "large"))).status.phase == "Available"
    await client.create(claim("another"))
    assert (await bound(client, "another")).spec.volume_name == "reserved"


async def test_volumes_are_reclaimed(client: Client) -> None:
    """A released volume is deleted, kept or failed, by policy and volume type."""
    policies = {"kept": "Retain", "stuck": "Delete"}
    for name, policy in policies.items():
        await client.create(volume(name, "1Gi", persistentVolumeReclaimPolicy=policy))
        await client.create(claim(name, volumeName=name))
        await bound(client, name)
    await client.create(claim(storageClassName="standard"))
    made = (await bound(client)).spec.volume_name or ""
    for name in ("kept", "stuck", "c"):
        await client.delete(PersistentVolumeClaim, Key("default", name))
    await wait_until_gone(client, PersistentVolume, Key("", made))
    released = await volume_phase(client, "kept", "Released")
    assert released.spec.claim_ref is not None
    failed = await volume_phase(client, "stuck", "Failed")
    assert failed.status.message == "host_path deleter only supports /tmp/.+ but received provided /x"
    await client.create(claim("again", volumeName="kept"))
    await asyncio.sleep(60)
    assert (await client.get(PersistentVolumeClaim, Key("default", "again"))).status.phase == "Pending"


async def test_a_claim_of_a_class_that_is_not_there(client: Client) -> None:
    """A claim of a missing class waits until the class is created."""
    await client.create(claim(storageClassName="fast"))
    await asyncio.sleep(60)
    assert await reasons(client, "c") == ["ProvisioningFailed"]
    fast = {"metadata": {"name": "fast"}, "provisioner": "pretend.pyctrl.dev"}
    await client.create(StorageClass.from_wire(fast))
    await bound(client)


async def test_a_class_waits_for_the_first_consumer(client: Client) -> None:
    """Claims are bound when a pod is scheduled."""
    await client.create(claim(storageClassName="standard-wait"))
    await asyncio.sleep(60)
    waiting = await client.get(PersistentVolumeClaim, C)
    assert (waiting.status.phase, waiting.metadata.annotations) == ("Pending", {})
    assert await reasons(client, "c") == ["WaitForFirstConsumer"]
    await client.create(pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]))
    await until_phase(client, "p", "Running")
    assert (await bound(client)).metadata.annotations["volume.kubernetes.io/selected-node"] == "node-1"


async def test_a_pod_waits_for_its_claims(client: Client) -> None:
    """A pod is scheduled only when its claims exist and are bound; its condition names the reason."""

    def message(found: Pod) -> str:
        return next((each.message or "" for each in found.status.conditions if each.type == "PodScheduled"), "")

    await client.create(pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]))
    await until(client, "p", lambda found: 'persistentvolumeclaim "c" not found' in message(found))
    await client.create(claim())
    unbound = "pod has unbound immediate PersistentVolumeClaims"
    await until(client, "p", lambda found: unbound in message(found))
    await client.create(volume("v", "1Gi"))
    await until_phase(client, "p", "Running")
