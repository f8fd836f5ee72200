"""Claims and volumes on any cluster; where no provisioner runs, a simulated one does."""

from __future__ import annotations

from typing import Any

from pyctrl.api import Key, Quantity
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim


def claim(namespace: str, storage_class: str) -> PersistentVolumeClaim:
    """Make a claim of 1 Gi."""
    spec: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class}
    spec["resources"] = {"requests": {"storage": "1Gi"}}
    return PersistentVolumeClaim.from_wire({"metadata": {"name": "data", "namespace": namespace}, "spec": spec})


async def test_a_claim_is_bound_grows_and_goes(client: Client, namespace: str, storage_class: str) -> None:
    """A claim gets its own volume, which grows when the claim does and is deleted with it."""
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
