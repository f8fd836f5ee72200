"""The order in which surplus pods are deleted."""

from __future__ import annotations

from pyctrl.client import Client, MergePatch
from pyctrl.kinds.apps.v1 import ReplicaSet
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._replicasets import WEB, create_set
from tests.unit.cluster._workloads import (
    set_phase,
    until_pods,
)


async def shrink(client: Client, replicas: int) -> list[Pod]:
    """Set the replicas of the ReplicaSet and wait; return the remaining pods."""
    await client.patch(ReplicaSet, WEB, MergePatch({"spec": {"replicas": replicas}}))
    return await until_pods(client, lambda pods: len(pods) == replicas)


async def test_the_least_useful_pods_go_first(client: Client) -> None:
    """Pending pods are deleted first, then unready ones, then those with the lowest deletion cost."""
    await create_set(client, 4)
    waiting, unready, cheap, dear = await until_pods(client, lambda pods: len(pods) == 4)
    for pod, is_ready in ((unready, False), (cheap, True), (dear, True)):
        await set_phase(client, pod, "Running", is_ready=is_ready)
    cost = {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "10"}}}
    await client.patch(Pod, dear.key, MergePatch(cost))
    for kept in ({unready.key, cheap.key, dear.key}, {cheap.key, dear.key}, {dear.key}):
        assert {pod.key for pod in await shrink(client, len(kept))} == kept
    assert waiting.key not in {pod.key for pod in await client.list(Pod)}
