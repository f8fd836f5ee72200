"""Creation and deletion of the pods of a Job, in virtual time, compared with a kube-controller-manager 1.36."""

from __future__ import annotations

from typing import Any

from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.kinds.batch.v1 import (
    Job,
)
from tests.unit.cluster._jobs import INDEX, WORK, active, create, ends
from tests.unit.cluster._workloads import set_phase


async def change(client: Client, **spec: Any) -> None:
    """Patch the Job's spec."""
    await client.patch(Job, WORK, MergePatch({"spec": spec}))


async def test_each_index_gets_a_pod_of_its_own(client: Client) -> None:
    """The index is in name, hostname, label, annotation and environment; a failed index is retried."""
    await create(client, completions=3, parallelism=3, completion_mode="Indexed")
    zero, one, two = await active(client, 3)
    assert one.metadata.generate_name == "work-1-"
    assert (one.spec.hostname, one.metadata.labels[INDEX], one.metadata.annotations[INDEX]) == ("work-1", "1", "1")
    variable = one.spec.containers[0].env[0]
    field = variable.value_from.field_ref.field_path if variable.value_from and variable.value_from.field_ref else ""
    assert (variable.name, field) == ("JOB_COMPLETION_INDEX", f"metadata.labels['{INDEX}']")
    await set_phase(client, zero, "Succeeded")
    await set_phase(client, two, "Succeeded")
    await set_phase(client, one, "Failed")
    half = await wait_for(
        client, Job, WORK, lambda job: job.status.completed_indexes == "0,2" and job.status.failed == 1
    )
    assert half.status.succeeded == 2
    (again,) = await active(client, 1)
    assert again.metadata.annotations[INDEX] == "1"
    await set_phase(client, again, "Succeeded")
    assert (await ends(client, "Complete")).status.completed_indexes == "0-2"


async def test_less_parallelism_deletes_pods_without_blame(client: Client) -> None:
    """Surplus pods are deleted and do not count as failed."""
    await create(client, completions=5, parallelism=3)
    await active(client, 3)
    await change(client, parallelism=1)
    await active(client, 1)
    job = await wait_for(client, Job, WORK, lambda job: job.status.active == 1 and job.status.terminating == 0)
    assert job.status.failed is None


async def test_an_indexed_job_can_grow_and_shrink(client: Client) -> None:
    """Completions can change together with parallelism; the pods of removed indexes are deleted."""
    await create(client, completions=3, parallelism=3, completion_mode="Indexed")
    await active(client, 3)
    await change(client, completions=2, parallelism=2)
    assert [pod.metadata.annotations[INDEX] for pod in await active(client, 2)] == ["0", "1"]
    await change(client, completions=4, parallelism=4)
    assert [pod.metadata.annotations[INDEX] for pod in await active(client, 4)] == ["0", "1", "2", "3"]
