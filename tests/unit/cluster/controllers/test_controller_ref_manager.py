"""Adoption and release of pods."""

from __future__ import annotations

from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._replicasets import create_set
from tests.unit.cluster._workloads import (
    until_pods,
)


async def test_pods_that_fit_no_more_are_released_and_replaced(client: Client) -> None:
    """A pod that no longer matches is released and replaced."""
    await create_set(client, 1)
    (pod,) = await until_pods(client, lambda pods: len(pods) == 1)
    await client.patch(Pod, pod.key, MergePatch({"metadata": {"labels": {"app": "debug"}}}))
    await until_pods(client, lambda pods: len(pods) == 2)
    freed = await wait_for(client, Pod, pod.key, lambda found: not found.metadata.owner_references)
    assert freed.metadata.labels["app"] == "debug"
