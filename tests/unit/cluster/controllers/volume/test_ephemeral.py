"""Ephemeral volumes of pods, in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import Key
from pyctrl.client import Client, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, Pod
from tests.unit.cluster._pods import pod, until_phase


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        yield client


async def bound(client: Client, name: str = "c") -> PersistentVolumeClaim:
    """Wait until a claim is bound."""
    return await wait_for(
        client, PersistentVolumeClaim, Key("default", name), lambda found: found.status.phase == "Bound"
    )


async def test_an_ephemeral_volume_of_a_pod(client: Client) -> None:
    """A pod's own claim is made for it, and goes with it."""
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    await client.create(pod(volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]))
    await until_phase(client, "p", "Running")
    await bound(client, "p-scratch")
    await client.delete(Pod, Key("default", "p"))
    await wait_until_gone(client, PersistentVolumeClaim, Key("default", "p-scratch"))
