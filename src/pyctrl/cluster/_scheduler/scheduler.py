"""Simulated scheduler: binds pods to nodes, or reports why they are unschedulable."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from pyctrl import _clock
from pyctrl.api import Key, format_time, is_deleting
from pyctrl.client import MergePatch, StrategicMergePatch, bind
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._namespace_termination import ignore_outdated
from pyctrl.cluster._pod_claims import pod_claim_keys
from pyctrl.cluster._pod_summary import summarize_pod
from pyctrl.cluster._scheduler.filters import SchedulerCache
from pyctrl.cluster._scheduler.pod_info import new_pod_info
from pyctrl.cluster._taints_and_affinity import matches_node_selector
from pyctrl.cluster._well_known import SELECTED_NODE
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectChange, Reconciler, Request, Result
from pyctrl.kinds.core.v1 import Node, PersistentVolume, PersistentVolumeClaim, Pod
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
        .watches(Pod, scheduler.on_pod)
        .watches(Node, scheduler.on_node)
        .watches(PersistentVolumeClaim, scheduler.on_volumes)
        .watches(PersistentVolume, scheduler.on_volumes)
        .watches(StorageClass, scheduler.on_volumes)
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
        self._waiting: dict[Request, None] = {}  # in order of arrival
        self._first_seen: dict[Request, float] = {}
        self._chosen: dict[Request, str] = {}  # the nodes of pods that wait for their volumes

    # --- watch events ---

    def on_pod(self, observed: ObjectChange[Pod]) -> list[Request]:
        """Update a pod's node; enqueue the pod if it is unassigned, and waiting pods if capacity is freed."""
        request = Request(*observed.current.key)
        summary = summarize_pod(observed.after) if observed.after is not None else None
        if summary is None or summary.is_over:
            self._forget(request)
            return list(self._waiting) if self._nodes.remove_pod(request.key) else []
        if not summary.node:
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
        return list(self._waiting)

    def on_volumes(self, observed: ObjectChange[Any]) -> list[Request]:
        """Enqueue the waiting pods, which may need the changed volume."""
        return list(self._waiting)

    def _forget(self, request: Request) -> None:
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
        self._waiting[request] = None
        with ignore_outdated():
            await self._place(request, pod)
        return None

    def _remaining_start_seconds(self, request: Request) -> float:
        now = asyncio.get_running_loop().time()
        return self._first_seen.setdefault(request, now) + self._start_seconds - now

    async def _place(self, request: Request, pod: Pod) -> None:
        refused, problem = await self._volumes(pod)
        if problem:
            await self._record_unschedulable(pod, self._nodes.explain_all(problem))
            return
        result = self._nodes.choose(pod, refused=refused)
        if not result.node:
            await self._record_unschedulable(pod, result.message)
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

    async def _record_unschedulable(self, pod: Pod, message: str) -> None:
        """Set the condition PodScheduled and record an Event, once for each message."""
        self._chosen.pop(Request.of(pod), None)
        present = next((each for each in pod.status.conditions if each.type == "PodScheduled"), None)
        if present is not None and present.message == message:
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
        await self.client.status.patch(pod, StrategicMergePatch({"status": {"conditions": [condition]}}))
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
