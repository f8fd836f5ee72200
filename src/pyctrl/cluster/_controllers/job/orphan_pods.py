"""Orphaned pods of Jobs: removal of the tracking finalizer of pods that no Job counts any more.

The rules are those of kube-controller-manager's job controller (syncOrphanPod in pkg/controller/job).
"""

from __future__ import annotations

from collections.abc import Iterable

from pyctrl.api import controller_of
from pyctrl.cache import CachedClient
from pyctrl.client import JsonPatch
from pyctrl.cluster._controllers.job.view import FINALIZER, is_finished, is_tracked
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectChange, Reconciler, Request, Result
from pyctrl.errors import Conflict, Invalid, NotFound
from pyctrl.kinds.batch.v1 import Job
from pyctrl.kinds.core.v1 import Pod

__all__ = ["OrphanPodReconciler", "add_orphan_pods", "remove_tracking_finalizer"]


def add_orphan_pods(host: ManagedCluster) -> Controller:
    """Run the controller of orphaned Job pods in a manager."""
    orphans = OrphanPodReconciler(host)
    return (
        Builder(host)
        .watches(Pod, _tracked_pod)
        .watches(Job, orphans.pods_of_finished_job)
        .options(name="job-orphans")
        .build(orphans)
    )


async def remove_tracking_finalizer(client: CachedClient, pod: Pod) -> None:
    """Remove the tracking finalizer of a pod; a pod that is gone or was replaced is no error."""
    position = pod.metadata.finalizers.index(FINALIZER)
    path = f"/metadata/finalizers/{position}"
    test = {"op": "test", "path": "/metadata/uid", "value": pod.metadata.uid}
    operations = [test, {"op": "test", "path": path, "value": FINALIZER}, {"op": "remove", "path": path}]
    try:
        await client.patch(Pod, pod.key, JsonPatch(operations))
    except (NotFound, Conflict, Invalid):
        return


def _tracked_pod(observed: ObjectChange[Pod]) -> Iterable[Request]:
    record = observed.after
    return [Request(*record.key)] if record is not None and FINALIZER in record.finalizers else ()


class OrphanPodReconciler(Reconciler[Pod]):
    """Removes the tracking finalizer of pods whose Job is gone, is finished, or does not control them any more."""

    def __init__(self, host: ManagedCluster) -> None:
        self._host = host

    async def pods_of_finished_job(self, observed: ObjectChange[Job]) -> Iterable[Request]:
        """Return the tracked pods of a deleted or finished Job."""
        job = observed.new
        if job is not None and not is_finished(job):
            return ()
        uid = observed.current.uid
        return [Request.of(pod) for pod in await self._host.client.list(Pod, index=("owner", uid)) if is_tracked(pod)]

    async def reconcile(self, request: Request) -> Result | None:
        pod = await self.client.find(Pod, request.key)
        if pod is None or not is_tracked(pod):
            return None
        owner = controller_of(pod)
        if owner is not None:
            if owner.kind != "Job":
                return None
            job = await self.client.find(Job, request.key._replace(name=owner.name))
            if job is not None and job.metadata.uid == owner.uid and not is_finished(job):
                return None
        await remove_tracking_finalizer(self.client, pod)
        return None
