"""Protection of bound volumes, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest_asyncio

from pyctrl.api import Key
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        yield client


def claim(name: str = "c", size: str = "1Gi", *, annotations: dict[str, str] | None = None, **spec: Any) -> Any:
    """Make a claim, of no class unless one is given."""
    metadata = {"name": name, "namespace": "default", "annotations": annotations or {}}
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, "storageClassName": ""}
    return PersistentVolumeClaim.from_wire({"metadata": metadata, "spec": {**asked, **spec}})


def volume(name: str, size: str, *, labels: dict[str, str] | None = None, **spec: Any) -> PersistentVolume:
    """Make a volume by hand."""
    given = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, "hostPath": {"path": "/x"}}
    return PersistentVolume.from_wire({"metadata": {"name": name, "labels": labels or {}}, "spec": {**given, **spec}})


async def bound(client: Client, name: str = "c") -> PersistentVolumeClaim:
    """Wait until a claim is bound."""
    return await wait_for(
        client, PersistentVolumeClaim, Key("default", name), lambda found: found.status.phase == "Bound"
    )


async def test_a_bound_volume_is_protected(client: Client) -> None:
    """It stays when it is deleted, until its claim goes; one that is torn out leaves its claim lost."""
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
