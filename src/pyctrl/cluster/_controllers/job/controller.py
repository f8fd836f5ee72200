"""Jobs: pods that run to their end, as often as it takes and no more often than is allowed.

The steps, and the order of what is written, are those of kube-controller-manager's job controller
(pkg/controller/job). One reconcile is a `JobSync`; what the pods have come to is in `_job_view`, how they are counted
in `_job_tracking`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pyctrl import _clock
from pyctrl.api import LabelSelector, is_deleting
from pyctrl.cache import CachedClient
from pyctrl.client import merge_from
from pyctrl.cluster._controllers.controller_ref_manager import ControllerRefManager, enqueue_adopters, index_orphans
from pyctrl.cluster._controllers.job.cleanup import add_job_cleanup, remove_tracking_finalizer
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


MANAGED_BY = "kubernetes.io/job-controller"


def add_jobs(host: ManagedCluster) -> Controller:
    """Run Jobs in a manager."""
    index_orphans(host, Pod)
    add_job_cleanup(host)
    return (
        Builder(host)
        .reconciles(Job)
        .owns(Pod)
        .watches(Pod, enqueue_adopters(host, Job, selector_of))
        .options(name="job", workers=4)
        .build(JobReconciler(LegacyEventRecorder(host.live_client, "job-controller")))
    )


def selector_of(job: Job) -> LabelSelector:
    """Return which pods can be a Job's."""
    return LabelSelector.from_wire(job.spec.selector)


class JobReconciler(Reconciler[Job]):
    """Makes pods, counts those that have ended, and ends the Job when it is time."""

    def __init__(self, events: LegacyEventRecorder) -> None:
        self._events = events
        self._backoffs: dict[Request, tuple[str, BackoffRecord]] = {}

    async def reconcile(self, request: Request) -> Result | None:
        job = await self.client.find(Job, request.key)
        if job is None or is_finished(job):
            self._backoffs.pop(request, None)
            return None
        if job.spec.managed_by not in (None, MANAGED_BY):
            return None  # somebody else's (KEP-4368)
        pods = await ControllerRefManager(self.client, Pod, finalizer=FINALIZER).settle(job, selector_of(job))
        uid, backoff = self._backoffs.get(request, (job.metadata.uid, BackoffRecord()))
        known = backoff if uid == job.metadata.uid else BackoffRecord()
        run = JobSync(self.client, self._events, JobView(job, pods), known)
        try:
            await run.sync()
        except (NotFound, Conflict):
            return None  # it has changed or gone: its next event tells
        self._backoffs[request] = job.metadata.uid, run.backoff
        if run.refusal is not None:
            raise run.refusal
        return None if run.again is None else Result(requeue_after=run.again)


BURST = 500  # pods made or deleted at once (MaxPodCreateDeletePerSync)
COMPLETIONS_REACHED = FinishedCondition(True, "CompletionsReached", "Reached expected number of succeeded pods")


class JobSync:
    """The steps of one reconcile, in the order of upstream's syncJob.

    Args:
        client: reads from the cache.
        events: where the Job's events go.
        view: the Job and its pods.
        backoff: how its pods have failed so far.
    """

    def __init__(
        self, client: CachedClient, events: LegacyEventRecorder, view: JobView, backoff: BackoffRecord
    ) -> None:
        self._client, self._events, self._view = client, events, view
        self._control = PodControl(client, events)
        self._before = view.job.deep_copy()
        self._active, self._ready, self._terminating = len(view.active), view.ready, view.terminating
        #: How the pods have failed, those of this reconcile included.
        self.backoff: BackoffRecord = backoff.after(view.new_succeeded, view.new_failed)
        #: When to look again, though nothing changes.
        self.again: timedelta | None = None
        #: The first thing that the server refused.
        self.refusal: ApiError | None = None

    async def sync(self) -> None:
        """Bring the pods closer to what the Job wants, and the status closer to what the pods are."""
        job = self._view.job
        if job.status.start_time is None and not is_suspended(job):
            job.status.start_time = _clock.now().replace(microsecond=0)
        self._requeue_after(self._view.remaining_active_deadline())
        ending = self._view.ending()
        if ending is not None:
            if not await self._delete_active_pods():
                ending = None
        elif not is_deleting(job):
            await self._manage()
        if ending is None and self.refusal is None and self._view.is_complete(self._active):
            ending = COMPLETIONS_REACHED
        if ending is None and not is_deleting(job):
            await self._record_suspension()
        await self._count(ending)

    def _requeue_after(self, after: timedelta | None) -> None:
        if after is not None and after > timedelta(0):
            self.again = after if self.again is None else min(self.again, after)

    # --- pods ---

    async def _delete_active_pods(self) -> bool:
        """Delete what is active, since the Job ends; says whether all of it could be."""
        self.refusal = await self._control.delete_all(self._view.job, self._view.active)
        if self.refusal is not None:
            return False
        self._delete_pods(self._view.active)
        return True

    def _delete_pods(self, pods: Sequence[Pod]) -> None:
        self._active -= len(pods)
        self._ready -= sum(map(is_ready, pods))
        self._terminating += len(pods)

    async def _manage(self) -> None:
        """Delete what is too much or, if nothing is, make what is missing."""
        view = self._view
        extra = active_pods_for_removal(view, 0 if is_suspended(view.job) else None)[:BURST]
        if extra:
            await self._drop(extra)
        elif not is_suspended(view.job) and (number := min(pods_to_create(view), BURST)):
            await self._create(number)

    async def _drop(self, pods: Sequence[Pod]) -> None:
        """Delete pods that are not to be counted: they have done nothing wrong."""
        for pod in pods:
            if is_tracked(pod):
                await remove_tracking_finalizer(self._client, pod)
        self.refusal = await self._control.delete_all(self._view.job, pods)
        self._delete_pods(pods)
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
            self._active = 0  # as upstream reports it while it waits, whatever else is active
            return
        created, self.refusal = await self._control.create_all(view.job, new_pods(view, number, indexes))
        self._active += len(created)

    # --- status ---

    async def _record_suspension(self) -> None:
        job = self._view.job
        if is_suspended(job):
            job.status.start_time = None
            if ensure_condition(job, "Suspended", "True", "JobSuspended", "Job suspended"):
                await self._events.normal(job, "Suspended", "Job suspended")
        elif ensure_condition(job, "Suspended", "False", "JobResumed", "Job resumed"):
            await self._events.normal(job, "Resumed", "Job resumed")
            job.status.start_time = _clock.now().replace(microsecond=0)  # the deadline counts from here

    async def _count(self, ending: FinishedCondition | None) -> None:
        """Count the pods that have ended, let them go, and say how the Job has ended if it has."""
        view, tracked = self._view, {pod.metadata.uid for pod in self._view.pods if is_tracked(pod)}
        status = view.job.status
        status.active, status.ready, status.terminating = self._active or None, self._ready, self._terminating
        flush_uncounted(view.job, tracked)
        counted = track_finished_pods(view, ending)
        if counted.done:
            await self._write()
            for pod in counted.done:
                await remove_tracking_finalizer(self._client, pod)
            flush_uncounted(view.job, tracked - {pod.metadata.uid for pod in counted.done})
        is_finished = (
            ending is not None and not counted.has_more and enact_job_finished(view.job, ending, self._terminating)
        )
        await self._write()
        if ending is not None and is_finished:
            await self._record_finished(view.job, ending)

    async def _write(self) -> None:
        """Write the status if it has changed; a Job that has changed meanwhile is left for the next time."""
        job = self._view.job
        if job.status.to_wire() != self._before.status.to_wire():
            job = await self._client.status.patch(job, merge_from(self._before, optimistic_lock=True))
        self._view.job, self._before = job, job.deep_copy()

    async def _record_finished(self, job: Job, ending: FinishedCondition) -> None:
        if not ending.is_success:
            await self._events.warning(job, ending.reason, ending.message)
            return
        if job.spec.completions is not None and (job.status.succeeded or 0) > job.spec.completions:
            message = "Too many succeeded pods running after completion count reached"
            await self._events.warning(job, "TooManySucceededPods", message)
        await self._events.normal(job, "Completed", "Job completed")
