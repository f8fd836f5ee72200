"""The controllers of the embedded cluster together, in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import (
    ObjectMeta,
    controller_of,
)
from pyctrl.client import Client, wait_for_list
from pyctrl.cluster import Cluster
from pyctrl.kinds.apps.v1 import ReplicaSet, ReplicaSetSpec
from pyctrl.kinds.core.v1 import (
    Pod,
)
from pyctrl.kinds.meta.v1 import LabelSelector
from tests.unit.cluster._deployments import deployment, rolled_out, template


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        yield client


async def test_a_deployment_runs_its_pods(client: Client) -> None:
    """A Deployment has a ReplicaSet with the template's hash, running owned pods, and a status with counts."""
    await client.create(deployment(3))
    done = await rolled_out(client, "busybox", 3)
    assert done.metadata.annotations == {"note": "n", "deployment.kubernetes.io/revision": "1"}
    conditions = {condition.type: (condition.status, condition.reason) for condition in done.status.conditions}
    assert conditions == {
        "Available": ("True", "MinimumReplicasAvailable"),
        "Progressing": ("True", "NewReplicaSetAvailable"),
    }
    (replica_set,) = await client.list(ReplicaSet)
    assert replica_set.metadata.annotations["note"] == "n"
    pods = await client.list(Pod, labels={"app": "web"})
    assert {(ref.name if (ref := controller_of(pod)) else None) for pod in pods} == {replica_set.metadata.name}
    assert {pod.status.phase for pod in pods} == {"Running"}


async def test_pods_that_go_are_replaced_and_orphans_adopted(client: Client) -> None:
    """A ReplicaSet replaces deleted pods, and adopts matching orphans."""
    pod = Pod(metadata=ObjectMeta(name="orphan", namespace="default", labels={"app": "web"}), spec=template().spec)
    await client.create(pod)
    spec = ReplicaSetSpec(replicas=2, selector=LabelSelector(match_labels={"app": "web"}), template=template())
    await client.create(ReplicaSet(metadata=ObjectMeta(name="web", namespace="default"), spec=spec))
    two = await wait_for_list(
        client, Pod, lambda pods: len(pods) == 2 and all(p.status.phase == "Running" for p in pods)
    )
    assert "orphan" in {found.metadata.name for found in two}
    await client.delete(two[0])
    await wait_for_list(
        client, Pod, lambda pods: len(pods) == 2 and two[0].metadata.uid not in {p.metadata.uid for p in pods}
    )


async def test_a_seed_repeats_everything() -> None:
    """Two clusters with the same seed produce the same names and uids."""

    async def life() -> list[tuple[str, str]]:
        async with Cluster(random=Random(7)) as cluster, cluster.client() as client:
            await client.create(deployment(3))
            await rolled_out(client, "busybox", 3)
            return [(pod.metadata.name, pod.metadata.uid) for pod in await client.list(Pod)]

    assert await life() == await life()
