"""Ephemeral volumes of pods, in virtual time."""

from __future__ import annotations

from pyctrl.api import Key
from pyctrl.client import Client, wait_until_gone
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, Pod
from tests.unit.cluster._pods import pod, until_phase
from tests.unit.cluster._volumes import bound


async def test_an_ephemeral_volume_of_a_pod(client: Client) -> None:
    """The claim of an ephemeral volume is created for the pod and deleted with it."""
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    await client.create(pod(volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]))
    await until_phase(client, "p", "Running")
    await bound(client, "p-scratch")
    await client.delete(Pod, Key("default", "p"))
    await wait_until_gone(client, PersistentVolumeClaim, Key("default", "p-scratch"))
