"""Filters and scoring of the simulated scheduler: the node for a pod, or why no node fits. No I/O.

The filters and their messages are kube-scheduler's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from decimal import Decimal

from pyctrl.api import LabelSelector
from pyctrl.cluster._pod_requests import ResourceAmounts
from pyctrl.cluster._scheduler.pod_info import (
    PodInfo,
    affinity_term_matches,
    host_ports_conflict,
    new_pod_info,
    priority_of,
    quantities,
)
from pyctrl.cluster._taints_and_affinity import matches_node, preferred_affinity_score, untolerated_taints
from pyctrl.kinds.core.v1 import Node, Pod, PodAffinityTerm, Taint, TopologySpreadConstraint

__all__ = ["UNHELPFUL", "FilterStatus", "ScheduleResult", "SchedulerCache", "failure_message", "listed"]

UNHELPFUL = "Preemption is not helpful for scheduling"
_NO_AFFINITY = "node(s) didn't match pod affinity rules"
_NO_DOMAIN = "node(s) didn't match pod topology spread constraints (missing required label)"
_UNRESOLVABLE = frozenset((_NO_AFFINITY, _NO_DOMAIN))  # whatever pods are deleted


@dataclass(frozen=True, slots=True)
class FilterStatus:
    """The reasons for which a node does not fit, and whether deleting pods from it could help."""

    reasons: tuple[str, ...]
    preemption_could_help: bool = False


@dataclass(frozen=True, slots=True)
class ScheduleResult:
    """The node for a pod or, without one, why each node does not fit."""

    node: str = ""
    statuses: Mapping[str, FilterStatus] = field(default_factory=dict)


class SchedulerCache:
    """The nodes of a cluster, and the pods assigned to them."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._allocatable: dict[str, ResourceAmounts] = {}
        self._pods: dict[tuple[str, str], PodInfo] = {}
        self._repelling: dict[tuple[str, str], PodInfo] = {}  # the pods with required anti-affinity
        self._used: dict[str, ResourceAmounts] = {}
        self._priorities = Counter[int]()  # of the pods
        self._nominated: dict[tuple[str, str], PodInfo] = {}  # pods that are to run on a node once it has room

    @property
    def lowest_priority(self) -> int:
        """The lowest priority of a pod on a node; that of a pod without one if there is none."""
        return min(self._priorities, default=0)

    def put_node(self, node: Node) -> None:
        """Add or replace a node."""
        self._nodes[node.metadata.name] = node
        self._allocatable[node.metadata.name] = quantities(node.status.allocatable)

    def remove_node(self, name: str) -> None:
        """Remove a node; its pods count again if it is added again."""
        self._nodes.pop(name, None)
        self._allocatable.pop(name, None)

    def has_pod(self, key: tuple[str, str], node: str) -> bool:
        """Return whether a pod is already assumed on this node."""
        found = self._pods.get(key)
        return found is not None and found.node == node

    def put_pod(self, key: tuple[str, str], pod: PodInfo) -> None:
        """Add a pod to its node."""
        self.remove_pod(key)
        self._pods[key] = pod
        if pod.repels:
            self._repelling[key] = pod
        self._count(pod, 1)

    def remove_pod(self, key: tuple[str, str]) -> PodInfo | None:
        """Remove a pod, and return it if it was assigned."""
        gone = self._pods.pop(key, None)
        self._repelling.pop(key, None)
        if gone is not None:
            self._count(gone, -1)
        return gone

    def _count(self, pod: PodInfo, sign: int) -> None:
        used = self._used.setdefault(pod.node, {})
        for name, value in pod.requests.items():
            used[name] = used.get(name, Decimal(0)) + sign * value
        self._priorities[pod.priority] += sign
        if not self._priorities[pod.priority]:
            del self._priorities[pod.priority]

    def nominate(self, key: tuple[str, str], pod: PodInfo | None) -> None:
        """Reserve room on a node for a pod, against pods of a lower priority; None ends the reservation."""
        if pod is None:
            self._nominated.pop(key, None)
        else:
            self._nominated[key] = pod

    def nominated_below(self, priority: int, node: str) -> list[tuple[str, str]]:
        """Return the keys of the pods of a lower priority that are nominated for a node."""
        return [key for key, each in self._nominated.items() if each.node == node and each.priority < priority]

    @contextmanager
    def trial(self, pod: Pod) -> Iterator[None]:
        """Assume the pods that are nominated before a pod, and undo all changes of pods at the end of the block.

        The block must not await.
        """
        before = self._pods, self._repelling, self._used, self._priorities
        self._pods, self._repelling, self._priorities = dict(before[0]), dict(before[1]), Counter(before[3])
        self._used = {node: dict(used) for node, used in before[2].items()}
        try:
            for key, each in self._nominated_before(pod).items():
                self.put_pod(key, each)
            yield
        finally:
            self._pods, self._repelling, self._used, self._priorities = before

    def _nominated_before(self, pod: Pod) -> dict[tuple[str, str], PodInfo]:
        """Return the other pods that are nominated for a node, of the same or a higher priority."""
        priority, own = priority_of(pod), tuple(pod.key)
        return {key: each for key, each in self._nominated.items() if each.priority >= priority and key != own}

    # --- selection of a node ---

    def choose(self, pod: Pod, *, refused: Mapping[str, str]) -> ScheduleResult:
        """Return the node for a pod: the nominated or preferred one of those that fit, else that with the fewest pods.

        Args:
            pod: the pod to schedule.
            refused: the nodes that the pod's volumes exclude, with the reason.
        """
        statuses: dict[str, FilterStatus] = {}
        fitting: list[Node] = []
        incoming = new_pod_info(pod, "")
        with self.trial(pod) if self._nominated_before(pod) else nullcontext():
            for name, node in self._nodes.items():
                status = self._filter(pod, incoming, node)
                if status is None and name in refused:
                    status = FilterStatus((refused[name],))
                if status is None:
                    fitting.append(node)
                else:
                    statuses[name] = status
        if fitting:
            return ScheduleResult(node=min(fitting, key=lambda node: self._cost(pod, node)).metadata.name)
        return ScheduleResult(statuses=statuses)

    def check(self, pod: Pod, node: str) -> FilterStatus | None:
        """Return why a pod does not fit on a node, or None."""
        return self._filter(pod, new_pod_info(pod, ""), self._nodes[node])

    def refuse_all(self, reason: str) -> ScheduleResult:
        """Return the result for a pod that cannot be scheduled to any node for one reason."""
        return ScheduleResult(statuses=dict.fromkeys(self._nodes, FilterStatus((reason,))))

    def _cost(self, pod: Pod, node: Node) -> tuple[bool, int, int, Decimal, str]:
        name = node.metadata.name
        is_other = name != pod.status.nominated_node_name
        soft = untolerated_taints(node.spec.taints, pod.spec.tolerations, ("PreferNoSchedule",))
        pods = self._used.get(name, {}).get("pods", Decimal(0))
        return is_other, len(soft), -preferred_affinity_score(pod, node), pods, name

    # --- filters, in kube-scheduler's order ---

    def _filter(self, pod: Pod, incoming: PodInfo, node: Node) -> FilterStatus | None:
        if untolerated_taints(node.spec.taints, pod.spec.tolerations, ("NoSchedule", "NoExecute")):
            if node.spec.unschedulable and len(node.spec.taints) == 1:
                return FilterStatus(("node(s) were unschedulable",))
            return FilterStatus(("node(s) had untolerated taint(s)",))
        if node.spec.unschedulable and not _tolerates_unschedulable(pod):
            return FilterStatus(("node(s) were unschedulable",))
        if not matches_node(pod, node):
            return FilterStatus(("node(s) didn't match Pod's node affinity/selector",))
        wanted = incoming.ports
        if wanted and any(host_ports_conflict(wanted, each.ports) for each in self._pods_on(node)):
            return FilterStatus(("node(s) didn't have free ports for the requested pod ports",), True)
        if insufficient := self._insufficient_resources(incoming.requests, node):
            return FilterStatus(insufficient, self._fits_when_empty(incoming.requests, node))
        if reason := self._topology_spread(pod, node) or self._inter_pod_affinity(pod, incoming, node):
            return FilterStatus((reason,), reason not in _UNRESOLVABLE)
        return None

    def _pods_on(self, node: Node) -> Iterable[PodInfo]:
        return (each for each in self._pods.values() if each.node == node.metadata.name)

    def _insufficient_resources(self, requests: ResourceAmounts, node: Node) -> tuple[str, ...]:
        used, allocatable = self._used.get(node.metadata.name, {}), self._allocatable[node.metadata.name]
        missing = [
            name
            for name, value in requests.items()
            if value and used.get(name, 0) + value > allocatable.get(name, Decimal(0))
        ]
        return tuple("Too many pods" if name == "pods" else f"Insufficient {name}" for name in missing)

    def _fits_when_empty(self, requests: ResourceAmounts, node: Node) -> bool:
        allocatable = self._allocatable[node.metadata.name]
        return all(value <= allocatable.get(name, Decimal(0)) for name, value in requests.items())

    def _topology_spread(self, pod: Pod, node: Node) -> str | None:
        for constraint in pod.spec.topology_spread_constraints:
            if constraint.when_unsatisfiable != "DoNotSchedule":
                continue
            domain = node.metadata.labels.get(constraint.topology_key)
            if domain is None:
                return _NO_DOMAIN
            counts = self._domains(pod, constraint)
            if counts[domain] + 1 - min(counts.values()) > constraint.max_skew:
                return "node(s) didn't match pod topology spread constraints"
        return None

    def _domains(self, pod: Pod, constraint: TopologySpreadConstraint) -> Counter[str]:
        """Return the number of pods that a constraint matches in each domain that the pod could be scheduled to."""
        key = constraint.topology_key
        nodes = {
            name: node for name, node in self._nodes.items() if key in node.metadata.labels and matches_node(pod, node)
        }
        counts = Counter({node.metadata.labels[key]: 0 for node in nodes.values()})
        wire = constraint.label_selector.to_wire() if constraint.label_selector else None
        selector = LabelSelector.from_wire(wire)
        for each in self._pods.values():
            if each.node in nodes and each.namespace == pod.metadata.namespace and selector.matches(each.labels):
                counts[nodes[each.node].metadata.labels[key]] += 1
        return counts

    def _inter_pod_affinity(self, pod: Pod, incoming: PodInfo, node: Node) -> str | None:
        """Check the pod's affinity and anti-affinity, and the anti-affinity of existing pods."""
        affinity = pod.spec.affinity
        near = affinity.pod_affinity if affinity else None
        far = affinity.pod_anti_affinity if affinity else None
        namespace = pod.metadata.namespace
        for term in near.required_during_scheduling_ignored_during_execution if near else ():
            if not self._has_matching_pod(term, namespace, node) and not self._is_first_of_group(term, incoming):
                return _NO_AFFINITY
        for term in far.required_during_scheduling_ignored_during_execution if far else ():
            if self._has_matching_pod(term, namespace, node):
                return "node(s) didn't match pod anti-affinity rules"
        if self._is_repelled(incoming, node):
            return "node(s) didn't satisfy existing pods anti-affinity rules"
        return None

    def _is_repelled(self, incoming: PodInfo, node: Node) -> bool:
        """Return whether the anti-affinity of an existing pod excludes a node for a pod."""
        return any(
            self._same_domain(term.topology_key, each.node, node)
            and affinity_term_matches(term, each.namespace, incoming)
            for each in self._repelling.values()
            for term in each.repels
        )

    def _has_matching_pod(self, term: PodAffinityTerm, namespace: str, node: Node) -> bool:
        return any(
            self._same_domain(term.topology_key, each.node, node) and affinity_term_matches(term, namespace, each)
            for each in self._pods.values()
        )

    def _is_first_of_group(self, term: PodAffinityTerm, pod: PodInfo) -> bool:
        """Return whether a pod with affinity to its own group is the first of the group."""
        others = (each for each in self._pods.values() if affinity_term_matches(term, pod.namespace, each))
        return affinity_term_matches(term, pod.namespace, pod) and next(others, None) is None

    def _same_domain(self, key: str, one: str, other: Node) -> bool:
        found = self._nodes.get(one)
        domain = found.metadata.labels.get(key) if found else None
        return domain is not None and domain == other.metadata.labels.get(key)


def failure_message(statuses: Mapping[str, FilterStatus], preemption: str) -> str:
    """Return the message of a failed scheduling attempt, as kube-scheduler writes it.

    Args:
        statuses: why each node does not fit.
        preemption: why preemption does not help; "" if pods are being preempted.
    """
    if not statuses:
        return "no nodes available to schedule pods"
    message = f"0/{len(statuses)} nodes are available: {listed(statuses.values())}."
    return f"{message} no new claims to deallocate, preemption: {preemption}" if preemption else message


def listed(statuses: Iterable[FilterStatus]) -> str:
    """Return the number of nodes for each reason."""
    counted = Counter(reason for each in statuses for reason in each.reasons)
    return ", ".join(sorted(f"{count} {reason}" for reason, count in counted.items()))


def _tolerates_unschedulable(pod: Pod) -> bool:
    taint = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
    return not untolerated_taints([taint], pod.spec.tolerations, ("NoSchedule",))
