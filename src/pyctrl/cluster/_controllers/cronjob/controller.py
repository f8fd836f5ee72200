"""CronJob controller: starts Jobs on a schedule.

The rules are those of kube-controller-manager's cronjob controller (pkg/controller/cronjob).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pyctrl import _clock
from pyctrl.api import ObjectMeta, is_controlled_by, is_deleting, set_controller_reference
from pyctrl.client import merge_from
from pyctrl.cluster._controllers.cronjob.schedule import (
    CronSchedule,
    ScheduleError,
    most_recent_schedule_time,
    parse_schedule,
    time_until_next_schedule,
)
from pyctrl.cluster._controllers.job.view import find_true_condition, is_finished
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._namespace_termination import is_namespace_terminating
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import AlreadyExists, ApiError, Conflict, Forbidden, NotFound
from pyctrl.kinds.batch.v1 import CronJob, Job
from pyctrl.kinds.core.v1 import ObjectReference

__all__ = ["CronJobReconciler", "add_cronjobs"]

SCHEDULED_TIMESTAMP = "batch.kubernetes.io/cronjob-scheduled-timestamp"


def add_cronjobs(host: ManagedCluster) -> Controller:
    """Run the CronJob controller in a manager."""
    return (
        Builder(host)
        .reconciles(CronJob)
        .owns(Job)
        .options(name="cronjob", workers=2)
        .build(CronJobReconciler(LegacyEventRecorder(host.live_client, "cronjob-controller")))
    )


class CronJobReconciler(Reconciler[CronJob]):
    """Starts the due Job, tracks the active Jobs, and deletes the oldest finished ones."""

    def __init__(self, events: LegacyEventRecorder) -> None:
        self._events = events

    async def reconcile(self, request: Request) -> Result | None:
        cron_job = await self.client.find(CronJob, request.key)
        if cron_job is None:
            return None
        found = await self.client.list(Job, index=("owner", cron_job.metadata.uid))
        jobs = [job for job in found if is_controlled_by(job, cron_job)]
        before = cron_job.deep_copy()
        await self._clean_up_finished(cron_job, jobs)
        await self._update_active(cron_job, jobs)
        wait = None
        try:
            if not is_deleting(cron_job) and not cron_job.spec.suspend:
                wait = await self._start_most_recent(cron_job)
        finally:
            await self._write(cron_job, before)
        return None if wait is None else Result(requeue_after=wait)

    async def _write(self, cron_job: CronJob, before: CronJob) -> None:
        if cron_job.status.to_wire() != before.status.to_wire():
            try:
                await self.client.status.patch(cron_job, merge_from(before, optimistic_lock=True))
            except (NotFound, Conflict):
                return  # that change triggers a reconcile, which finds the Jobs again

    # --- existing Jobs ---

    async def _clean_up_finished(self, cron_job: CronJob, jobs: list[Job]) -> None:
        """Delete the oldest finished Jobs beyond the history limits of failed and successful ones."""
        spec = cron_job.spec
        for kind, limit in (
            ("Complete", spec.successful_jobs_history_limit),
            ("Failed", spec.failed_jobs_history_limit),
        ):
            finished = sorted((job for job in jobs if find_true_condition(job, kind)), key=_age)
            for job in finished[: max(0, len(finished) - limit)] if limit is not None else ():
                if await self._delete(cron_job, job):
                    jobs.remove(job)

    async def _delete(self, cron_job: CronJob, job: Job) -> bool:
        name = job.metadata.name
        try:
            await self.client.delete(job, propagation="Background")
        except NotFound:
            pass
        except ApiError as error:
            await self._events.warning(cron_job, "FailedDelete", f"Deleted job: {error.message}")
            return False
        _remove_from_active(cron_job, job.metadata.uid)
        await self._events.normal(cron_job, "SuccessfulDelete", f"Deleted job {name}")
        return True

    async def _update_active(self, cron_job: CronJob, jobs: Sequence[Job]) -> None:
        """Update the list of active Jobs and the time of the last success."""
        active = {reference.uid for reference in cron_job.status.active}
        for job in jobs:
            name, is_known = job.metadata.name, job.metadata.uid in active
            if not is_known and not is_finished(job):
                message = f"Saw a job that the controller did not create or forgot: {name}"
                await self._events.warning(cron_job, "UnexpectedJob", message)
            elif is_known and is_finished(job):
                _remove_from_active(cron_job, job.metadata.uid)
                condition = "Complete" if find_true_condition(job, "Complete") else "Failed"
                message = f"Saw completed job: {name}, condition: {condition}"
                await self._events.normal(cron_job, "SawCompletedJob", message)
            if (end := job.status.completion_time) is not None and find_true_condition(job, "Complete"):
                cron_job.status.last_successful_time = max(end, cron_job.status.last_successful_time or end)
        existing = {job.metadata.uid for job in jobs}
        for reference in [each for each in cron_job.status.active if each.uid not in existing]:
            await self._events.normal(cron_job, "MissingJob", f"Active job went missing: {reference.name}")
            _remove_from_active(cron_job, reference.uid)

    # --- the due Job ---

    async def _start_most_recent(self, cron_job: CronJob) -> timedelta | None:
        """Start the Job of the most recent schedule time; return the time until the next one."""
        schedule = await self._schedule(cron_job)
        if schedule is None:
            return None
        now = _clock.now()
        try:
            found = most_recent_schedule_time(cron_job, schedule, now)
        except ScheduleError as error:
            message = f"invalid schedule: {cron_job.spec.schedule} : {error}"
            await self._events.warning(cron_job, "InvalidSchedule", message)
            return None
        if found.has_many_missed:
            message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
            await self._events.warning(cron_job, "TooManyMissedTimes", message)
        if found.last is not None and await self._should_start(cron_job, found.last, now):
            await self._start(cron_job, found.last)
        return time_until_next_schedule(cron_job, schedule, now)

    async def _schedule(self, cron_job: CronJob) -> CronSchedule | None:
        text, name = cron_job.spec.schedule, cron_job.spec.time_zone
        try:
            zone = ZoneInfo(name) if name else None
        except (ZoneInfoNotFoundError, ValueError, OSError):
            message = f'invalid timeZone: "{name}": unknown time zone {name}'
            await self._events.warning(cron_job, "UnknownTimeZone", message)
            return None
        try:
            return parse_schedule(text, zone)
        except ScheduleError as error:
            await self._events.warning(cron_job, "UnparseableSchedule", f'unparseable schedule: "{text}" : {error}')
            return None

    async def _should_start(self, cron_job: CronJob, at: datetime, now: datetime) -> bool:
        """Return whether to start a run: not after its deadline, not already started, and allowed by the policy."""
        deadline = cron_job.spec.starting_deadline_seconds
        if deadline is not None and at + timedelta(seconds=deadline) < now:
            written = at.strftime("%a, %d %b %Y %H:%M:%S +0000")
            await self._events.warning(cron_job, "MissSchedule", f"Missed scheduled time to start a job: {written}")
            return False
        name = _job_name(cron_job, at)
        if cron_job.status.last_schedule_time == at or any(each.name == name for each in cron_job.status.active):
            return False
        if cron_job.spec.concurrency_policy == "Forbid" and cron_job.status.active:
            message = "Not starting job because prior execution is running and concurrency policy is Forbid"
            await self._events.normal(cron_job, "JobAlreadyActive", message)
            return False
        return True

    async def _start(self, cron_job: CronJob, at: datetime) -> None:
        if cron_job.spec.concurrency_policy == "Replace":
            for reference in list(cron_job.status.active):
                job = await self.client.find(Job, cron_job.key._replace(name=reference.name or ""))
                if job is not None and not await self._delete(cron_job, job):
                    return
        wanted = _job_of(cron_job, at)
        try:
            job = await self.client.create(wanted)
        except AlreadyExists:
            job = await self.client.live.get(Job, wanted.key)
            if not is_controlled_by(job, cron_job) or is_finished(job):
                return  # another owner's Job, or one that finished within the same minute
        except ApiError as error:
            if not (isinstance(error, Forbidden) and is_namespace_terminating(error)):
                await self._events.warning(cron_job, "FailedCreate", f"Error creating job: {error.message}")
                raise
            return
        else:
            await self._events.normal(cron_job, "SuccessfulCreate", f"Created job {job.metadata.name}")
        cron_job.status.active = [*cron_job.status.active, _reference(job)]
        cron_job.status.last_schedule_time = at


def _age(job: Job) -> tuple[datetime, str]:
    return job.status.start_time or _clock.now(), job.metadata.name


def _remove_from_active(cron_job: CronJob, uid: str | None) -> None:
    cron_job.status.active = [each for each in cron_job.status.active if each.uid != uid]


def _job_name(cron_job: CronJob, at: datetime) -> str:
    """Return the name of the Job of a schedule time: with the minutes since 1970, so that none starts twice."""
    return f"{cron_job.metadata.name}-{int(at.timestamp()) // 60}"


def _job_of(cron_job: CronJob, at: datetime) -> Job:
    template = cron_job.spec.job_template
    zone = ZoneInfo(cron_job.spec.time_zone) if cron_job.spec.time_zone else UTC
    written = at.astimezone(zone).isoformat(timespec="seconds").replace("+00:00", "Z")
    job = Job(
        metadata=ObjectMeta(
            name=_job_name(cron_job, at),
            namespace=cron_job.metadata.namespace,
            labels=dict(template.metadata.labels),
            annotations={**template.metadata.annotations, SCHEDULED_TIMESTAMP: written},
        ),
        spec=template.spec,
    )
    set_controller_reference(cron_job, job)
    return job


def _reference(job: Job) -> ObjectReference:
    meta = job.metadata
    return ObjectReference(
        api_version=job.api_version,
        kind=job.kind,
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        resource_version=meta.resource_version,
    )
