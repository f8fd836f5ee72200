"""Protection of VolumeAttributesClasses that are in use, in virtual time."""

from __future__ import annotations

import asyncio

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim
from pyctrl.kinds.storage.v1 import VolumeAttributesClass
from tests.unit.cluster._volumes import claim, volume

FINALIZER = "kubernetes.io/vac-protection"


async def make_class(client: Client, name: str) -> Key:
    """Create a class; return its key."""
    metadata = ObjectMeta(name=name)
    await client.create(VolumeAttributesClass(metadata=metadata, driver_name="csi.example.com", parameters={"a": "b"}))
    return Key("", name)


async def test_a_class_stays_while_a_claim_uses_it(client: Client) -> None:
    """A deleted class is removed when the last claim that requests it is gone."""
    key = await make_class(client, "fast")
    await client.create(claim("data", volumeAttributesClassName="fast"))
    await client.delete(VolumeAttributesClass, key)
    await asyncio.sleep(60)
    assert (await client.get(VolumeAttributesClass, key)).metadata.finalizers == [FINALIZER]
    await client.delete(PersistentVolumeClaim, Key("default", "data"))
    await wait_until_gone(client, VolumeAttributesClass, key)


async def test_a_class_stays_while_a_volume_uses_it(client: Client) -> None:
    """A deleted class is removed when the last volume that has it is gone; a class that is not used, at once."""
    key, unused = await make_class(client, "fast"), await make_class(client, "unused")
    disk = {"driver": "csi.example.com", "volumeHandle": "1"}
    await client.create(volume("disk", "1Gi", volumeAttributesClassName="fast", hostPath=None, csi=disk))
    for each in (key, unused):
        await client.delete(VolumeAttributesClass, each)
    await wait_until_gone(client, VolumeAttributesClass, unused)
    await asyncio.sleep(60)
    assert await client.find(VolumeAttributesClass, key) is not None
    await client.delete(PersistentVolume, Key("", "disk"))
    await wait_until_gone(client, VolumeAttributesClass, key)


async def test_a_class_gets_its_finalizer_back(client: Client) -> None:
    """The finalizer of a class that a user removes is added again."""
    key = await make_class(client, "fast")
    await client.patch(VolumeAttributesClass, key, MergePatch({"metadata": {"finalizers": None}}))
    await wait_for(client, VolumeAttributesClass, key, lambda found: found.metadata.finalizers == [FINALIZER])
