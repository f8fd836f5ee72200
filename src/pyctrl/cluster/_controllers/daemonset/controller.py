"""DaemonSets: a pod on every node that fits.

The rules are those of kube-controller-manager's daemonset controller (pkg/controller/daemon). What is done next is
decided in `_daemonset_plan`; here it is done and reported.
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

BURST = 250  # pods made or deleted in one reconcile (BurstReplicas)
FIRST_WAIT, LONGEST_WAIT = 1.0, 900.0  # seconds that a node's failed pod is left alone, doubling (failedPodsBackoff)


def add_daemonsets(host: ManagedCluster) -> Controller:
    """Run DaemonSets in a manager."""
    index_orphans(host, Pod)
    index_orphans(host, ControllerRevision)
    return (
        Builder(host)
        .reconciles(DaemonSet)
        .owns(Pod)
        .watches(Pod, enqueue_adopters(host, DaemonSet, selector_of))
        .watches(Node, _every_set(host), predicates=[changed(_scheduling_changed)])
        .options(name="daemonset", workers=2)
        .build(DaemonSetReconciler(LegacyEventRecorder(host.live_client, "daemonset-controller")))
    )


def selector_of(daemon_set: DaemonSet) -> LabelSelector:
    """Return which pods can be a set's."""
    return LabelSelector.from_wire(daemon_set.spec.selector)


def _every_set(host: ManagedCluster) -> Callable[[ObjectChange[Node]], Awaitable[list[Request]]]:
    async def requests(observed: ObjectChange[Node]) -> list[Request]:
        return [Request.of(found) for found in await host.client.list(DaemonSet)]

    return requests


def _scheduling_changed(old: Node, new: Node) -> bool:
    """Say whether a node has changed in what decides about its pods."""
    return old.metadata.labels != new.metadata.labels or old.spec.taints != new.spec.taints


@dataclass(slots=True)
class _FailedPodBackoff:
    """How long the failed pods of a node are left alone, since when."""

    seconds: float
    since: float


class DaemonSetReconciler(Reconciler[DaemonSet]):
    """Brings a pod to every node that should have one, replaces those of old templates, and counts."""

    def __init__(self, events: LegacyEventRecorder) -> None:
        self._events = events
        self._waits: dict[tuple[str, str, int | None], _FailedPodBackoff] = {}

    async def reconcile(self, request: Request) -> Result | None:
        daemon_set = await self.client.find(DaemonSet, request.key)
        if daemon_set is None or is_deleting(daemon_set):
            return None  # of one that is going, nobody knows which of its revisions are still there (as upstream)
        selector = selector_of(daemon_set)
        revisions = ControllerHistory(self.client, daemon_set, selector, naming=template_hash, label=HASH_LABEL)
        await revisions.load(daemon_set.status.collision_count or 0)
        present = await revisions.obtain(daemon_set.spec.template)
        hashed = present.metadata.labels.get(HASH_LABEL, "")
        plan = await self._look(daemon_set, selector, hashed)
        refusal, wait = await self._act(daemon_set, plan, hashed)
        plan = await self._look(daemon_set, selector, hashed)
        await self._report(daemon_set, plan, revisions, hashed)
        await self._forget_history(daemon_set, plan, revisions, present)
        if refusal is not None:
            raise refusal
        return _requeue(daemon_set, plan, wait)

    async def _look(self, daemon_set: DaemonSet, selector: LabelSelector, hashed: str) -> DaemonSetPlan:
        pods = await ControllerRefManager(self.client, Pod).settle(daemon_set, selector)
        nodes = sorted(await self.client.list(Node), key=lambda node: node.metadata.name)
        return DaemonSetPlan(daemon_set, nodes, pods, hashed)

    async def _act(
        self, daemon_set: DaemonSet, plan: DaemonSetPlan, hashed: str
    ) -> tuple[ApiError | None, timedelta | None]:
        """Do what is next; returns the first refusal, and when to come back for failed pods that are left alone."""
        actions = plan.place()
        wait = await self._back_off_failed_pods(daemon_set, actions)
        if not actions:
            actions = plan.renew()
        control = PodControl(self.client, self._events)
        new = [new_daemon_pod(daemon_set, node, hashed) for node in actions.create[:BURST]]
        _, refusal = await control.create_all(daemon_set, new)
        return await control.delete_all(daemon_set, actions.delete[:BURST]) or refusal, wait

    async def _back_off_failed_pods(self, daemon_set: DaemonSet, actions: PodChanges) -> timedelta | None:
        """Tell of pods that have ended; those that failed again at once are left for a while."""
        soonest = None
        for pod, node in actions.ended:
            name = f"{pod.metadata.namespace}/{pod.metadata.name} on node {node}"
            if pod.status.phase == "Succeeded":
                message = f"Found succeeded daemon pod {name}, will try to delete it"
                await self._events.normal(daemon_set, "SucceededDaemonPod", message)
                continue
            if (left := self._wait_of(daemon_set, node)) > 0:
                actions.delete.remove(pod)
                soonest = left if soonest is None else min(soonest, left)
                continue
            message = f"Found failed daemon pod {name}, will try to kill it"
            await self._events.warning(daemon_set, "FailedDaemonPod", message)
        return None if soonest is None else timedelta(seconds=soonest)

    def _wait_of(self, daemon_set: DaemonSet, node: str) -> float:
        """Return the seconds for which failed pods of a node are still to be left alone; none begins the next wait."""
        now = asyncio.get_running_loop().time()
        key = daemon_set.metadata.uid, node, daemon_set.metadata.generation
        wait = self._waits.get(key)
        if wait is not None and now - wait.since < wait.seconds:
            return wait.seconds - (now - wait.since)
        is_new = wait is None or now - wait.since > 2 * LONGEST_WAIT
        seconds = FIRST_WAIT if is_new or wait is None else min(LONGEST_WAIT, 2 * wait.seconds)
        self._waits = {k: w for k, w in self._waits.items() if now - w.since <= 2 * LONGEST_WAIT}
        self._waits[key] = _FailedPodBackoff(seconds, now)
        return 0.0

    async def _report(
        self, daemon_set: DaemonSet, plan: DaemonSetPlan, revisions: ControllerHistory, hashed: str
    ) -> None:
        before = daemon_set.deep_copy()
        daemon_set.status = _status_of(daemon_set, plan, hashed)
        if revisions.collisions:
            daemon_set.status.collision_count = revisions.collisions
        if daemon_set.status.to_wire() != before.status.to_wire():
            try:
                await self.client.status.patch(daemon_set, merge_from(before))
            except (NotFound, Conflict):
                return

    async def _forget_history(
        self, daemon_set: DaemonSet, plan: DaemonSetPlan, revisions: ControllerHistory, present: ControllerRevision
    ) -> None:
        hashes = {pod.metadata.labels.get(HASH_LABEL) for pods in plan.pods.values() for pod in pods}
        live = {r.metadata.name for r in revisions.known if r.metadata.labels.get(HASH_LABEL) in hashes}
        await revisions.truncate({*live, present.metadata.name}, daemon_set.spec.revision_history_limit)


def _status_of(daemon_set: DaemonSet, plan: DaemonSetPlan, hashed: str) -> DaemonSetStatus:
    status = daemon_set.status.deep_copy()
    on_right = [pods[0] for node, pods in plan.pods.items() if node in plan.fits and plan.fits[node].should_run]
    wrong = [node for node in plan.pods if node in plan.fits and not plan.fits[node].should_run]
    available = sum(is_ready(p) and is_available(p, daemon_set.spec.min_ready_seconds) for p in on_right)
    status.observed_generation = daemon_set.metadata.generation
    status.desired_number_scheduled = plan.desired
    status.current_number_scheduled = len(on_right)
    status.number_misscheduled = len(wrong)
    status.number_ready = sum(map(is_ready, on_right))
    status.updated_number_scheduled = sum(is_pod_updated(pod, daemon_set, hashed) for pod in on_right) or None
    status.number_available = available or None
    status.number_unavailable = plan.desired - available or None
    return status


def _requeue(daemon_set: DaemonSet, plan: DaemonSetPlan, wait: timedelta | None) -> Result | None:
    """Come back when a pod has been ready for long enough, or a failed one left alone for long enough."""
    pods = [pod for found in plan.pods.values() for pod in found]
    waits = [time_until_available(pod, daemon_set.spec.min_ready_seconds) for pod in pods]
    soonest = min((each for each in (*waits, wait) if each), default=None)
    return None if soonest is None else Result(requeue_after=soonest)
