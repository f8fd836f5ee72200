"""Jobs in virtual time; the tests patch pod status in place of a kubelet.

The expected results were verified against a kube-controller-manager 1.36.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.cluster import Cluster
from pyctrl.cluster._controllers.job.controller import JobSync
from pyctrl.cluster._controllers.job.pod_failures import BackoffRecord
from pyctrl.cluster._controllers.job.view import JobView
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.errors import Conflict
from pyctrl.kinds.batch.v1 import (
    Job,
    JobSpec,
)
from pyctrl.kinds.core.v1 import Pod
from pyctrl.kinds.meta.v1 import LabelSelector
from tests.unit.cluster._jobs import WORK, active, create, ends, told_of
from tests.unit.cluster._workloads import NAMESPACE, events_of, key, pods_of, set_phase, template, until_pods

FINALIZER = "batch.kubernetes.io/job-tracking"


async def change(client: Client, **spec: Any) -> None:
    """Patch the Job's spec."""
    await client.patch(Job, WORK, MergePatch({"spec": spec}))


async def test_failures_are_tried_again_slower_and_slower(client: Client) -> None:
    """The next pod is created 10 s after the first failure and 20 s after the second, up to the limit."""
    await create(client, backoff_limit=2)
    waits = []
    for _ in range(2):
        (pod,) = await active(client, 1)
        await set_phase(client, pod, "Failed")
        began = asyncio.get_running_loop().time()
        await active(client, 0)
        await active(client, 1)
        waits.append(round(asyncio.get_running_loop().time() - began))
    (pod,) = await active(client, 1)
    await set_phase(client, pod, "Failed")
    job = await ends(client, "Failed")
    assert waits == [10, 20]
    assert job.status.failed == 3
    assert told_of(job) == [("FailureTarget", "BackoffLimitExceeded"), ("Failed", "BackoffLimitExceeded")]
    message = "BackoffLimitExceeded: Job has reached the specified backoff limit x1"
    assert (await events_of(client, "work"))[-1] == message


async def test_a_job_that_fails_takes_its_other_pods_along(client: Client) -> None:
    """A failing Job deletes its running pods, which count as failed."""
    await create(client, completions=3, parallelism=3, backoff_limit=0)
    (pod, *_) = await active(client, 3)
    await set_phase(client, pod, "Failed")
    job = await ends(client, "Failed")
    assert (job.status.failed, job.status.active) == (3, None)
    await until_pods(client, lambda pods: [p.metadata.name for p in pods] == [pod.metadata.name])


async def test_each_index_can_have_failures_of_its_own(client: Client) -> None:
    """An index fails after its own limit while the others continue; in the end the Job fails."""
    await create(client, completions=2, parallelism=2, completion_mode="Indexed", backoff_limit_per_index=1)
    zero, one = await active(client, 2)
    await set_phase(client, one, "Failed")
    zero, again = await active(client, 2)
    assert again.metadata.annotations["batch.kubernetes.io/job-index-failure-count"] == "1"
    await set_phase(client, again, "Failed")
    await wait_for(client, Job, WORK, lambda job: job.status.failed_indexes == "1")
    await set_phase(client, zero, "Succeeded")
    job = await ends(client, "Failed")
    assert told_of(job)[-1] == ("Failed", "FailedIndexes")
    assert (job.status.completed_indexes, job.status.failed_indexes, job.status.failed) == ("0", "1", 2)


async def test_a_suspended_job_has_no_pods(client: Client) -> None:
    """Suspending deletes the pods without counting them; resuming restarts the deadline."""
    await create(client, suspend=True)
    held = await ends(client, "Suspended")
    assert (held.status.start_time, await pods_of(client)) == (None, [])
    await change(client, suspend=False)
    await wait_for(client, Job, WORK, lambda job: job.status.active == 1)
    await change(client, suspend=True)
    await active(client, 0)
    held = await ends(client, "Suspended")
    assert (held.status.failed, held.status.start_time) == (None, None)
    assert [line for line in await events_of(client, "work") if "uspended" in line or "esumed" in line] == [
        "Suspended: Job suspended x2",
        "Resumed: Job resumed x1",
    ]


async def test_a_suspended_job_keeps_a_start_time_that_was_set_later(client: Client) -> None:
    """The controller clears the start time when it suspends a Job, and leaves it alone afterwards."""
    await create(client, suspend=True)
    await ends(client, "Suspended")
    await client.status.patch(Job, WORK, MergePatch({"status": {"startTime": "2026-01-01T00:00:00Z"}}))
    await change(client, parallelism=2)
    await asyncio.sleep(5)
    assert (await client.get(Job, WORK)).status.start_time is not None


async def test_a_replacement_can_wait_for_the_end(client: Client) -> None:
    """With podReplacementPolicy Failed, a terminating pod is replaced only after it has failed."""
    await create(client, pod_replacement_policy="Failed")
    (pod,) = await active(client, 1)
    await set_phase(client, pod, "Running")
    await client.patch(Pod, pod.key, MergePatch({"metadata": {"finalizers": [FINALIZER, "x.io/f"]}}))
    await client.delete(pod)
    await asyncio.sleep(120)
    assert len(await pods_of(client)) == 1
    assert (await client.get(Job, WORK)).status.terminating == 1
    await set_phase(client, pod, "Failed")
    await active(client, 1)


async def test_pods_without_a_controller_are_adopted_and_released(client: Client) -> None:
    """A matching pod is adopted with the finalizer; a pod that no longer matches is released."""
    labels = {"job": "mine"}
    spec = template(restart_policy="Never").spec
    await client.create(Pod(metadata=ObjectMeta(name="orphan", namespace=NAMESPACE, labels=labels), spec=spec))
    made = template(restart_policy="Never")
    made.metadata.labels = labels
    selector = LabelSelector(match_labels=labels)
    job = Job(
        metadata=ObjectMeta(name=WORK.name, namespace=NAMESPACE),
        spec=JobSpec(template=made, manual_selector=True, selector=selector, parallelism=1, completions=1),
    )
    await client.create(job)
    orphan = await wait_for(client, Pod, key("orphan"), lambda pod: bool(pod.metadata.owner_references))
    assert orphan.metadata.finalizers == [FINALIZER]
    await client.patch(Pod, orphan.key, MergePatch({"metadata": {"labels": {"job": "yours"}}}))
    free = await wait_for(client, Pod, key("orphan"), lambda pod: not pod.metadata.owner_references)
    assert free.metadata.finalizers == []


async def test_jobs_of_others_are_left_alone(client: Client) -> None:
    """A Job with another managedBy is ignored."""
    await create(client, managed_by="example.com/other")
    await asyncio.sleep(30)
    assert (await pods_of(client), (await client.get(Job, WORK)).status.to_wire()) == ([], {})


async def test_the_simulated_kubelet_completes_jobs() -> None:
    """On simulated nodes a Job completes."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        await create(client, completions=4, parallelism=2)
        job = await ends(client, "Complete")
        assert job.status.succeeded == 4
        assert job.status.start_time is not None
        assert job.status.completion_time is not None
        assert job.status.completion_time - job.status.start_time < timedelta(minutes=1)


async def test_a_finished_job_makes_no_more_pods(client: Client) -> None:
    """The pods of a finished Job may be deleted: none takes their place."""
    await create(client)
    (pod,) = await active(client, 1)
    await set_phase(client, pod, "Succeeded")
    await ends(client, "Complete")
    await client.delete(pod)
    await asyncio.sleep(60)
    assert await pods_of(client) == []


async def test_a_status_is_not_written_for_a_job_that_changed_unseen() -> None:
    """Counts that were computed from an older state of the Job are a conflict: pods would be counted twice."""
    async with Cluster(random=Random(1), controllers=False, kubelet=False) as cluster, cluster.client() as client:
        stale = await create(client, parallelism=0)
        await client.patch(Job, WORK, MergePatch({"metadata": {"labels": {"changed": "yes"}}}))
        recorder = LegacyEventRecorder(client, "job-controller")
        sync = JobSync(CachedClient(Cache(client), client), recorder, JobView(stale, []), BackoffRecord())

        with pytest.raises(Conflict):
            await sync.sync()
