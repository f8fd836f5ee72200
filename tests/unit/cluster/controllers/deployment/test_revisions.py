"""Revisions of Deployments with a running kubelet, in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest
import pytest_asyncio

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, MergePatch, wait_for_list
from pyctrl.cluster import Cluster
from pyctrl.cluster._controllers.deployment.revisions import REVISION, replica_sets_to_clean_up
from pyctrl.cluster._controllers.deployment.rolling import Rollout
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec, ReplicaSet, ReplicaSetSpec, ReplicaSetStatus
from tests.unit.cluster._deployments import WEB, deployment, rolled_out, template


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        yield client


async def test_another_image_rolls_out(client: Client) -> None:
    """A second ReplicaSet takes over, the first is kept at zero, and a rollback reuses it."""
    await client.create(deployment(4))
    await rolled_out(client, "busybox", 4)
    await client.patch(Deployment, WEB, MergePatch({"spec": {"template": template("other").to_wire()}}))
    done = await rolled_out(client, "other", 4)
    assert done.metadata.annotations["deployment.kubernetes.io/revision"] == "2"
    old, new = sorted(await client.list(ReplicaSet), key=lambda found: found.spec.replicas or 0)
    assert (old.spec.replicas, new.spec.replicas) == (0, 4)
    await client.patch(Deployment, WEB, MergePatch({"spec": {"template": template("busybox").to_wire()}}))
    done = await rolled_out(client, "busybox", 4)
    assert done.metadata.annotations["deployment.kubernetes.io/revision"] == "3"
    assert {found.metadata.uid for found in await client.list(ReplicaSet)} == {old.metadata.uid, new.metadata.uid}


async def test_history_is_limited(client: Client) -> None:
    """Old ReplicaSets beyond revisionHistoryLimit are deleted."""
    await client.create(deployment(1, history=1))
    for image in ("busybox", "b", "c", "d"):
        await client.patch(Deployment, WEB, MergePatch({"spec": {"template": template(image).to_wire()}}))
        await rolled_out(client, image, 1)
    await wait_for_list(client, ReplicaSet, lambda left: len(left) == 2)


def old_set(revision: int, size: int = 0, pods: int = 0) -> ReplicaSet:
    """Make an old ReplicaSet with a desired size and pods."""
    return ReplicaSet(
        metadata=ObjectMeta(name=f"r{revision}", annotations={REVISION: str(revision)}),
        spec=ReplicaSetSpec(replicas=size),
        status=ReplicaSetStatus(replicas=pods),
    )


@pytest.mark.parametrize(("limit", "removed"), [(None, []), (5, []), (2, ["r1", "r9"]), (0, ["r1", "r9", "r11"])])
def test_the_oldest_empty_sets_beyond_the_limit_go(limit: int | None, removed: list[str]) -> None:
    """The history keeps the highest revisions, and every ReplicaSet that still has pods or wants some."""
    wanted = Deployment(spec=DeploymentSpec(revision_history_limit=limit))
    rollout = Rollout(wanted, None, [old_set(11), old_set(9), old_set(10, pods=1), old_set(1)])

    assert [found.metadata.name for found in replica_sets_to_clean_up(rollout)] == removed
    scaled_up = Rollout(wanted, None, [old_set(1, size=1), *rollout.old[:3]])
    assert "r1" not in [found.metadata.name for found in replica_sets_to_clean_up(scaled_up)]
