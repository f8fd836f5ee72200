"""Deletion of finished Jobs after their TTL."""

from __future__ import annotations

from pyctrl.client import Client, wait_until_gone
from pyctrl.kinds.batch.v1 import (
    Job,
)
from tests.unit.cluster._jobs import WORK, active, create, ends
from tests.unit.cluster._workloads import set_phase, until_pods


async def test_finished_jobs_go_when_their_time_is_up(client: Client) -> None:
    """A finished Job and its pods are deleted after ttlSecondsAfterFinished."""
    await create(client, ttl_seconds_after_finished=100)
    (pod,) = await active(client, 1)
    await set_phase(client, pod, "Succeeded")
    job = await ends(client, "Complete")
    await wait_until_gone(client, Job, WORK, timeout=200)
    assert job.status.completion_time is not None
    await until_pods(client, lambda pods: not pods)
