"""The order in which surplus pods are deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest_asyncio

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, MergePatch
from pyctrl.cluster import Cluster
from pyctrl.kinds.apps.v1 import ReplicaSet, ReplicaSetSpec
from pyctrl.kinds.core.v1 import Pod
from pyctrl.kinds.meta.v1 import LabelSelector
from tests.unit.cluster._workloads import (
    LABELS,
    NAMESPACE,
    key,
    set_phase,
    template,
    until_pods,
)

WEB = key("web")


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster without a kubelet."""
    async with Cluster(random=Random(1), kubelet=False) as cluster, cluster.client() as client:
        yield client


async def create_set(client: Client, replicas: int, **spec: Any) -> None:
    """Create a ReplicaSet."""
    made = ReplicaSetSpec(replicas=replicas, selector=LabelSelector(match_labels=LABELS), template=template(), **spec)
    await client.create(ReplicaSet(metadata=ObjectMeta(name=WEB.name, namespace=NAMESPACE), spec=made))


async def shrink(client: Client, replicas: int) -> list[Pod]:
    """Give the ReplicaSet another size and wait until it is so; returns what is left."""
    await client.patch(ReplicaSet, WEB, MergePatch({"spec": {"replicas": replicas}}))
    return await until_pods(client, lambda pods: len(pods) == replicas)


async def test_the_least_useful_pods_go_first(client: Client) -> None:
    """Pods that wait, then those that are not ready, then those whose deletion costs least."""
    await create_set(client, 4)
    waiting, unready, cheap, dear = await until_pods(client, lambda pods: len(pods) == 4)
    for pod, is_ready in ((unready, False), (cheap, True), (dear, True)):
        await set_phase(client, pod, "Running", is_ready=is_ready)
    cost = {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "10"}}}
    await client.patch(Pod, dear.key, MergePatch(cost))
    for kept in ({unready.key, cheap.key, dear.key}, {cheap.key, dear.key}, {dear.key}):
        assert {pod.key for pod in await shrink(client, len(kept))} == kept
    assert waiting.key not in {pod.key for pod in await client.list(Pod)}
