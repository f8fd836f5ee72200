"""Conditions of pods, and their creation and deletion by a controller."""

from __future__ import annotations

import asyncio

from pyctrl.client import Client, wait_for
from pyctrl.kinds.apps.v1 import (
    ReplicaSet,
)
from tests.unit.cluster._replicasets import WEB, create_set
from tests.unit.cluster._workloads import (
    run_all,
    until_pods,
)


async def test_a_pod_is_available_after_min_ready_seconds(client: Client) -> None:
    """A pod becomes available after minReadySeconds without any event."""
    await create_set(client, 1, min_ready_seconds=30)
    await until_pods(client, lambda pods: len(pods) == 1)
    await run_all(client)
    ready = await wait_for(client, ReplicaSet, WEB, lambda found: found.status.ready_replicas == 1)
    assert ready.status.available_replicas is None
    began = asyncio.get_running_loop().time()
    await wait_for(client, ReplicaSet, WEB, lambda found: found.status.available_replicas == 1, timeout=60)
    assert 28 <= asyncio.get_running_loop().time() - began <= 32
