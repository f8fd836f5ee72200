"""DaemonSet controller: a pod on every eligible node.

The rules are those of kube-controller-manager's daemonset controller (pkg/controller/daemon). `plan` decides the next
steps; this file takes them and updates the status.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from pyctrl.api import LabelSelector, is_deleting
from pyctrl.client import merge_from
from pyctrl.cluster._controllers.controller_history import ControllerHistory
from pyctrl.cluster._controllers.controller_ref_manager import ControllerRefManager, enqueue_adopters, index_orphans
from pyctrl.cluster._controllers.daemonset.plan import DaemonSetPlan, PodChanges
from pyctrl.cluster._controllers.daemonset.pods import HASH_LABEL, is_pod_updated, new_daemon_pod
from pyctrl.cluster._controllers.pod_control import PodControl, is_available, is_ready, time_until_available
from pyctrl.cluster._controllers.pod_template_hash import template_hash
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectChange, Reconciler, Request, Result, changed
from pyctrl.errors import ApiError, Conflict, NotFound
from pyctrl.kinds.apps.v1 import ControllerRevision, DaemonSet, DaemonSetStatus
from pyctrl.kinds.core.v1 import Node, Pod

__all__ = ["DaemonSetReconciler", "add_daemonsets"]

BURST = 250  # pods created or deleted in one reconcile (BurstReplicas)
FIRST_WAIT, LONGEST_WAIT = 1.0, 900.0  # seconds before a node's failed pod is deleted, doubling (failedPodsBackoff)


def add_daemonsets(host: ManagedCluster) -> Controller:
    """Run the DaemonSet controller in a manager."""
    index_orphans(host, Pod)
    index_orphans(host, ControllerRevision)
    return (
        Builder(host)
        .reconciles(DaemonSet)
        .owns(Pod)
        .watches(Pod, enqueue_adopters(host, DaemonSet, selector_of))
        .watches(Node, _all_daemon_sets(host), predicates=[changed(_scheduling_changed)])
        .options(name="daemonset", workers=2)
        .build(DaemonSetReconciler(LegacyEventRecorder(host.live_client, "daemonset-controller")))
    )


def selector_of(daemon_set: DaemonSet) -> LabelSelector:
    """Return the selector of a DaemonSet's pods."""
    return LabelSelector.from_wire(daemon_set.spec.selector)


def _all_daemon_sets(host: ManagedCluster) -> Callable[[ObjectChange[Node]], Awaitable[list[Request]]]:
    async def requests(observed: ObjectChange[Node]) -> list[Request]:
        return [Request.of(found) for found in await host.client.list(DaemonSet)]

    return requests


def _scheduling_changed(old: Node, new: Node) -> bool:
    """Return whether the labels or taints of a node have changed."""
    return old.metadata.labels != new.metadata.labels or old.spec.taints != new.spec.taints


@dataclass(slots=True)
class _FailedPodBackoff:
    """The backoff of a node's failed pods, and its start."""

    seconds: float
    since: float


class DaemonSetReconciler(Reconciler[DaemonSet]):
    """Creates a pod on every eligible node, updates pods of old templates, and updates the status."""

    def __init__(self, events: LegacyEventRecorder) -> None:
        self._events = events
        self._backoffs: dict[tuple[str, str, int | None], _FailedPodBackoff] = {}

    async def reconcile(self, request: Request) -> Result | None:
        daemon_set = await self.client.find(DaemonSet, request.key)
        if daemon_set is None or is_deleting(daemon_set):
            return None  # as upstream: revisions of a deleted DaemonSet may be gone already
        selector = selector_of(daemon_set)
        history = ControllerHistory(self.client, daemon_set, selector, naming=template_hash, label=HASH_LABEL)
        await history.load(daemon_set.status.collision_count or 0)
        current = await history.create_or_update(daemon_set.spec.template)
        hashed = current.metadata.labels.get(HASH_LABEL, "")
        plan = await self._plan(daemon_set, selector, hashed)
        error, wait = await self._manage(daemon_set, plan, hashed)
        plan = await self._plan(daemon_set, selector, hashed)
        await self._report(daemon_set, plan, history, hashed)
        await self._clean_up_history(daemon_set, plan, history, current)
        if error is not None:
            raise error
        return _requeue(daemon_set, plan, wait)

    async def _plan(self, daemon_set: DaemonSet, selector: LabelSelector, hashed: str) -> DaemonSetPlan:
        pods = await ControllerRefManager(self.client, Pod).claim(daemon_set, selector)
        nodes = sorted(await self.client.list(Node), key=lambda node: node.metadata.name)
        return DaemonSetPlan(daemon_set, nodes, pods, hashed)

    async def _manage(
        self, daemon_set: DaemonSet, plan: DaemonSetPlan, hashed: str
    ) -> tuple[ApiError | None, timedelta | None]:
        """Create and delete pods; return the first error and the remaining backoff of failed pods."""
        changes = plan.manage()
        wait = await self._back_off_failed_pods(daemon_set, changes)
        if not changes:
            changes = plan.rolling_update()
        control = PodControl(self.client, self._events)
        new = [new_daemon_pod(daemon_set, node, hashed) for node in changes.create[:BURST]]
        _, error = await control.create_all(daemon_set, new)
        return await control.delete_all(daemon_set, changes.delete[:BURST]) or error, wait

    async def _back_off_failed_pods(self, daemon_set: DaemonSet, changes: PodChanges) -> timedelta | None:
        """Record Events about finished pods, and keep failed ones during their backoff; return the shortest one."""
        soonest = None
        for pod, node in changes.finished:
            name = f"{pod.metadata.namespace}/{pod.metadata.name} on node {node}"
            if pod.status.phase == "Succeeded":
                message = f"Found succeeded daemon pod {name}, will try to delete it"
                await self._events.normal(daemon_set, "SucceededDaemonPod", message)
                continue
            if (left := self._remaining_backoff(daemon_set, node)) > 0:
                changes.delete.remove(pod)
                soonest = left if soonest is None else min(soonest, left)
                continue
            message = f"Found failed daemon pod {name}, will try to kill it"
            await self._events.warning(daemon_set, "FailedDaemonPod", message)
        return None if soonest is None else timedelta(seconds=soonest)

    def _remaining_backoff(self, daemon_set: DaemonSet, node: str) -> float:
        """Return the seconds left of a node's backoff; if none are left, start the next backoff."""
        now = asyncio.get_running_loop().time()
        key = daemon_set.metadata.uid, node, daemon_set.metadata.generation
        wait = self._backoffs.get(key)
        if wait is not None and now - wait.since < wait.seconds:
            return wait.seconds - (now - wait.since)
        is_new = wait is None or now - wait.since > 2 * LONGEST_WAIT
        seconds = FIRST_WAIT if is_new or wait is None else min(LONGEST_WAIT, 2 * wait.seconds)
        self._backoffs = {k: w for k, w in self._backoffs.items() if now - w.since <= 2 * LONGEST_WAIT}
        self._backoffs[key] = _FailedPodBackoff(seconds, now)
        return 0.0

    async def _report(
        self, daemon_set: DaemonSet, plan: DaemonSetPlan, history: ControllerHistory, hashed: str
    ) -> None:
        before = daemon_set.deep_copy()
        daemon_set.status = _status_of(daemon_set, plan, hashed)
        if history.collisions:
            daemon_set.status.collision_count = history.collisions
        if daemon_set.status.to_wire() != before.status.to_wire():
            try:
                await self.client.status.patch(daemon_set, merge_from(before))
            except (NotFound, Conflict):
                return

    async def _clean_up_history(
        self, daemon_set: DaemonSet, plan: DaemonSetPlan, history: ControllerHistory, current: ControllerRevision
    ) -> None:
        hashes = {pod.metadata.labels.get(HASH_LABEL) for pods in plan.pods.values() for pod in pods}
        live = {r.metadata.name for r in history.revisions if r.metadata.labels.get(HASH_LABEL) in hashes}
        await history.truncate({*live, current.metadata.name}, daemon_set.spec.revision_history_limit)


def _status_of(daemon_set: DaemonSet, plan: DaemonSetPlan, hashed: str) -> DaemonSetStatus:
    status = daemon_set.status.deep_copy()
    scheduled = [pods[0] for node, pods in plan.pods.items() if node in plan.fits and plan.fits[node].should_run]
    misscheduled = [node for node in plan.pods if node in plan.fits and not plan.fits[node].should_run]
    available = sum(is_ready(p) and is_available(p, daemon_set.spec.min_ready_seconds) for p in scheduled)
    status.observed_generation = daemon_set.metadata.generation
    status.desired_number_scheduled = plan.desired_number_scheduled
    status.current_number_scheduled = len(scheduled)
    status.number_misscheduled = len(misscheduled)
    status.number_ready = sum(map(is_ready, scheduled))
    status.updated_number_scheduled = sum(is_pod_updated(pod, daemon_set, hashed) for pod in scheduled) or None
    status.number_available = available or None
    status.number_unavailable = plan.desired_number_scheduled - available or None
    return status


def _requeue(daemon_set: DaemonSet, plan: DaemonSetPlan, wait: timedelta | None) -> Result | None:
    """Requeue for a pod that becomes available, or for the end of a failed pod's backoff."""
    pods = [pod for found in plan.pods.values() for pod in found]
    waits = [time_until_available(pod, daemon_set.spec.min_ready_seconds) for pod in pods]
    soonest = min((each for each in (*waits, wait) if each), default=None)
    return None if soonest is None else Result(requeue_after=soonest)
