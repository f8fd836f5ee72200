"""The resources that a pod requests, as scheduler and autoscaler count them (component-helpers' PodRequests)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from pyctrl.kinds.core.v1 import Container, Pod

__all__ = ["ResourceAmounts", "pod_level_requests", "pod_requests"]

_ZERO = Decimal(0)
ResourceAmounts = dict[str, Decimal]


def pod_requests(pod: Pod) -> ResourceAmounts:
    """Return the requests of the pod itself, and those of its containers for resources that it does not request.

    The containers request the sum of containers and sidecars, or the peak of the init containers. The overhead is added
    to both.
    """
    running = _sum(_requests(container) for container in pod.spec.containers)
    init_peak: ResourceAmounts = {}
    sidecars: ResourceAmounts = {}
    for container in pod.spec.init_containers:
        if container.restart_policy == "Always":
            sidecars = _sum((sidecars, _requests(container)))
            init_peak = _max_resources(init_peak, sidecars)
        else:
            init_peak = _max_resources(init_peak, _sum((sidecars, _requests(container))))
    overhead = {name: quantity.value for name, quantity in pod.spec.overhead.items()}
    of_containers = _max_resources(_sum((running, sidecars)), init_peak)
    return _sum(({**of_containers, **pod_level_requests(pod)}, overhead, {"pods": Decimal(1)}))


def pod_level_requests(pod: Pod) -> ResourceAmounts:
    """Return what the pod requests itself, for all its containers together."""
    requests = pod.spec.resources.requests if pod.spec.resources is not None else {}
    return {name: quantity.value for name, quantity in requests.items() if _is_pod_level(name)}


def _is_pod_level(resource: str) -> bool:
    return resource in ("cpu", "memory") or resource.startswith("hugepages-")


def _requests(container: Container) -> ResourceAmounts:
    return {name: quantity.value for name, quantity in container.resources.requests.items()}


def _sum(parts: Iterable[Mapping[str, Decimal]]) -> ResourceAmounts:
    total: ResourceAmounts = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, _ZERO) + value
    return total


def _max_resources(one: ResourceAmounts, other: ResourceAmounts) -> ResourceAmounts:
    return {name: max(one.get(name, _ZERO), other.get(name, _ZERO)) for name in {**one, **other}}
