"""Protection of claims in use, in virtual time."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.api import (
    Key,
    ObjectMeta,
    Quantity,
)
from pyctrl.client import Client, wait_for, wait_until_gone
from pyctrl.kinds.core.v1 import (
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimVolumeSource,
    Pod,
    Volume,
    VolumeResourceRequirements,
)
from tests.unit.cluster._deployments import template


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
async def test_a_claim_goes_when_no_pod_uses_it(client: Client, phase: str) -> None:
    """A deleted claim stays while a pod uses it, even a finished one; an unused claim is deleted at once."""
    for name in ("used", "free"):
        await client.create(
            PersistentVolumeClaim(
                metadata=ObjectMeta(name=name, namespace="default"),
                spec=PersistentVolumeClaimSpec(
                    access_modes=["ReadWriteOnce"],
                    resources=VolumeResourceRequirements(requests={"storage": Quantity("1Gi")}),
                ),
            )
        )
    pod = Pod(metadata=ObjectMeta(name="user", namespace="default"), spec=template().spec)
    source = PersistentVolumeClaimVolumeSource(claim_name="used")
    pod.spec.volumes = [Volume(name="v", persistent_volume_claim=source)]
    if phase == "Succeeded":
        pod.spec.restart_policy, pod.spec.containers[0].command = "Never", ["true"]
    await client.create(pod)
    await wait_for(client, Pod, pod.key, lambda found: found.status.phase == phase)
    for name in ("used", "free"):
        await client.delete(PersistentVolumeClaim, Key("default", name))
    await wait_until_gone(client, PersistentVolumeClaim, Key("default", "free"))
    await asyncio.sleep(60)
    assert await client.find(PersistentVolumeClaim, Key("default", "used")) is not None
    await client.delete(pod)
    await wait_until_gone(client, PersistentVolumeClaim, Key("default", "used"))
