"""TTL-after-finished controller: deletes finished Jobs after ttlSecondsAfterFinished.

The rules are those of kube-controller-manager's TTL-after-finished controller (pkg/controller/ttlafterfinished).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from pyctrl import _clock
from pyctrl.api import is_deleting
from pyctrl.client import Preconditions
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.batch.v1 import Job

__all__ = ["TTLAfterFinishedReconciler", "add_ttl_after_finished"]


def add_ttl_after_finished(host: ManagedCluster) -> Controller:
    """Run the TTL-after-finished controller in a manager."""
    return Builder(host).reconciles(Job).options(name="ttl-after-finished").build(TTLAfterFinishedReconciler())


class TTLAfterFinishedReconciler(Reconciler[Job]):
    """Deletes finished Jobs after ttlSecondsAfterFinished, with foreground propagation."""

    async def reconcile(self, request: Request) -> Result | None:
        job = await self.client.find(Job, request.key)
        if job is None or is_deleting(job):
            return None
        seconds, finished = job.spec.ttl_seconds_after_finished, _finish_time(job)
        if seconds is None or finished is None:
            return None
        remaining = finished + timedelta(seconds=seconds) - _clock.now()
        if remaining > timedelta(0):
            return Result(requeue_after=remaining)
        try:
            same_job = Preconditions(uid=job.metadata.uid)
            await self.client.delete(job, propagation="Foreground", preconditions=same_job)
        except (NotFound, Conflict):
            return None
        return None


def _finish_time(job: Job) -> datetime | None:
    """Return the time at which a Job finished, or None."""
    finished = (c for c in job.status.conditions if c.type in ("Complete", "Failed") and c.status == "True")
    return next((condition.last_transition_time for condition in finished), None)
