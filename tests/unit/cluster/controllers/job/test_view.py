"""The conditions with which a Job finishes, in virtual time, compared with a kube-controller-manager 1.36."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, MergePatch
from pyctrl.cluster._controllers.job.controller import COMPLETIONS_REACHED
from pyctrl.cluster._controllers.job.tracking import enact_job_finished, track_finished_pods
from pyctrl.cluster._controllers.job.view import FINALIZER, JobView, is_finished
from pyctrl.kinds.batch.v1 import (
    Job,
    JobSpec,
    JobStatus,
    SuccessPolicy,
    SuccessPolicyRule,
    UncountedTerminatedPods,
)
from pyctrl.kinds.core.v1 import Pod, PodStatus
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


def pod(name: str, phase: str) -> Pod:
    """Make a pod that is not counted yet."""
    metadata = ObjectMeta(name=name, uid=f"uid-{name}", finalizers=[FINALIZER])
    return Pod(metadata=metadata, status=PodStatus(phase=phase))


@pytest.mark.parametrize(("limit", "failed", "ends"), [(0, 0, False), (0, 1, True), (2, 2, False), (2, 3, True)])
def test_a_job_fails_with_the_first_failure_beyond_its_limit(limit: int, failed: int, ends: bool) -> None:
    """backoffLimit is the number of retries: zero allows no failure, two allow two."""
    job = Job(spec=JobSpec(backoff_limit=limit))

    found = JobView(job, [pod(f"p{number}", "Failed") for number in range(failed)]).finished_condition()

    assert (found is not None) is ends


def test_a_pod_that_was_recorded_counts_once() -> None:
    """A pod whose uid is in the status, but which still has its finalizer, is not counted again after a restart."""
    recorded = UncountedTerminatedPods(succeeded=["uid-a"], failed=["uid-b"])
    job = Job(spec=JobSpec(), status=JobStatus(uncounted_terminated_pods=recorded))

    view = JobView(job, [pod("a", "Succeeded"), pod("b", "Failed"), pod("c", "Failed")])

    assert (view.succeeded, view.failed) == (1, 2)
    track_finished_pods(view, None)
    assert recorded == UncountedTerminatedPods(succeeded=["uid-a"], failed=["uid-b", "uid-c"])


@pytest.mark.parametrize("is_suspended", [True, False])
def test_a_suspended_job_has_no_deadline(is_suspended: bool) -> None:
    """activeDeadlineSeconds do not run while a Job is suspended."""
    spec = JobSpec(active_deadline_seconds=60, suspend=is_suspended)
    job = Job(spec=spec, status=JobStatus(start_time=datetime(2000, 1, 1, tzinfo=UTC)))

    assert (JobView(job, []).finished_condition() is None) is is_suspended


def test_a_job_is_complete_when_no_pod_is_active() -> None:
    """Enough successes do not complete a Job while other pods run."""
    view = JobView(Job(spec=JobSpec(completions=1)), [pod("a", "Succeeded")])

    assert (view.is_complete(1), view.is_complete(0)) == (False, True)


def test_a_job_is_final_when_its_pods_are_counted_and_gone() -> None:
    """The final condition waits for terminating pods: they may still do work."""
    job = Job(spec=JobSpec())

    assert not enact_job_finished(job, COMPLETIONS_REACHED, terminating=1)
    assert not is_finished(job)
    assert enact_job_finished(job, COMPLETIONS_REACHED, terminating=0)
    assert is_finished(job)
