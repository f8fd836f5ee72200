"""One reconcile of one Job: what is done to its pods, and what is written into its status."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pyctrl import _clock
from pyctrl.api import is_deleting
from pyctrl.cache import CachedClient
from pyctrl.client import merge_from
from pyctrl.cluster._job_cleanup import release
from pyctrl.cluster._job_failures import Backoff
from pyctrl.cluster._job_pods import missing, new_pods, ready_indexes, surplus
from pyctrl.cluster._job_tracking import count, finish, set_condition, settle
from pyctrl.cluster._job_view import Ending, JobView, is_suspended, is_tracked
from pyctrl.cluster._pods import PodControl, is_ready
from pyctrl.cluster._recorder import Recorder
from pyctrl.errors import ApiError
from pyctrl.kinds.batch.v1 import Job
from pyctrl.kinds.core.v1 import Pod

__all__ = ["JobRun"]

BURST = 500  # pods made or deleted at once (MaxPodCreateDeletePerSync)
ENOUGH = Ending(True, "CompletionsReached", "Reached expected number of succeeded pods")


class JobRun:
    """The steps of one reconcile, in the order of upstream's syncJob.

    Args:
        client: reads from the cache.
        events: where the Job's events go.
        view: the Job and its pods.
        backoff: how its pods have failed so far.
    """

    def __init__(self, client: CachedClient, events: Recorder, view: JobView, backoff: Backoff) -> None:
        self._client, self._events, self._view = client, events, view
        self._control = PodControl(client, events)
        self._before = view.job.deep_copy()
        self._active, self._ready, self._terminating = len(view.active), view.ready, view.terminating
        #: How the pods have failed, those of this reconcile included.
        self.backoff: Backoff = backoff.after(view.new_succeeded, view.new_failed)
        #: When to look again, though nothing changes.
        self.again: timedelta | None = None
        #: The first thing that the server refused.
        self.refusal: ApiError | None = None

    async def sync(self) -> None:
        """Bring the pods closer to what the Job wants, and the status closer to what the pods are."""
        job = self._view.job
        if job.status.start_time is None and not is_suspended(job):
            job.status.start_time = _clock.now().replace(microsecond=0)
        self._come_back(self._view.time_left())
        ending = self._view.ending()
        if ending is not None:
            if not await self._end_pods():
                ending = None
        elif not is_deleting(job):
            await self._manage()
        if ending is None and self.refusal is None and self._view.is_complete(self._active):
            ending = ENOUGH
        if ending is None and not is_deleting(job):
            await self._note_suspension()
        await self._count(ending)

    def _come_back(self, after: timedelta | None) -> None:
        if after is not None and after > timedelta(0):
            self.again = after if self.again is None else min(self.again, after)

    # --- pods ---

    async def _end_pods(self) -> bool:
        """Delete what is active, since the Job ends; says whether all of it could be."""
        self.refusal = await self._control.delete_all(self._view.job, self._view.active)
        if self.refusal is not None:
            return False
        self._take_away(self._view.active)
        return True

    def _take_away(self, pods: Sequence[Pod]) -> None:
        self._active -= len(pods)
        self._ready -= sum(map(is_ready, pods))
        self._terminating += len(pods)

    async def _manage(self) -> None:
        """Delete what is too much or, if nothing is, make what is missing."""
        view = self._view
        extra = surplus(view, 0 if is_suspended(view.job) else None)[:BURST]
        if extra:
            await self._drop(extra)
        elif not is_suspended(view.job) and (number := min(missing(view), BURST)):
            await self._create(number)

    async def _drop(self, pods: Sequence[Pod]) -> None:
        """Delete pods that are not to be counted: they have done nothing wrong."""
        for pod in pods:
            if is_tracked(pod):
                await release(self._client, pod)
        self.refusal = await self._control.delete_all(self._view.job, pods)
        self._take_away(pods)
        uids = {pod.metadata.uid for pod in pods}
        self._view.pods = [pod for pod in self._view.pods if pod.metadata.uid not in uids]

    async def _create(self, number: int) -> None:
        view, now = self._view, _clock.now()
        wait = timedelta(0) if view.limits_indexes else self.backoff.wait(now)
        indexes: list[int] = []
        if view.is_indexed and not wait:
            indexes, wait = ready_indexes(view, number, now)
        if wait and not indexes:
            self._come_back(wait)
            self._active = 0  # as upstream reports it while it waits, whatever else is active
            return
        created, self.refusal = await self._control.create_all(view.job, new_pods(view, number, indexes))
        self._active += len(created)

    # --- status ---

    async def _note_suspension(self) -> None:
        job = self._view.job
        if is_suspended(job):
            job.status.start_time = None
            if set_condition(job, "Suspended", "True", "JobSuspended", "Job suspended"):
                await self._events.normal(job, "Suspended", "Job suspended")
        elif set_condition(job, "Suspended", "False", "JobResumed", "Job resumed"):
            await self._events.normal(job, "Resumed", "Job resumed")
            job.status.start_time = _clock.now().replace(microsecond=0)  # the deadline counts from here

    async def _count(self, ending: Ending | None) -> None:
        """Count the pods that have ended, let them go, and say how the Job has ended if it has."""
        view, tracked = self._view, {pod.metadata.uid for pod in self._view.pods if is_tracked(pod)}
        status = view.job.status
        status.active, status.ready, status.terminating = self._active or None, self._ready, self._terminating
        settle(view.job, tracked)
        counted = count(view, ending)
        if counted.done:
            await self._write()
            for pod in counted.done:
                await release(self._client, pod)
            settle(view.job, tracked - {pod.metadata.uid for pod in counted.done})
        is_finished = ending is not None and not counted.is_full and finish(view.job, ending, self._terminating)
        await self._write()
        if ending is not None and is_finished:
            await self._tell_end(view.job, ending)

    async def _write(self) -> None:
        """Write the status if it has changed; a Job that has changed meanwhile is left for the next time."""
        job = self._view.job
        if job.status.to_wire() != self._before.status.to_wire():
            job = await self._client.status.patch(job, merge_from(self._before, optimistic_lock=True))
        self._view.job, self._before = job, job.deep_copy()

    async def _tell_end(self, job: Job, ending: Ending) -> None:
        if not ending.is_success:
            await self._events.warning(job, ending.reason, ending.message)
            return
        if job.spec.completions is not None and (job.status.succeeded or 0) > job.spec.completions:
            message = "Too many succeeded pods running after completion count reached"
            await self._events.warning(job, "TooManySucceededPods", message)
        await self._events.normal(job, "Completed", "Job completed")
