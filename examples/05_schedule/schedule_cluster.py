"""The CronJob operator on an API server in virtual time, and Jobs that end after a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from random import Random
from typing import Any

from cronjob.reconciler import CronJobReconciler
from cronjob.v1 import CronJob
from pyctrl.api import Key, now
from pyctrl.client import Client, MergePatch, merge_from
from pyctrl.cluster import Cluster
from pyctrl.controller import Builder, Reconciler, Request, Result
from pyctrl.kinds.batch.v1 import Job, JobCondition
from pyctrl.manager import Manager
from pyctrl.manifests import definition
from pyctrl.program import install_definitions

KEY = Key("default", "hello")


class Jobs(Reconciler[Job]):
    """Ends each Job some time after its start, in place of pods and the Job controller."""

    def __init__(self) -> None:
        self.duration, self.condition = timedelta(seconds=30), "Complete"

    async def reconcile(self, request: Request) -> Result | None:
        """End the Job when it is time."""
        job = await self.client.find(Job, request.key)
        if job is None or job.status.conditions:
            return None
        start = job.metadata.creation_timestamp or now()
        if now() < start + self.duration:
            return Result.after(start + self.duration - now())
        await self.client.status.patch(self.ended(job, start), merge_from(job))
        return None

    def ended(self, job: Job, start: datetime) -> Job:
        """Return a Job with the status of one that has ended."""
        ended = job.deep_copy()
        is_complete = self.condition == "Complete"
        types = ("SuccessCriteriaMet", "Complete") if is_complete else ("FailureTarget", "Failed")
        ended.status.start_time, ended.status.succeeded = start, int(is_complete)
        ended.status.completion_time = now() if is_complete else None
        ended.status.conditions = [JobCondition(type=each, status="True", last_transition_time=now()) for each in types]
        return ended


@asynccontextmanager
async def api_server() -> AsyncIterator[Cluster]:
    """An API server with the definition of v1. Nodes are left out: they would write every few seconds."""
    async with Cluster(random=Random(1), controllers=False, kubelet=False) as cluster, cluster.client() as client:
        await install_definitions(client, [definition(CronJob)])
        yield cluster


@asynccontextmanager
async def operator(cluster: Cluster, jobs: Jobs) -> AsyncIterator[None]:
    """Run the operator, and the Jobs, until the block ends."""
    async with Manager(cluster.config, random=Random(2)) as manager:
        Builder(manager).build(CronJobReconciler())
        Builder(manager).build(jobs)
        async with manager.running():
            yield


def cron_job(schedule: str = "0 * * * *", **spec: Any) -> CronJob:
    """Return a CronJob with fields of the spec by their JSON names."""
    pod = {"containers": [{"name": "hello", "image": "busybox"}], "restartPolicy": "OnFailure"}
    template = {"metadata": {"labels": {"app": "hello"}}, "spec": {"template": {"spec": pod}}}
    wire = {"schedule": schedule, "jobTemplate": template, **spec}
    return CronJob.from_wire(
        {
            "apiVersion": CronJob.gvk.api_version,
            "kind": "CronJob",
            "metadata": {"name": KEY.name, "namespace": KEY.namespace},
            "spec": wire,
        }
    )


async def change(client: Client, **spec: Any) -> None:
    """Change the spec of the CronJob, by JSON names."""
    await client.patch(CronJob, KEY, MergePatch({"spec": spec}))


async def runs(client: Client) -> Sequence[tuple[str, str]]:
    """Return the scheduled time and the time of creation of each Job that exists."""
    scheduled_at = "batch.tutorial.kubebuilder.io/scheduled-at"
    found = [(job.metadata.annotations[scheduled_at], job.metadata) for job in await client.list(Job)]
    return sorted((shown(datetime.fromisoformat(text)), shown(meta.creation_timestamp)) for text, meta in found)


def shown(time: datetime | None) -> str:
    """Return a time as ``01 13:00``, with the day of the month."""
    assert time is not None
    return f"{time:%d %H:%M}"
