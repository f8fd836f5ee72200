"""Deletion of finished Jobs after their TTL."""

from __future__ import annotations

import asyncio
from typing import Any

from pyctrl import _clock
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import Client, wait_until_gone
from pyctrl.cluster._controllers.ttlafterfinished import TTLAfterFinishedReconciler
from pyctrl.controller import Request
from pyctrl.kinds.batch.v1 import (
    Job,
    JobCondition,
)
from tests.unit.cluster._jobs import WORK, active, create, ends
from tests.unit.cluster._workloads import set_phase, until_pods


async def test_finished_jobs_go_when_their_time_is_up(client: Client) -> None:
    """A finished Job and its pods are deleted after ttlSecondsAfterFinished."""
    await create(client, ttl_seconds_after_finished=100)
    (pod,) = await active(client, 1)
    await set_phase(client, pod, "Succeeded")
    job = await ends(client, "Complete")
    await asyncio.sleep(90)
    assert await client.find(Job, WORK) is not None
    await wait_until_gone(client, Job, WORK, timeout=200)
    assert job.status.completion_time is not None
    await until_pods(client, lambda pods: not pods)


class Stale(CachedClient):
    """A cached client whose cache has a state that the server has no longer."""

    def __init__(self, client: Client, seen: Job) -> None:
        super().__init__(Cache(client), client)
        self.seen = seen

    async def find(self, kind: Any, key: Any) -> Any:
        """Return the stale state."""
        return self.seen


async def test_a_new_job_of_the_name_is_left_alone(client: Client) -> None:
    """A Job that took the name of a finished one is not deleted in its place."""
    await create(client, ttl_seconds_after_finished=0, suspend=True)
    stale = await client.get(Job, WORK)
    stale.status.conditions = [JobCondition(type="Complete", status="True", last_transition_time=_clock.now())]
    await client.delete(Job, WORK, propagation="Background")
    await wait_until_gone(client, Job, WORK)
    present = await create(client, suspend=True)
    reconciler = TTLAfterFinishedReconciler()
    reconciler.client = Stale(client, stale)

    assert await reconciler.reconcile(Request.of(stale)) is None
    left = await client.get(Job, WORK)
    assert (left.metadata.uid, left.metadata.deletion_timestamp) == (present.metadata.uid, None)
