"""Reconciler of CronJob: starts the Job of each run, and deletes old finished Jobs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from pyctrl import EVENTS, ObjectMeta, ObjectReconciler, Result, allow, merge_from, now, set_controller_reference
from pyctrl.api import is_condition_true
from pyctrl.errors import NotFound
from pyctrl.kinds.batch.v1 import Job
from pyctrl.kinds.core.v1 import ObjectReference

from .schedule import last_run, next_run
from .v1 import CronJob

__all__ = ["CronJobReconciler"]

log = logging.getLogger("cronjob")

SCHEDULED_AT = "batch.tutorial.kubebuilder.io/scheduled-at"


class CronJobReconciler(ObjectReconciler[CronJob]):
    """Starts a Job at each run of a CronJob, as its concurrency policy and deadline allow.

    The last run is read from the Jobs, so that no run is started twice, also by an operator that is killed right after
    it has started one. The time is `pyctrl.now`, which tests can make pass.
    """

    owns = (Job,)
    rbac = (
        allow(Job, "create", "delete"),
        allow(CronJob, "patch", subresource="status"),
        # to set owner references where OwnerReferencesPermissionEnforcement is on, as in OpenShift
        allow(CronJob, "update", subresource="finalizers", essential=False),
        EVENTS,
    )

    async def reconcile_object(self, cron_job: CronJob) -> Result | None:
        """Report the Jobs, delete old ones, start the one that is due, and return the time of the next run."""
        found = await self.client.list(Job, index=("owner", cron_job.metadata.uid))
        jobs = sorted(found, key=lambda job: job.metadata.annotations.get(SCHEDULED_AT, ""))
        active = [job for job in jobs if not has_condition(job, "Complete", "Failed")]
        cron_job = await self.report(cron_job, jobs, active)
        await self.delete_oldest(jobs, "Complete", cron_job.spec.successful_jobs_history_limit)
        await self.delete_oldest(jobs, "Failed", cron_job.spec.failed_jobs_history_limit)
        if cron_job.spec.suspend:
            return None
        run = due_run(cron_job, now())
        if run is not None:
            await self.start(cron_job, run, active)
        return Result.after(next_run(cron_job.spec.schedule, now()) - now())

    async def report(self, cron_job: CronJob, jobs: Sequence[Job], active: Iterable[Job]) -> CronJob:
        """Update the active Jobs and the time of the last run in the status."""
        after = cron_job.deep_copy()
        after.status.active = [job_reference(job) for job in active]
        runs = [run for job in jobs if (run := scheduled_time(job)) is not None]
        if cron_job.status.last_schedule_time is not None:
            runs.append(cron_job.status.last_schedule_time)  # its Job may be deleted
        after.status.last_schedule_time = max(runs, default=None)
        if after.status == cron_job.status:
            return cron_job
        return await self.client.status.patch(after, merge_from(cron_job))

    async def delete_oldest(self, jobs: Sequence[Job], condition: str, limit: int) -> None:
        """Delete the oldest Jobs that have ended in this way, beyond a limit."""
        ended = [job for job in jobs if has_condition(job, condition)]
        for job in ended[: max(0, len(ended) - limit)]:
            await self.delete(job)

    async def start(self, cron_job: CronJob, run: datetime, active: Sequence[Job]) -> None:
        """Start the Job of a run, unless the concurrency policy forbids it."""
        if active and cron_job.spec.concurrency_policy == "Forbid":
            log.info("Run waits for an active Job", extra={"run": run, "job": active[0].metadata.name})
            return  # the end of that Job causes another reconcile
        if cron_job.spec.concurrency_policy == "Replace":
            for job in active:
                await self.delete(job)
        job = await self.client.create(job_for(cron_job, run))
        self.recorder.normal(cron_job, "Started", f"Started Job {job.metadata.name}", related=job)

    async def delete(self, job: Job) -> None:
        """Delete a Job and its pods."""
        with suppress(NotFound):  # deleted in the meantime
            await self.client.delete(job, propagation="Background")


def due_run(cron_job: CronJob, at: datetime) -> datetime | None:
    """Return the run to start at a time, or None. Of several missed runs it is the last one."""
    run = last_run(cron_job.spec.schedule, at)
    started = cron_job.status.last_schedule_time or cron_job.metadata.creation_timestamp or at
    deadline = cron_job.spec.starting_deadline_seconds
    is_late = deadline is not None and run < at - timedelta(seconds=deadline)
    return None if run <= started or is_late else run


def job_for(cron_job: CronJob, run: datetime) -> Job:
    """Return the Job of a run. The name has the time, so that a run cannot be started twice."""
    template = cron_job.spec.job_template.deep_copy()
    job = Job(
        metadata=ObjectMeta(
            name=f"{cron_job.metadata.name}-{int(run.timestamp())}",
            namespace=cron_job.metadata.namespace,
            labels=template.metadata.labels,
            annotations={**template.metadata.annotations, SCHEDULED_AT: run.isoformat()},
        ),
        spec=template.spec,
    )
    set_controller_reference(cron_job, job)
    return job


def scheduled_time(job: Job) -> datetime | None:
    """Return the scheduled time of a Job; None without the annotation."""
    text = job.metadata.annotations.get(SCHEDULED_AT)
    return datetime.fromisoformat(text) if text else None


def has_condition(job: Job, *types: str) -> bool:
    """Return whether one of these conditions of a Job is true."""
    return any(is_condition_true(job.status.conditions, each) for each in types)


def job_reference(job: Job) -> ObjectReference:
    """Return a reference to a Job."""
    meta = job.metadata
    return ObjectReference(
        api_version=job.api_version, kind=job.kind, namespace=meta.namespace, name=meta.name, uid=meta.uid
    )
