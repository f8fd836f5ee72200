"""Helpers of the tests of Jobs."""

from __future__ import annotations

from typing import Any

from pyctrl.api import ObjectMeta, is_deleting
from pyctrl.client import Client, wait_for
from pyctrl.kinds.batch.v1 import (
    Job,
    JobSpec,
)
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._workloads import NAMESPACE, key, template, until_pods

WORK = key("work")


INDEX = "batch.kubernetes.io/job-completion-index"


async def create(client: Client, *, restart: str = "Never", **spec: Any) -> Job:
    """Create the Job."""
    made = template(restart_policy=restart)
    made.metadata.labels = {}
    return await client.create(
        Job(metadata=ObjectMeta(name=WORK.name, namespace=NAMESPACE), spec=JobSpec(template=made, **spec))
    )


async def active(client: Client, number: int) -> list[Pod]:
    """Wait for a number of pending pods; return them by index or by name."""

    def are_there(pods: Any) -> bool:
        return len(_living(pods)) == number

    pods = _living(await until_pods(client, are_there, timeout=2000))
    return sorted(pods, key=lambda pod: (pod.metadata.annotations.get(INDEX, ""), pod.metadata.name))


def _living(pods: Any) -> list[Pod]:
    return [pod for pod in pods if pod.status.phase in ("Pending", "Running") and not is_deleting(pod)]


async def ends(client: Client, type: str) -> Job:
    """Wait until the Job has a condition and every pod is counted."""

    def is_done(job: Job) -> bool:
        return any(c.type == type and c.status == "True" for c in job.status.conditions)

    return await wait_for(client, Job, WORK, is_done, timeout=2000)


def told_of(job: Job) -> list[tuple[str, str | None]]:
    """Return the Job's conditions that are true, with their reasons."""
    return [(condition.type, condition.reason) for condition in job.status.conditions if condition.status == "True"]
