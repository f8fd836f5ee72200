"""Pod failure policies of Jobs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest_asyncio

from pyctrl.api import ObjectMeta, is_deleting
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.batch.v1 import (
    Job,
    JobSpec,
    PodFailurePolicy,
    PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
)
from pyctrl.kinds.core.v1 import Pod, PodCondition
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


def told_of(job: Job) -> list[tuple[str, str | None]]:
    """Return the Job's conditions that are true, with their reasons."""
    return [(condition.type, condition.reason) for condition in job.status.conditions if condition.status == "True"]


async def test_a_failure_policy_decides_about_failures(client: Client) -> None:
    """A disruption does not count, exit code 42 fails the Job with the container named in the message."""
    rules = [
        PodFailurePolicyRule(
            action="Ignore",
            on_pod_conditions=[PodFailurePolicyOnPodConditionsPattern(type="DisruptionTarget", status="True")],
        ),
        PodFailurePolicyRule(
            action="FailJob",
            on_exit_codes=PodFailurePolicyOnExitCodesRequirement(container_name="c", operator="In", values=[42]),
        ),
    ]
    await create(
        client, completions=2, parallelism=2, backoff_limit=0, pod_failure_policy=PodFailurePolicy(rules=rules)
    )
    first, _ = await active(client, 2)
    await set_phase(client, first, "Failed")  # exit code 1: no rule fits
    assert told_of(await ends(client, "Failed"))[-1] == ("Failed", "BackoffLimitExceeded")
    await client.delete(Job, WORK, propagation="Background")
    await wait_until_gone(client, Job, WORK)
    await create(
        client, completions=2, parallelism=2, backoff_limit=0, pod_failure_policy=PodFailurePolicy(rules=rules)
    )
    disrupted, other = await active(client, 2)
    disruption = PodCondition(type="DisruptionTarget", status="True").to_wire()
    failed = {"phase": "Failed", "conditions": [disruption]}
    await client.status.patch(Pod, disrupted.key, MergePatch({"status": failed}))
    await asyncio.sleep(60)
    assert (await client.get(Job, WORK)).status.failed is None
    await set_phase(client, other, "Failed", exit_code=42)
    job = await ends(client, "Failed")
    name = f"default/{other.metadata.name}"
    message = f"Container c for pod {name} failed with exit code 42 matching FailJob rule at index 1"
    assert [c.message for c in job.status.conditions] == [message, message]
