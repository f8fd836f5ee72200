"""CronJobs in virtual time, which begins on a Thursday, the first of January 2026, at midnight."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from pyctrl import _clock
from pyctrl.api import ObjectMeta, set_controller_reference
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list
from pyctrl.cluster import Cluster, Kubelet
from pyctrl.kinds.batch.v1 import CronJob, CronJobSpec, Job, JobSpec, JobTemplateSpec
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._workloads import NAMESPACE, events_of, key, template

NIGHTLY = key("nightly")


SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster, where the pods of Jobs take ten seconds."""
    async with Cluster(random=Random(1), kubelet=Kubelet(job_seconds=10)) as cluster, cluster.client() as client:
        yield client


async def create(client: Client, schedule: str, **spec: Any) -> CronJob:
    """Create the CronJob."""
    job = JobTemplateSpec(
        metadata=ObjectMeta(labels={"of": "cron"}, annotations={"note": "n"}),
        spec=JobSpec(template=template(restart_policy="Never")),
    )
    made = CronJobSpec(schedule=schedule, job_template=job, **spec)
    return await client.create(CronJob(metadata=ObjectMeta(name=NIGHTLY.name, namespace=NAMESPACE), spec=made))


async def change(client: Client, **spec: Any) -> None:
    """Patch the CronJob's spec."""
    await client.patch(CronJob, NIGHTLY, MergePatch({"spec": spec}))


async def names(client: Client) -> list[str]:
    """Return the names of the Jobs, oldest first."""
    return sorted(job.metadata.name for job in await client.list(Job))


def minute(time: datetime) -> int:
    """Return the number that the Job of a time has in its name."""
    return int(time.timestamp()) // 60


async def test_a_job_is_made_when_it_is_time(client: Client) -> None:
    """The Job is named by its minute, is owned by the CronJob, and is in its status during and after the run."""
    began = _clock.now()
    await create(client, "*/5 * * * *")
    at = began.replace(second=0, microsecond=0) + timedelta(minutes=5)
    running = await wait_for(client, CronJob, NIGHTLY, lambda found: bool(found.status.active), timeout=400)
    assert timedelta(0) < _clock.now() - at < timedelta(seconds=1)
    name = f"nightly-{minute(at)}"
    assert [(each.kind, each.name) for each in running.status.active] == [("Job", name)]
    assert running.status.last_schedule_time == at
    job = await client.get(Job, key(name))
    assert job.metadata.labels["of"] == "cron"
    assert job.metadata.annotations == {"note": "n", SCHEDULED: "2026-01-01T00:05:00Z"}
    assert [ref.kind for ref in job.metadata.owner_references if ref.controller] == ["CronJob"]
    done = await wait_for(client, CronJob, NIGHTLY, lambda found: not found.status.active)
    assert done.status.last_successful_time is not None
    assert await events_of(client, "nightly") == [
        f"SuccessfulCreate: Created job {name} x1",
        f"SawCompletedJob: Saw completed job: {name}, condition: Complete x1",
    ]


async def test_history_is_limited(client: Client) -> None:
    """The newest finished Jobs are kept with their pods, the others deleted."""
    await create(client, "* * * * *", successful_jobs_history_limit=2)
    await asyncio.sleep(330)
    found = await names(client)
    assert found == [f"nightly-{minute(_clock.now()) - ago}" for ago in (1, 0)]
    await wait_for_list(client, Pod, lambda pods: len(pods) == 2)


@pytest.mark.parametrize(("policy", "jobs"), [("Allow", 3), ("Forbid", 1), ("Replace", 1)])
async def test_runs_that_overlap(policy: str, jobs: int) -> None:
    """By policy, Jobs run concurrently, the next one is skipped, or it replaces the running one."""
    cluster = Cluster(random=Random(1), kubelet=Kubelet(job_seconds=10_000))
    async with cluster, cluster.client() as client:
        await create(client, "*/2 * * * *", concurrency_policy=policy)
        await asyncio.sleep(6 * 60 + 5)
        found = await names(client)
        assert len(found) == jobs
        assert (f"nightly-{minute(_clock.now())}" in found) is (policy != "Forbid")
        events = " ".join(await events_of(client, "nightly"))
        assert ("JobAlreadyActive" in events, "SuccessfulDelete" in events) == (policy == "Forbid", policy == "Replace")


async def test_a_suspended_one_waits(client: Client) -> None:
    """A suspended CronJob starts no Job; after resuming, only the last missed run starts."""
    await create(client, "*/2 * * * *", suspend=True)
    await asyncio.sleep(11 * 60)
    assert await names(client) == []
    await change(client, suspend=False)
    await asyncio.sleep(10)
    assert await names(client) == [f"nightly-{minute(_clock.now()) - 1}"]


async def test_too_late_is_too_late(client: Client) -> None:
    """A run that missed its starting deadline is skipped."""
    await create(client, "*/6 * * * *", suspend=True, starting_deadline_seconds=60)
    await asyncio.sleep(9 * 60)
    await change(client, suspend=False)
    await asyncio.sleep(60)
    assert await names(client) == []
    await asyncio.sleep(3 * 60)
    assert len(await names(client)) == 1


async def test_times_are_those_of_the_zone(client: Client) -> None:
    """With the offset 5:45 of Kathmandu, full hours are at a quarter past UTC, and the annotation is in that zone."""
    await create(client, "0 * * * *", time_zone="Asia/Kathmandu")
    (job,) = await wait_for_list(client, Job, lambda jobs: len(jobs) == 1, timeout=1000)
    assert job.metadata.annotations[SCHEDULED] == "2026-01-01T06:00:00+05:45"


@pytest.mark.parametrize(
    ("spec", "event"),
    [
        ({"schedule": "61 * * * *"}, 'UnparseableSchedule: unparseable schedule: "61 * * * *" : Bad minute x1'),
        (
            {"schedule": "59 23 31 2 *"},
            "InvalidSchedule: invalid schedule: 59 23 31 2 * : time difference between two schedules is less than ",
        ),
        ({"timeZone": "Mars/Base"}, "UnknownTimeZone: invalid timeZone: "),
    ],
)
async def test_an_invalid_schedule_is_reported(spec: dict[str, str], event: str) -> None:
    """An invalid schedule or zone of a CronJob that an older server accepted causes an event and no Job."""
    async with Cluster(random=Random(1), kubelet=False) as cluster, cluster.client() as client:
        stored = json.loads((await create(client, "@yearly")).to_json())
        stored["spec"].update(spec)
        cluster.server.storage.collection("batch", "cronjobs").put(stored, None)
        await asyncio.sleep(300)
        assert await names(client) == []
        assert (await events_of(client, "nightly"))[0].startswith(event)


async def test_a_job_that_is_missing_is_forgotten(client: Client) -> None:
    """A deleted Job is removed from the active list."""
    await create(client, "*/5 * * * *")
    await wait_for(client, CronJob, NIGHTLY, lambda found: bool(found.status.active), timeout=400)
    (name,) = await names(client)
    await client.delete(Job, key(name), propagation="Background")
    await wait_for(client, CronJob, NIGHTLY, lambda found: not found.status.active)
    assert f"MissingJob: Active job went missing: {name} x1" in await events_of(client, "nightly")


async def test_a_job_made_by_hand_counts_when_it_is_done(client: Client) -> None:
    """The success of a Job of `kubectl create job --from` is recorded."""
    cron_job = await create(client, "@yearly")
    by_hand = Job(metadata=ObjectMeta(name="by-hand", namespace=NAMESPACE), spec=cron_job.spec.job_template.spec)
    set_controller_reference(cron_job, by_hand)
    await client.create(by_hand)
    done = await wait_for(client, CronJob, NIGHTLY, lambda found: found.status.last_successful_time is not None)
    assert done.status.last_schedule_time is None
