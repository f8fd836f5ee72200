"""The conditions with which a Job finishes, in virtual time, compared with a kube-controller-manager 1.36."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.client import Client, MergePatch
from pyctrl.kinds.batch.v1 import (
    SuccessPolicy,
    SuccessPolicyRule,
)
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._jobs import active, create, ends, told_of
from tests.unit.cluster._workloads import set_phase


async def test_a_deadline_ends_a_job(client: Client) -> None:
    """Pods that run after activeDeadlineSeconds are deleted."""
    await create(client, active_deadline_seconds=60)
    await active(client, 1)
    began = asyncio.get_running_loop().time()
    job = await ends(client, "Failed")
    assert told_of(job)[-1] == ("Failed", "DeadlineExceeded")
    assert asyncio.get_running_loop().time() - began == pytest.approx(60, abs=2)


async def test_too_many_failed_indexes_end_a_job(client: Client) -> None:
    """More than maxFailedIndexes failed indexes fail the Job at once."""
    await create(
        client,
        completions=3,
        parallelism=3,
        completion_mode="Indexed",
        backoff_limit_per_index=0,
        max_failed_indexes=1,
    )
    for pod in (await active(client, 3))[:2]:
        await set_phase(client, pod, "Failed")
    assert told_of(await ends(client, "Failed"))[-1] == ("Failed", "MaxFailedIndexesExceeded")


async def test_a_success_policy_ends_a_job_early(client: Client) -> None:
    """One success among the named indexes suffices; the other pods are deleted and do not count as failed."""
    policy = SuccessPolicy(rules=[SuccessPolicyRule(succeeded_indexes="1-2", succeeded_count=1)])
    await create(client, completions=3, parallelism=3, completion_mode="Indexed", success_policy=policy)
    *_, two = await active(client, 3)
    await set_phase(client, two, "Succeeded")
    job = await ends(client, "Complete")
    assert told_of(job)[-1] == ("Complete", "SuccessPolicy")
    assert (job.status.succeeded, job.status.failed) == (1, None)
    await active(client, 0)


async def test_a_work_queue_ends_with_its_first_success(client: Client) -> None:
    """Without completions, no pod is created after a success, and the Job completes with its last pod."""
    await create(client, parallelism=3)
    one, two, three = await active(client, 3)
    await set_phase(client, one, "Succeeded")
    await set_phase(client, two, "Failed")
    await asyncio.sleep(120)
    assert [pod.metadata.name for pod in await active(client, 1)] == [three.metadata.name]
    await set_phase(client, three, "Succeeded")
    job = await ends(client, "Complete")
    assert (job.status.succeeded, job.status.failed) == (2, 1)


async def test_restarts_count_where_the_kubelet_tries_again(client: Client) -> None:
    """With restartPolicy OnFailure, container restarts count towards the limit."""
    await create(client, backoff_limit=2, restart="OnFailure")
    (pod,) = await active(client, 1)
    statuses = [{"name": "c", "image": "i", "imageID": "", "ready": True, "restartCount": 2, "state": {"running": {}}}]
    await client.status.patch(Pod, pod.key, MergePatch({"status": {"phase": "Running", "containerStatuses": statuses}}))
    assert told_of(await ends(client, "Failed"))[-1] == ("Failed", "BackoffLimitExceeded")
