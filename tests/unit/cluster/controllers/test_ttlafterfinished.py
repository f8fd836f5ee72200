"""Deletion of finished Jobs after their TTL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest_asyncio

from pyctrl.api import ObjectMeta, is_deleting
from pyctrl.client import Client, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.batch.v1 import (
    Job,
    JobSpec,
)
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._workloads import NAMESPACE, key, set_phase, template, until_pods

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


async def ends(client: Client, type: str) -> Job:
    """Wait until the Job has a condition, and everything is counted."""

    def is_done(job: Job) -> bool:
        return any(c.type == type and c.status == "True" for c in job.status.conditions)

    return await wait_for(client, Job, WORK, is_done, timeout=2000)


async def test_finished_jobs_go_when_their_time_is_up(client: Client) -> None:
    """ttlSecondsAfterFinished after the end the Job is deleted, and its pods with it."""
    await create(client, ttl_seconds_after_finished=100)
    (pod,) = await active(client, 1)
    await set_phase(client, pod, "Succeeded")
    job = await ends(client, "Complete")
    await wait_until_gone(client, Job, WORK, timeout=200)
    assert job.status.completion_time is not None
    await until_pods(client, lambda pods: not pods)
