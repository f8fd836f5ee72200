"""Pods of deleted Jobs."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.api import ObjectMeta, set_controller_reference
from pyctrl.client import Client, wait_for, wait_until_gone
from pyctrl.cluster._controllers.job.view import FINALIZER
from pyctrl.kinds.batch.v1 import (
    Job,
)
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._jobs import WORK, active, create, ends
from tests.unit.cluster._workloads import NAMESPACE, key, set_phase, template, until_pods


@pytest.mark.parametrize("propagation", ["Background", "Foreground", "Orphan"])
async def test_nothing_is_held_when_a_job_is_deleted(client: Client, propagation: Any) -> None:
    """Pods of a deleted Job lose the tracking finalizer, also as orphans."""
    await create(client, parallelism=2, completions=2)
    await active(client, 2)
    await client.delete(Job, WORK, propagation=propagation)
    await wait_until_gone(client, Job, WORK)
    left = 2 if propagation == "Orphan" else 0
    pods = await until_pods(client, lambda pods: not any(p.metadata.finalizers for p in pods) and len(pods) == left)
    assert not any(pod.metadata.owner_references for pod in pods)


async def test_a_pod_that_comes_to_a_finished_job_is_not_held(client: Client) -> None:
    """Nothing counts a pod of a Job that has finished, so its tracking finalizer goes."""
    await create(client)
    (pod,) = await active(client, 1)
    await set_phase(client, pod, "Succeeded")
    job = await ends(client, "Complete")
    late = Pod(metadata=ObjectMeta(name="late", namespace=NAMESPACE, finalizers=[FINALIZER]), spec=template().spec)
    set_controller_reference(job, late)
    await client.create(late)
    await wait_for(client, Pod, key("late"), lambda found: not found.metadata.finalizers)
