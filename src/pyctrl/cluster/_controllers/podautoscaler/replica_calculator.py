"""Replica calculator: how many replicas bring a metric to its target.

Functions over data, with the rules of upstream's calculator (pkg/controller/podautoscaler/replica_calculator.go). All
values are in thousandths. They raise `MetricsError` when no number follows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from pyctrl import _clock
from pyctrl.api import Quantity, is_deleting
from pyctrl.cluster._controllers.pod_control import is_ready
from pyctrl.cluster._controllers.podautoscaler.metrics_client import MetricsError, PodMetric
from pyctrl.cluster._pod_requests import pod_level_requests, pod_requests
from pyctrl.kinds.core.v1 import Container, Pod

__all__ = ["Tolerances", "Usage", "per_pod_replicas", "plain_replicas", "ratio_replicas", "resource_replicas"]

_CPU_INITIALIZATION = timedelta(minutes=5)  # --horizontal-pod-autoscaler-cpu-initialization-period
_READINESS_DELAY = timedelta(seconds=30)  # --horizontal-pod-autoscaler-initial-readiness-delay
_MAX_INT32, _MAX_INT64, _MIN_INT64 = 2**31 - 1, 2**63 - 1, -(2**63)


class Tolerances(NamedTuple):
    """How far a metric may be from its target, as a part of it, before the target is scaled."""

    scale_down: float
    scale_up: float

    def contain(self, ratio: float) -> bool:
        """Return whether a ratio of usage to target is too close to 1 to scale."""
        return 1.0 - self.scale_down <= ratio <= 1.0 + self.scale_up


class Usage(NamedTuple):
    """The proposed replicas, and what was measured; `utilization` is in percent of the requests."""

    replicas: int
    value: int
    utilization: int | None = None


@dataclass
class _PodGroups:
    """Pods by what their metrics are worth; all but the ready ones by name."""

    ready: int = 0
    unready: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)


def resource_replicas(
    metrics: Mapping[str, PodMetric],
    pods: Sequence[Pod],
    current: int,
    target: int,
    resource: str,
    container: str,
    tolerances: Tolerances,
) -> Usage:
    """Return the replicas for a utilization in percent of the requests of pods, or of one of their containers."""
    groups, measured = _measured(metrics, pods, resource)
    requests = {pod.metadata.name: _request(pod, container, resource) for pod in pods}

    def ratio(values: Mapping[str, int]) -> tuple[float, Usage]:
        known = {name: value for name, value in values.items() if name in requests}
        requested = sum(requests[name] for name in known)
        if requested == 0:
            raise MetricsError("no metrics returned matched known pods")
        total = sum(known.values())
        utilization = _quotient(total * 100, requested)
        return utilization / target, Usage(0, _quotient(total, len(known)), utilization)

    # When scaling down, a pod without metrics counts as using what it requests, or the target if that is higher.
    return _propose(measured, groups, current, tolerances, ratio, lambda name: requests[name] * max(100, target) // 100)


def plain_replicas(
    metrics: Mapping[str, PodMetric],
    pods: Sequence[Pod],
    current: int,
    target: int,
    tolerances: Tolerances,
    *,
    resource: str = "",
) -> Usage:
    """Return the replicas for an average value over pods."""
    groups, measured = _measured(metrics, pods, resource)

    def ratio(values: Mapping[str, int]) -> tuple[float, Usage]:
        average = _quotient(sum(values.values()), len(values))
        return average / target, Usage(0, average)

    return _propose(measured, groups, current, tolerances, ratio, lambda _: target)


def ratio_replicas(value: int, pods: Sequence[Pod], current: int, target: int, tolerances: Tolerances) -> Usage:
    """Return the replicas for one value of an object or of an external metric, relative to the ready pods."""
    value = min(value, _MAX_INT64)
    ratio = value / target
    if tolerances.contain(ratio):
        return Usage(current, value)
    if not pods:
        why = "no pods returned by selector while calculating replica count"
        raise MetricsError(f"unable to calculate ready pods: {why}")
    ready = sum(pod.status.phase == "Running" and is_ready(pod) for pod in pods)
    return Usage(min(math.ceil(ratio * ready), _MAX_INT32), value)


def per_pod_replicas(value: int, replicas: int, target: int, tolerances: Tolerances) -> Usage:
    """Return the replicas for one value that is divided among the replicas of the target's status."""
    value = min(value, _MAX_INT64)
    average = _MIN_INT64 if replicas == 0 else math.ceil(value / replicas)  # Go converts an infinity to the minimum
    if replicas != 0 and tolerances.contain(value / (target * replicas)):
        return Usage(replicas, average)
    return Usage(min(math.ceil(value / target), _MAX_INT32), average)


def _measured(
    metrics: Mapping[str, PodMetric], pods: Sequence[Pod], resource: str
) -> tuple[_PodGroups, dict[str, int]]:
    """Return the groups of pods, and the values that count."""
    if not pods:
        raise MetricsError("no pods returned by selector while calculating replica count")
    groups = _group(metrics, pods, resource)
    left_out = groups.ignored | groups.unready
    measured = {name: metric.value for name, metric in metrics.items() if name not in left_out}
    if not measured:
        raise MetricsError("did not receive metrics for targeted pods (pods might be unready)")
    return groups, measured


def _propose(
    measured: Mapping[str, int],
    groups: _PodGroups,
    current: int,
    tolerances: Tolerances,
    ratio_of: Callable[[Mapping[str, int]], tuple[float, Usage]],
    value_of_missing: Callable[[str], int],
) -> Usage:
    """Return the replicas for pods, some of which may be unready or without metrics.

    Such pods damp the change: when scaling up they count as using nothing, when scaling down as `value_of_missing`.
    """
    ratio, usage = ratio_of(measured)
    has_unready = bool(groups.unready) and ratio > 1.0
    if not has_unready and not groups.missing:
        return usage._replace(replicas=current if tolerances.contain(ratio) else math.ceil(ratio * groups.ready))
    values = dict(measured)
    if ratio != 1.0:
        values |= {name: value_of_missing(name) if ratio < 1.0 else 0 for name in groups.missing}
    if has_unready:
        values |= dict.fromkeys(groups.unready, 0)
    damped, _ = ratio_of(values)
    replicas = math.ceil(damped * len(values))
    is_reversed = ratio < 1.0 < damped or damped < 1.0 < ratio
    is_reversed = is_reversed or (damped < 1.0 and replicas > current) or (damped > 1.0 and replicas < current)
    return usage._replace(replicas=current if tolerances.contain(damped) or is_reversed else replicas)


def _group(metrics: Mapping[str, PodMetric], pods: Sequence[Pod], resource: str) -> _PodGroups:
    groups, now = _PodGroups(), _clock.now()
    for pod in pods:
        name = pod.metadata.name
        if is_deleting(pod) or pod.status.phase == "Failed":
            groups.ignored.add(name)
        elif pod.status.phase == "Pending":
            groups.unready.add(name)
        elif name not in metrics:
            groups.missing.add(name)
        elif resource == "cpu" and _is_starting(pod, metrics[name], now):
            groups.unready.add(name)
        else:
            groups.ready += 1
    return groups


def _is_starting(pod: Pod, metric: PodMetric, now: datetime) -> bool:
    """Return whether the CPU usage of a pod is that of its start."""
    condition = next((each for each in pod.status.conditions if each.type == "Ready"), None)
    start = pod.status.start_time
    if condition is None or start is None:
        return True
    is_unready, changed = condition.status == "False", condition.last_transition_time
    if changed is None:
        return is_unready
    if start + _CPU_INITIALIZATION > now:
        return is_unready or metric.timestamp < changed + metric.window
    return is_unready and start + _READINESS_DELAY > changed  # it has never been ready


def _request(pod: Pod, container: str, resource: str) -> int:
    """Return how much of a resource a pod requests, or one container of it."""
    if not container and pod_level_requests(pod):
        if (of_pod := pod_requests(pod).get(resource)) is None:
            raise MetricsError(f"missing pod-level request for {resource} in Pod {pod.metadata.name}")
        return Quantity(of_pod).as_int("m")
    sidecars = [each for each in pod.spec.init_containers if each.restart_policy == "Always"]
    counted = [each for each in (*pod.spec.containers, *sidecars) if container in ("", each.name)]
    if not counted:
        raise MetricsError(f"container {container} not found in Pod {pod.metadata.name}")
    return sum(_container_request(pod, each, resource) for each in counted)


def _container_request(pod: Pod, container: Container, resource: str) -> int:
    request = container.resources.requests.get(resource)
    if request is None:
        where = f"container {container.name} of Pod {pod.metadata.name}"
        raise MetricsError(f"missing request for {resource} in {where}")
    return request.as_int("m")


def _quotient(value: int, divisor: int) -> int:
    """Divide as Go does, towards zero."""
    return value // divisor if value >= 0 else -(-value // divisor)
