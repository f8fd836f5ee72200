"""Scheduling-relevant parts of a pod: host ports and affinity terms. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyctrl.api import LabelSelector, Quantity
from pyctrl.cluster._pod_requests import ResourceAmounts, pod_requests
from pyctrl.kinds.core.v1 import Pod, PodAffinityTerm

__all__ = ["PodInfo", "new_pod_info", "priority_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodInfo:
    """A pod on a node, with precomputed fields."""

    node: str
    namespace: str
    labels: Mapping[str, str]
    requests: ResourceAmounts
    ports: frozenset[tuple[str, str, int]]
    priority: int
    repels: tuple[PodAffinityTerm, ...]  # required anti-affinity terms, which also exclude later pods


def new_pod_info(pod: Pod, node: str) -> PodInfo:
    """Return the PodInfo of a pod on a node."""
    anti = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None
    return PodInfo(
        node=node,
        namespace=pod.metadata.namespace,
        labels=pod.metadata.labels,
        requests=pod_requests(pod),
        ports=host_ports(pod),
        priority=priority_of(pod),
        repels=tuple(anti.required_during_scheduling_ignored_during_execution) if anti else (),
    )


def priority_of(pod: Pod) -> int:
    """Return the priority of a pod, 0 if it has none."""
    return pod.spec.priority or 0


def host_ports(pod: Pod) -> frozenset[tuple[str, str, int]]:
    """Return the host ports of a pod: address, protocol, port."""
    return frozenset(
        (port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
        for container in (*pod.spec.init_containers, *pod.spec.containers)
        for port in container.ports
        if port.host_port
    )


def host_ports_conflict(one: Iterable[tuple[str, str, int]], other: Iterable[tuple[str, str, int]]) -> bool:
    """Return whether two sets of host ports conflict: the same port on the same or on every address."""
    everywhere = "0.0.0.0"
    return any(a[1:] == b[1:] and (a[0] == b[0] or everywhere in (a[0], b[0])) for a in one for b in other)


def affinity_term_matches(term: PodAffinityTerm, namespace: str, other: PodInfo) -> bool:
    """Return whether an affinity term of a pod in ``namespace`` matches another pod."""
    if term.label_selector is None:
        return False
    namespaces = term.namespaces or ([] if term.namespace_selector is not None else [namespace])
    is_everywhere = term.namespace_selector is not None and not term.namespace_selector.to_wire()
    if other.namespace not in namespaces and not is_everywhere:
        return False
    return LabelSelector.from_wire(term.label_selector.to_wire()).matches(other.labels)


def quantities(values: Mapping[str, Quantity]) -> ResourceAmounts:
    """Return quantities as decimal numbers."""
    return {name: quantity.value for name, quantity in values.items()}
