"""Jobs: pods that run to their end, as often as it takes and no more often than is allowed.

The steps, and the order of what is written, are those of kube-controller-manager's job controller
(pkg/controller/job). One reconcile is a `JobRun`; what the pods have come to is in `_job_view`, how they are counted
in `_job_tracking`.
"""

from __future__ import annotations

from pyctrl.api import LabelSelector
from pyctrl.cluster._claiming import Claims, index_orphans, wanting_orphans
from pyctrl.cluster._job_cleanup import add_job_cleanup
from pyctrl.cluster._job_failures import Backoff
from pyctrl.cluster._job_run import JobRun
from pyctrl.cluster._job_view import FINALIZER, JobView, is_finished
from pyctrl.cluster._recorder import Recorder
from pyctrl.controller import Builder, Controller, Host, Reconciler, Request, Result
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.batch.v1 import Job
from pyctrl.kinds.core.v1 import Pod

__all__ = ["JobReconciler", "add_jobs"]

MANAGED_BY = "kubernetes.io/job-controller"


def add_jobs(host: Host) -> Controller:
    """Run Jobs in a manager."""
    index_orphans(host, Pod)
    add_job_cleanup(host)
    return (
        Builder(host)
        .reconciles(Job)
        .owns(Pod)
        .watches(Pod, wanting_orphans(host, Job, selector_of))
        .options(name="job", workers=4)
        .build(JobReconciler(Recorder(host.live_client, "job-controller")))
    )


def selector_of(job: Job) -> LabelSelector:
    """Return which pods can be a Job's."""
    return LabelSelector.from_wire(job.spec.selector)


class JobReconciler(Reconciler[Job]):
    """Makes pods, counts those that have ended, and ends the Job when it is time."""

    def __init__(self, events: Recorder) -> None:
        self._events = events
        self._backoffs: dict[Request, tuple[str, Backoff]] = {}

    async def reconcile(self, request: Request) -> Result | None:
        job = await self.client.find(Job, request.key)
        if job is None or is_finished(job):
            self._backoffs.pop(request, None)
            return None
        if job.spec.managed_by not in (None, MANAGED_BY):
            return None  # somebody else's (KEP-4368)
        pods = await Claims(self.client, Pod, finalizer=FINALIZER).settle(job, selector_of(job))
        uid, backoff = self._backoffs.get(request, (job.metadata.uid, Backoff()))
        known = backoff if uid == job.metadata.uid else Backoff()
        run = JobRun(self.client, self._events, JobView(job, pods), known)
        try:
            await run.sync()
        except (NotFound, Conflict):
            return None  # it has changed or gone: its next event tells
        self._backoffs[request] = job.metadata.uid, run.backoff
        if run.refusal is not None:
            raise run.refusal
        return None if run.again is None else Result(requeue_after=run.again)
