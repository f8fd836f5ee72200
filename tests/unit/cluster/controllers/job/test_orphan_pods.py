"""Pods of deleted Jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from pyctrl.api import ObjectMeta, is_deleting
from pyctrl.client import Client, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.batch.v1 import (
    Job,
    JobSpec,
)
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._workloads import NAMESPACE, key, template, until_pods

WORK = key("work")


INDEX = "batch.kubernetes.io/job-completion-index"


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster without a kubelet."""
    async with Cluster(random=Random(1), kubelet=False) as cluster, cluster.client() as client:
        yield client


async def create(client: Client, *, restart: str = "Never", **spec: Any) -> Job:
    """Create the Job."""
    made = template(restart_policy=restart)
    made.metadata.labels = {}
    return await client.create(
        Job(metadata=ObjectMeta(name=WORK.name, namespace=NAMESPACE), spec=JobSpec(template=made, **spec))
    )


async def active(client: Client, number: int) -> list[Pod]:
    """Wait until so many pods wait to run; returns them by index, or by name."""

    def are_there(pods: Any) -> bool:
        return len(_living(pods)) == number

    pods = _living(await until_pods(client, are_there, timeout=2000))
    return sorted(pods, key=lambda pod: (pod.metadata.annotations.get(INDEX, ""), pod.metadata.name))


def _living(pods: Any) -> list[Pod]:
    return [pod for pod in pods if pod.status.phase in ("Pending", "Running") and not is_deleting(pod)]


@pytest.mark.parametrize("propagation", ["Background", "Foreground", "Orphan"])
async def test_nothing_is_held_when_a_job_is_deleted(client: Client, propagation: Any) -> None:
    """Pods that nobody will count lose the finalizer: they go, or stay as orphans."""
    await create(client, parallelism=2, completions=2)
    await active(client, 2)
    await client.delete(Job, WORK, propagation=propagation)
    await wait_until_gone(client, Job, WORK)
    left = 2 if propagation == "Orphan" else 0
    pods = await until_pods(client, lambda pods: not any(p.metadata.finalizers for p in pods) and len(pods) == left)
    assert not any(pod.metadata.owner_references for pod in pods)
