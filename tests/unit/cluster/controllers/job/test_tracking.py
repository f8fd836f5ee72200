"""Counting of the finished pods of a Job, in virtual time, compared with a kube-controller-manager 1.36."""

from __future__ import annotations

from pyctrl.client import Client, wait_for
from pyctrl.kinds.batch.v1 import (
    Job,
)
from tests.unit.cluster._jobs import WORK, active, create, ends
from tests.unit.cluster._workloads import events_of, pods_of, set_phase

FINALIZER = "batch.kubernetes.io/job-tracking"


async def test_pods_run_until_enough_have_succeeded(client: Client) -> None:
    """At most parallelism pods run at a time, each is counted once, and the Job completes."""
    await create(client, completions=3, parallelism=2)
    first, second = await active(client, 2)
    assert first.metadata.finalizers == [FINALIZER]
    await set_phase(client, first, "Succeeded")
    for pod in await active(client, 2):
        await set_phase(client, pod, "Succeeded")
    job = await ends(client, "Complete")
    status = job.status.to_wire()
    conditions, start, end = status.pop("conditions"), status.pop("startTime"), status.pop("completionTime")
    assert status == {"succeeded": 3, "terminating": 0, "uncountedTerminatedPods": {}, "ready": 0}
    assert start <= end
    assert [(c["type"], c["reason"], c["message"]) for c in conditions] == [
        (name, "CompletionsReached", "Reached expected number of succeeded pods")
        for name in ("SuccessCriteriaMet", "Complete")
    ]
    assert not any(pod.metadata.finalizers for pod in await pods_of(client))
    assert (await events_of(client, "work"))[-1] == "Completed: Job completed x1"
    assert second.metadata.labels["batch.kubernetes.io/job-name"] == "work"


async def test_a_pod_that_is_deleted_counts_as_failed(client: Client) -> None:
    """The next pod waits for the backoff as after any failure."""
    await create(client)
    (pod,) = await active(client, 1)
    await client.delete(pod)
    await wait_for(client, Job, WORK, lambda job: job.status.failed == 1 and job.status.active is None)
    (again,) = await active(client, 1)
    assert again.metadata.uid != pod.metadata.uid
