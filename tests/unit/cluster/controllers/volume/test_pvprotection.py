"""Protection of bound volumes, in virtual time."""

from __future__ import annotations

import asyncio

from pyctrl.api import Key
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim
from tests.unit.cluster._volumes import bound, claim, volume


async def test_a_bound_volume_is_protected(client: Client) -> None:
    """A deleted volume stays until its claim is gone; a claim that loses its volume becomes Lost."""
    for name in ("waits", "torn"):
        await client.create(volume(name, "1Gi"))
        await client.create(claim(name, volumeName=name))
        await bound(client, name)
        await client.delete(PersistentVolume, Key("", name))
    await asyncio.sleep(60)
    assert (await client.get(PersistentVolume, Key("", "waits"))).metadata.finalizers == ["kubernetes.io/pv-protection"]
    await client.delete(PersistentVolumeClaim, Key("default", "waits"))
    await wait_until_gone(client, PersistentVolume, Key("", "waits"))
    await client.patch(PersistentVolume, Key("", "torn"), MergePatch({"metadata": {"finalizers": None}}))
    lost = await wait_for(
        client, PersistentVolumeClaim, Key("default", "torn"), lambda found: found.status.phase == "Lost"
    )
    assert lost.spec.volume_name == "torn"
