"""Job controller: runs pods to completion, with retries up to the limits of the Job.

The steps and the order of writes are those of kube-controller-manager's job controller (pkg/controller/job). One
reconcile is a `JobSync`. `view` evaluates the pods, `tracking` counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pyctrl import _clock
from pyctrl.api import LabelSelector, is_deleting
from pyctrl.cache import CachedClient
from pyctrl.client import merge_from
from pyctrl.cluster._controllers.controller_ref_manager import ControllerRefManager, enqueue_adopters, index_orphans
from pyctrl.cluster._controllers.job.orphan_pods import remove_tracking_finalizer
from pyctrl.cluster._controllers.job.pod_failures import BackoffRecord
from pyctrl.cluster._controllers.job.pods import active_pods_for_removal, indexes_to_create, new_pods, pods_to_create
from pyctrl.cluster._controllers.job.tracking import (
    enact_job_finished,
    ensure_condition,
    flush_uncounted,
    track_finished_pods,
)
from pyctrl.cluster._controllers.job.view import (
    FINALIZER,
    FinishedCondition,
    JobView,
    is_finished,
    is_suspended,
    is_tracked,
)
from pyctrl.cluster._controllers.pod_control import PodControl, is_ready
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import ApiError, Conflict, NotFound
from pyctrl.kinds.batch.v1 import Job
from pyctrl.kinds.core.v1 import Pod

__all__ = ["JobReconciler", "JobSync", "add_jobs"]


JOB_CONTROLLER_NAME = "kubernetes.io/job-controller"


def add_jobs(host: ManagedCluster) -> Controller:
    """Run the Job controller in a manager."""
    index_orphans(host, Pod)
    return (
        Builder(host)
        .reconciles(Job)
        .owns(Pod)
        .watches(Pod, enqueue_adopters(host, Job, selector_of))
        .options(name="job", workers=4)
        .build(JobReconciler(LegacyEventRecorder(host.live_client, "job-controller")))
    )


def selector_of(job: Job) -> LabelSelector:
    """Return the selector of a Job's pods."""
    return LabelSelector.from_wire(job.spec.selector)


class JobReconciler(Reconciler[Job]):
    """Creates pods, counts finished ones, and finishes the Job."""

    def __init__(self, events: LegacyEventRecorder) -> None:
        self._events = events
        self._backoffs: dict[Request, tuple[str, BackoffRecord]] = {}

    async def reconcile(self, request: Request) -> Result | None:
        job = await self.client.find(Job, request.key)
        if job is None or is_finished(job):
            self._backoffs.pop(request, None)
            return None
        if job.spec.managed_by not in (None, JOB_CONTROLLER_NAME):
            return None  # another controller manages the Job (KEP-4368)
        pods = await ControllerRefManager(self.client, Pod, finalizer=FINALIZER).claim(job, selector_of(job))
        uid, backoff = self._backoffs.get(request, (job.metadata.uid, BackoffRecord()))
        current = backoff if uid == job.metadata.uid else BackoffRecord()
        sync = JobSync(self.client, self._events, JobView(job, pods), current)
        try:
            await sync.sync()
        except (NotFound, Conflict):
            return None  # changed or deleted meanwhile: its next event triggers a reconcile
        self._backoffs[request] = job.metadata.uid, sync.backoff
        if sync.error is not None:
            raise sync.error
        return None if sync.requeue_after is None else Result(requeue_after=sync.requeue_after)


BURST = 500  # pods created or deleted in one reconcile (MaxPodCreateDeletePerSync)
COMPLETIONS_REACHED = FinishedCondition(True, "CompletionsReached", "Reached expected number of succeeded pods")


class JobSync:
    """The steps of one reconcile, in the order of upstream's syncJob.

    Args:
        client: reads from the cache.
        events: where the Job's events go.
        view: the Job and its pods.
        backoff: the failures of its pods up to the previous reconcile.
    """

    def __init__(
        self, client: CachedClient, events: LegacyEventRecorder, view: JobView, backoff: BackoffRecord
    ) -> None:
        self._client, self._events, self._view = client, events, view
        self._control = PodControl(client, events)
        self._before = view.job.deep_copy()
        self._active, self._ready, self._terminating = len(view.active), view.ready, view.terminating
        #: The failures of its pods including this reconcile.
        self.backoff: BackoffRecord = backoff.after(view.new_succeeded, view.new_failed)
        #: The time until the next reconcile without an event.
        self.requeue_after: timedelta | None = None
        #: The first error.
        self.error: ApiError | None = None

    async def sync(self) -> None:
        """Create or delete pods as the Job wants, and update its status."""
        job = self._view.job
        if job.status.start_time is None and not is_suspended(job):
            job.status.start_time = _clock.now().replace(microsecond=0)
        self._requeue_after(self._view.remaining_active_deadline())
        finished = self._view.finished_condition()
        if finished is not None:
            if not await self._delete_active_pods():
                finished = None
        elif not is_deleting(job):
            await self._manage_job()
        if finished is None and self.error is None and self._view.is_complete(self._active):
            finished = COMPLETIONS_REACHED
        if finished is None and not is_deleting(job):
            await self._record_suspension()
        await self._track_finished_pods(finished)

    def _requeue_after(self, after: timedelta | None) -> None:
        if after is not None and after > timedelta(0):
            self.requeue_after = after if self.requeue_after is None else min(self.requeue_after, after)

    # --- pods ---

    async def _delete_active_pods(self) -> bool:
        """Delete the active pods of a finished Job; return whether all could be deleted."""
        self.error = await self._control.delete_all(self._view.job, self._view.active)
        if self.error is not None:
            return False
        self._count_deleted(self._view.active)
        return True

    def _count_deleted(self, pods: Sequence[Pod]) -> None:
        self._active -= len(pods)
        self._ready -= sum(map(is_ready, pods))
        self._terminating += len(pods)

    async def _manage_job(self) -> None:
        """Delete surplus pods or, if there are none, create missing ones."""
        view = self._view
        extra = active_pods_for_removal(view, 0 if is_suspended(view.job) else None)[:BURST]
        if extra:
            await self._delete_uncounted(extra)
        elif not is_suspended(view.job) and (number := min(pods_to_create(view), BURST)):
            await self._create(number)

    async def _delete_uncounted(self, pods: Sequence[Pod]) -> None:
        """Delete pods that do not count as failed."""
        for pod in pods:
            if is_tracked(pod):
                await remove_tracking_finalizer(self._client, pod)
        self.error = await self._control.delete_all(self._view.job, pods)
        self._count_deleted(pods)
        uids = {pod.metadata.uid for pod in pods}
        self._view.pods = [pod for pod in self._view.pods if pod.metadata.uid not in uids]

    async def _create(self, number: int) -> None:
        view, now = self._view, _clock.now()
        wait = timedelta(0) if view.has_backoff_limit_per_index else self.backoff.wait(now)
        indexes: list[int] = []
        if view.is_indexed and not wait:
            indexes, wait = indexes_to_create(view, number, now)
        if wait and not indexes:
            self._requeue_after(wait)
            self._active = 0  # upstream reports 0 during the backoff, even if other pods are active
            return
        created, self.error = await self._control.create_all(view.job, new_pods(view, number, indexes))
        self._active += len(created)

    # --- status ---

    async def _record_suspension(self) -> None:
        job = self._view.job
        if is_suspended(job):
            if ensure_condition(job, "Suspended", "True", "JobSuspended", "Job suspended"):
                job.status.start_time = None
                await self._events.normal(job, "Suspended", "Job suspended")
        elif ensure_condition(job, "Suspended", "False", "JobResumed", "Job resumed"):
            await self._events.normal(job, "Resumed", "Job resumed")
            job.status.start_time = _clock.now().replace(microsecond=0)  # the deadline counts from here

    async def _track_finished_pods(self, finished: FinishedCondition | None) -> None:
        """Count the finished pods, remove their finalizers, and set the condition of a finished Job."""
        view, tracked = self._view, {pod.metadata.uid for pod in self._view.pods if is_tracked(pod)}
        status = view.job.status
        status.active, status.ready, status.terminating = self._active or None, self._ready, self._terminating
        flush_uncounted(view.job, tracked)
        tracked_pods = track_finished_pods(view, finished)
        if tracked_pods.counted:
            await self._write()
            for pod in tracked_pods.counted:
                await remove_tracking_finalizer(self._client, pod)
            flush_uncounted(view.job, tracked - {pod.metadata.uid for pod in tracked_pods.counted})
        is_final = (
            finished is not None
            and not tracked_pods.has_more
            and enact_job_finished(view.job, finished, self._terminating)
        )
        await self._write()
        if finished is not None and is_final:
            await self._record_finished(view.job, finished)

    async def _write(self) -> None:
        """Write the status if it has changed; a Job that changed meanwhile raises Conflict."""
        job = self._view.job
        if job.status.to_wire() != self._before.status.to_wire():
            job = await self._client.status.patch(job, merge_from(self._before, optimistic_lock=True))
        self._view.job, self._before = job, job.deep_copy()

    async def _record_finished(self, job: Job, finished: FinishedCondition) -> None:
        if not finished.is_success:
            await self._events.warning(job, finished.reason, finished.message)
            return
        if job.spec.completions is not None and (job.status.succeeded or 0) > job.spec.completions:
            message = "Too many succeeded pods running after completion count reached"
            await self._events.warning(job, "TooManySucceededPods", message)
        await self._events.normal(job, "Completed", "Job completed")
