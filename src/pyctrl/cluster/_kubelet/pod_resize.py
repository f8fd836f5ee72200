"""Resize of a pod in place: what its node has allocated, the conditions of a resize, and its time. No I/O."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pyctrl import _clock
from pyctrl._quota import ResourceList, add_resources, pod_resources
from pyctrl.api import Quantity, format_time
from pyctrl.cluster._kubelet.container_lifecycle import ContainerLifecycle, PodEvent
from pyctrl.kinds.core.v1 import Node, Pod

__all__ = ["NodeRoom", "PodResize"]

DEFERRED_RETRY = 180.0  # seconds until a deferred resize is tried again, beside other changes of the pod; the kubelet's
_SCALES = (("cpu", 1000), ("memory", 1))  # of numbers in messages: CPU in thousandths, memory in bytes


class NodeRoom(NamedTuple):
    """What a node can allocate, and what its other pods have."""

    allocatable: ResourceList
    used: ResourceList

    @classmethod
    def of(cls, node: Node, others: Iterable[Pod]) -> NodeRoom:
        """Return the room of a node that other pods run on."""
        used: ResourceList = {}
        for wire in (each.to_wire() for each in others):
            used = add_resources(
                used, pod_resources(wire["spec"], "requests", status=wire["status"], with_overhead=True)
            )
        return cls(node.status.allocatable, used)

    def problem(self, pod: Pod) -> tuple[str, str] | None:
        """Return reason and message why the requests of a pod do not fit; None when they do."""
        requests = pod_resources(pod.spec.to_wire(), "requests", with_overhead=True)
        zero = Quantity("0")
        for name, scale in _SCALES:
            wanted, used, capacity = (each.get(name, zero) for each in (requests, self.used, self.allocatable))
            shown = [-int(-each.value * scale // 1) for each in (wanted, used, capacity)]
            if wanted > capacity:
                why = f"Node didn't have enough capacity: {name}, requested: {shown[0]}, capacity: {shown[2]}"
                return "Infeasible", why
            if wanted + used > capacity:
                why = f"{name}, requested: {shown[0]}, used: {shown[1]}, capacity: {shown[2]}"
                return "Deferred", f"Node didn't have enough resource: {why}"
        return None


class PodResize:
    """The state of the resizes of one pod.

    Args:
        pod: the pod as the node has admitted it.
        containers: its init containers and containers.
    """

    def __init__(self, pod: Pod, containers: Sequence[ContainerLifecycle]) -> None:
        self._pod, self._containers = pod, containers
        self._generation = pod.metadata.generation
        self._until = math.inf  # when the resize in progress ends
        self._retry = math.inf  # when a deferred resize is tried again
        self._pending: dict[str, Any] | None = None
        self._in_progress: dict[str, Any] | None = None
        self.events: list[PodEvent] = []

    @property
    def next_change(self) -> float:
        """The time of the next change, or infinity."""
        return min(self._until, self._retry)

    def conditions(self) -> list[dict[str, Any]]:
        """Return the conditions PodResizePending and PodResizeInProgress, those that hold."""
        return [each for each in (self._pending, self._in_progress) if each is not None]

    def is_wanted(self, pod: Pod, now: float) -> bool:
        """Return whether resources of the pod differ from the allocated ones, and are to be allocated now."""
        self._pod = pod
        if pod.metadata.generation == self._generation and now < self._retry:
            return False
        self._generation = pod.metadata.generation
        wanted = [each.spec.resources.to_wire() for each in self._containers]
        if wanted == [each.allocated for each in self._containers]:
            self._pending, self._retry = None, math.inf
            return False
        return True

    def allocate(self, room: NodeRoom, now: float) -> None:
        """Allocate what the pod wants and begin the resize; if it does not fit, the resize is pending."""
        if problem := room.problem(self._pod):
            self._defer(*problem, now)
            return
        self._pending, self._retry = None, math.inf
        for container in self._containers:
            container.allocated = container.spec.resources.to_wire()
        scripts = [each.script for each in self._containers]
        self._until = now + max((each.resize_seconds or 0.0 for each in scripts), default=0.0)
        self._in_progress = self._condition("PodResizeInProgress", None, None, None)
        self._add_event("Normal", "ResizeStarted", "Pod resize started")

    def _defer(self, reason: str, message: str, now: float) -> None:
        before = self._pending
        self._pending = self._condition("PodResizePending", reason, message, before)
        self._retry = now + DEFERRED_RETRY
        known = None if before is None else (before["reason"], before["observedGeneration"])
        if known != (reason, self._generation):
            event = "ResizeInfeasible" if reason == "Infeasible" else "ResizeDeferred"
            self._add_event("Warning", event, f"Pod resize {reason}", message)

    def advance(self, now: float) -> None:
        """End the resize in progress when its time has come."""
        if self._until > now:
            return
        self._until = math.inf
        errors = [each.script.resize_error for each in self._containers if each.script.resize_error]
        if errors:
            self._in_progress = self._condition("PodResizeInProgress", "Error", errors[0], self._in_progress)
            self._add_event("Warning", "ResizeError", "Pod resize error", errors[0])
            return
        for container in self._containers:
            container.resize(now)
        self._in_progress = None
        self._add_event("Normal", "ResizeCompleted", "Pod resize completed")

    def end(self) -> None:
        """Forget the conditions: the pod has ended."""
        self._pending = self._in_progress = None
        self._until = self._retry = math.inf

    def _condition(
        self, kind: str, reason: str | None, message: str | None, before: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        time = format_time(_clock.now())
        is_same = before is not None and before["reason"] == reason
        return {
            "type": kind,
            "status": "True",
            "observedGeneration": self._generation,
            "lastProbeTime": time,
            "lastTransitionTime": before["lastTransitionTime"] if before is not None and is_same else time,
            "reason": reason,
            "message": message,
        }

    def _add_event(self, type: str, reason: str, what: str, error: str = "") -> None:
        spec = self._pod.spec
        summary = {
            key: [{"name": each.name, "resources": each.resources.to_wire()} for each in containers]
            for key, containers in (("initContainers", spec.init_containers), ("containers", spec.containers))
            if containers
        }
        rest = {"generation": self._generation, **({"error": error} if error else {})}
        text = json.dumps({**summary, **rest}, separators=(",", ":"))
        self.events.append(PodEvent(type, reason, f"{what}: {text}"))
