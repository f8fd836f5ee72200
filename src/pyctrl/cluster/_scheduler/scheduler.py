"""Simulated scheduler: binds pods to nodes, preempts pods of a lower priority, or reports why pods do not fit."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import suppress
from datetime import timedelta
from typing import Any

from pyctrl import _clock
from pyctrl.api import Key, format_time, is_deleting
from pyctrl.client import MergePatch, Preconditions, StrategicMergePatch, bind
from pyctrl.cluster._disruption_target import disruption_target_patch
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._namespace_termination import ignore_outdated
from pyctrl.cluster._own_writes import OwnWrites
from pyctrl.cluster._pod_claims import pod_claim_keys
from pyctrl.cluster._pod_summary import summarize_pod
from pyctrl.cluster._scheduler.filters import SchedulerCache, ScheduleResult, failure_message
from pyctrl.cluster._scheduler.pod_info import new_pod_info, priority_of
from pyctrl.cluster._scheduler.preemption import PREEMPTED, PreemptionCandidate, awaits_victims, choose_candidate
from pyctrl.cluster._taints_and_affinity import matches_node_selector
from pyctrl.cluster._well_known import SELECTED_NODE
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectChange, Reconciler, Request, Result, reading
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.core.v1 import Node, PersistentVolume, PersistentVolumeClaim, Pod
from pyctrl.kinds.policy.v1 import PodDisruptionBudget
from pyctrl.kinds.storage.v1 import StorageClass

__all__ = ["Scheduler", "add_scheduler"]

DEFAULT_SCHEDULER_NAME = "default-scheduler"


def add_scheduler(host: ManagedCluster, *, start_seconds: float = 0.0, bound: set[str] | None = None) -> Controller:
    """Run the simulated scheduler in a manager.

    Args:
        host: the manager.
        start_seconds: from a pod's creation until it is bound to a node.
        bound: takes the uids of the pods that it binds.
    """
    scheduler = Scheduler(LegacyEventRecorder(host.live_client, DEFAULT_SCHEDULER_NAME), start_seconds, bound)
    return (
        Builder(host)
        .watches(Pod, scheduler.on_pod, predicates=[scheduler.own_writes])
        .watches(Node, scheduler.on_node)
        .watches(PersistentVolumeClaim, scheduler.on_volumes)
        .watches(PersistentVolume, scheduler.on_volumes)
        .watches(StorageClass, scheduler.on_volumes)
        .reads(reading(PodDisruptionBudget, triggers=False))
        .options(name="pretend-scheduler")
        .build(scheduler)
    )


class Scheduler(Reconciler[Pod]):
    """Binds pods that name the default scheduler, one at a time.

    Watch events update the assigned pods of each node before a pod is scheduled, and a binding is assumed at once.
    Unschedulable pods wait for a change of pods, nodes or volumes.
    """

    def __init__(
        self, recorder: LegacyEventRecorder, start_seconds: float = 0.0, bound: set[str] | None = None
    ) -> None:
        self._recorder = recorder
        self._bound = bound
        self._start_seconds = start_seconds
        self._nodes = SchedulerCache()
        self._waiting: dict[Request, int] = {}  # the priorities, in order of arrival
        self._first_seen: dict[Request, float] = {}
        self._chosen: dict[Request, str] = {}  # the nodes of pods that wait for their volumes
        #: Reports that pods do not fit, which do not change whether they do.
        self.own_writes: OwnWrites = OwnWrites()

    # --- watch events ---

    def on_pod(self, observed: ObjectChange[Pod]) -> list[Request]:
        """Update a pod's node; enqueue the pod if it is unassigned, and waiting pods if capacity is freed."""
        request = Request(*observed.current.key)
        summary = summarize_pod(observed.after) if observed.after is not None else None
        if summary is None or summary.is_over:
            self._forget(request)
            return self._waiters() if self._nodes.remove_pod(request.key) else []
        if not summary.node:
            self._nominate(request, observed.new, summary.status.nominated_node_name)
            return [request]
        if not self._nodes.has_pod(request.key, summary.node) and observed.new is not None:
            self._nodes.put_pod(request.key, new_pod_info(observed.new, summary.node))
            self._forget(request)
        return []

    def on_node(self, observed: ObjectChange[Node]) -> list[Request]:
        """Update a node; enqueue the waiting pods."""
        if observed.new is None:
            self._nodes.remove_node(observed.current.key.name)
        else:
            self._nodes.put_node(observed.new)
        return self._waiters()

    def on_volumes(self, observed: ObjectChange[Any]) -> list[Request]:
        """Enqueue the waiting pods, which may need the changed volume."""
        return self._waiters()

    def _waiters(self) -> list[Request]:
        """Return the waiting pods, a higher priority first (PrioritySort)."""
        return sorted(self._waiting, key=lambda request: -self._waiting[request])

    def _nominate(self, request: Request, pod: Pod | None, node: str | None) -> None:
        """Reserve room on the node that a pod is nominated for: by this scheduler, or by another component."""
        self._nodes.nominate(request.key, new_pod_info(pod, node) if pod is not None and node else None)

    def _forget(self, request: Request) -> None:
        self._nodes.nominate(request.key, None)
        self._waiting.pop(request, None)
        self._first_seen.pop(request, None)
        self._chosen.pop(request, None)

    # --- scheduling ---

    async def reconcile(self, request: Request) -> Result | None:
        pod = await self.client.find(Pod, request.key)
        if (
            pod is None
            or pod.spec.node_name
            or is_deleting(pod)
            or pod.spec.scheduler_name not in (None, DEFAULT_SCHEDULER_NAME)
        ):
            self._forget(request)
            return None
        if pod.spec.scheduling_gates:
            return None  # the API server sets the condition; removing a gate is a change
        remaining = self._remaining_start_seconds(request)
        if remaining > 0:
            return Result.after(timedelta(seconds=remaining))
        self._waiting[request] = priority_of(pod)
        with ignore_outdated():
            await self._place(request, pod)
        return None

    def _remaining_start_seconds(self, request: Request) -> float:
        now = asyncio.get_running_loop().time()
        return self._first_seen.setdefault(request, now) + self._start_seconds - now

    async def _place(self, request: Request, pod: Pod) -> None:
        refused, problem = await self._volumes(pod)
        result = self._nodes.refuse_all(problem) if problem else self._nodes.choose(pod, refused=refused)
        if not result.node:
            await self._preempt(request, pod, result)
            return
        node = self._chosen.setdefault(request, result.node)
        if await self._volumes_are_bound(pod, node):
            await self._bind(request, pod, node)

    async def _bind(self, request: Request, pod: Pod, node: str) -> None:
        if self._bound is not None:
            self._bound.add(pod.metadata.uid)  # before the binding: its event may come before the response
        await bind(self.client, pod.key, node)
        self._nodes.put_pod(request.key, new_pod_info(pod, node))
        self._forget(request)
        await self._recorder.normal(pod, "Scheduled", f"Successfully assigned {pod.key} to {node}")

    # --- preemption ---

    async def _preempt(self, request: Request, pod: Pod, result: ScheduleResult) -> None:
        """Delete pods of a lower priority if the pod fits then, and report that it does not fit now."""
        statuses, nominated = result.statuses, pod.status.nominated_node_name or ""
        pods = await self._pods_by_node() if self._nodes.lowest_priority < priority_of(pod) else {}
        if awaits_victims(pod, pods.get(nominated, ()), statuses.get(nominated)):
            return  # as upstream, where changes of its status do not requeue the pod
        found = choose_candidate(
            self._nodes, pod, statuses, pods, await self.client.list(PodDisruptionBudget) if pods else ()
        )
        if not isinstance(found, PreemptionCandidate):
            await self._record_unschedulable(pod, failure_message(statuses, found), "")  # no longer nominated
            return
        self._nominate(request, pod, found.node)
        for victim in found.victims:
            if not is_deleting(victim):
                await self._evict(victim, pod, found.node)
        for key in self._nodes.nominated_below(priority_of(pod), found.node):
            with suppress(NotFound):
                await self.client.status.patch(Pod, Key(*key), MergePatch({"status": {"nominatedNodeName": None}}))
        await self._record_unschedulable(pod, failure_message(statuses, ""), found.node)

    async def _pods_by_node(self) -> dict[str, list[Pod]]:
        pods = defaultdict[str, list[Pod]](list)
        for pod in await self.client.list(Pod):
            if pod.spec.node_name:
                pods[pod.spec.node_name].append(pod)
        return pods

    async def _evict(self, victim: Pod, pod: Pod, node: str) -> None:
        """Delete a pod to make room for another one. A victim that is gone is no error."""
        message = f"{DEFAULT_SCHEDULER_NAME}: preempting to accommodate a higher priority pod"
        try:
            await self.client.status.patch(victim, disruption_target_patch(victim, PREEMPTED, message))
            await self.client.delete(victim, preconditions=Preconditions(uid=victim.metadata.uid))
        except (NotFound, Conflict):
            return
        await self._recorder.normal(victim, "Preempted", f"Preempted by pod {pod.metadata.uid} on node {node}")

    async def _record_unschedulable(self, pod: Pod, message: str, nominated: str) -> None:
        """Set the condition PodScheduled and the nominated node, and record an Event, once for each message."""
        self._chosen.pop(Request.of(pod), None)
        present = next((each for each in pod.status.conditions if each.type == "PodScheduled"), None)
        change = {} if nominated == (pod.status.nominated_node_name or "") else {"nominatedNodeName": nominated or None}
        if present is not None and present.message == message and not change:
            return
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
            "observedGeneration": pod.metadata.generation,
            "lastTransitionTime": format_time(
                (present.last_transition_time if present is not None else None) or _clock.now()
            ),
        }
        patch = StrategicMergePatch({"status": {"conditions": [condition], **change}})
        patched = await self.client.status.patch(pod, patch)
        if not change:
            self.own_writes.record(patched)
        await self._recorder.warning(pod, "FailedScheduling", message)

    # --- volumes ---

    async def _volumes(self, pod: Pod) -> tuple[dict[str, str], str]:
        """Return the nodes that the pod's volumes exclude, with the reason, and the reason that excludes every node."""
        refused: dict[str, str] = {}
        for key in pod_claim_keys(pod):
            claim = await self.client.find(PersistentVolumeClaim, key)
            if claim is None:
                return {}, f'persistentvolumeclaim "{key.name}" not found'
            if is_deleting(claim):
                return {}, f'persistentvolumeclaim "{key.name}" is being deleted'
            if claim.status.phase == "Bound" and claim.spec.volume_name:
                refused |= await self._conflicts(claim.spec.volume_name)
            elif not await self._is_delayed_binding(claim):
                return {}, "pod has unbound immediate PersistentVolumeClaims"
        return refused, ""

    async def _conflicts(self, volume_name: str) -> dict[str, str]:
        volume = await self.client.find(PersistentVolume, Key("", volume_name))
        required = volume.spec.node_affinity.required if volume is not None and volume.spec.node_affinity else None
        if required is None:
            return {}
        nodes = await self.client.list(Node)
        reason = "node(s) didn't match PersistentVolume's node affinity"
        return {node.metadata.name: reason for node in nodes if not matches_node_selector(required, node)}

    async def _is_delayed_binding(self, claim: PersistentVolumeClaim) -> bool:
        name = claim.spec.storage_class_name
        found = await self.client.find(StorageClass, Key("", name)) if name else None
        return found is not None and found.volume_binding_mode == "WaitForFirstConsumer"

    async def _volumes_are_bound(self, pod: Pod, node: str) -> bool:
        """Set the selected node on claims that wait for a consumer; return whether all claims are bound."""
        waits = False
        for key in pod_claim_keys(pod):
            claim = await self.client.get(PersistentVolumeClaim, key)
            if claim.status.phase == "Bound":
                continue
            waits = True
            if claim.metadata.annotations.get(SELECTED_NODE) != node:
                patch = MergePatch({"metadata": {"annotations": {SELECTED_NODE: node}}})
                await self.client.patch(PersistentVolumeClaim, key, patch)
        return not waits
