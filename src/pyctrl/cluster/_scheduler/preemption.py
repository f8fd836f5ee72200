"""Preemption of the simulated scheduler: the pods to delete, so that a pod of a higher priority fits. No I/O.

The rules are those of kube-scheduler's plugin DefaultPreemption (pkg/scheduler/framework/plugins/defaultpreemption and
pkg/scheduler/framework/preemption). Upstream examines a random part of the nodes of a large cluster; here all are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pyctrl import _clock
from pyctrl.api import LabelSelector, is_deleting
from pyctrl.cluster._scheduler.filters import UNHELPFUL, FilterStatus, SchedulerCache, listed
from pyctrl.cluster._scheduler.pod_info import priority_of
from pyctrl.kinds.core.v1 import Pod
from pyctrl.kinds.policy.v1 import PodDisruptionBudget

__all__ = ["PREEMPTED", "PreemptionCandidate", "awaits_victims", "choose_candidate"]

PREEMPTED = "PreemptionByScheduler"  # the reason of the condition DisruptionTarget
_NO_VICTIMS = "No preemption victims found for incoming pod"
_LOWEST = 1 << 31  # added to each priority, so that few pods of a negative priority are better than many


@dataclass(frozen=True, slots=True)
class PreemptionCandidate:
    """A node on which a pod fits once the victims are gone, which are at least one; the most important is the first."""

    node: str
    victims: Sequence[Pod]
    violations: int  # victims that a disruption budget protects

    @property
    def rank(self) -> tuple[int, int, int, int, float]:
        """The order in which nodes are preferred (pickOneNodeForPreemption); the lowest is the best."""
        first = self.victims[0]
        total = sum(priority_of(each) + _LOWEST for each in self.victims)
        return self.violations, priority_of(first), total, len(self.victims), -_started(first).timestamp()


def awaits_victims(pod: Pod, on_nominated: Iterable[Pod], status: FilterStatus | None) -> bool:
    """Return whether pods that were deleted for a pod have not left the node for which it is nominated.

    Args:
        pod: the pod that does not fit.
        on_nominated: the pods on that node, if there is one.
        status: why the pod does not fit on that node.
    """
    if status is not None and not status.preemption_could_help:
        return False
    return any(priority_of(each) < priority_of(pod) and _is_being_preempted(each) for each in on_nominated)


def choose_candidate(
    cache: SchedulerCache,
    pod: Pod,
    statuses: Mapping[str, FilterStatus],
    pods: Mapping[str, Sequence[Pod]],
    budgets: Sequence[PodDisruptionBudget],
) -> PreemptionCandidate | str:
    """Return the best node and its victims, or the message that says why preemption does not help.

    Args:
        cache: the nodes and the pods on them.
        pod: the pod that does not fit.
        statuses: why it does not fit, by node.
        pods: the pods on each node.
        budgets: all disruption budgets. They are respected where possible, and violated where not.
    """
    if pod.spec.preemption_policy == "Never":
        return "not eligible due to preemptionPolicy=Never."
    candidates: list[PreemptionCandidate] = []
    reasons: list[FilterStatus] = []
    for node, status in statuses.items():
        found: PreemptionCandidate | FilterStatus = FilterStatus((UNHELPFUL,))
        if status.preemption_could_help:
            found = _victims_on(cache, pod, node, pods.get(node, ()), budgets)
        if isinstance(found, PreemptionCandidate):
            candidates.append(found)
        else:
            reasons.append(found)
    if candidates:
        return min(candidates, key=lambda each: each.rank)
    return f"0/{len(statuses)} nodes are available: {listed(reasons)}."


def _victims_on(
    cache: SchedulerCache, pod: Pod, node: str, pods: Sequence[Pod], budgets: Sequence[PodDisruptionBudget]
) -> PreemptionCandidate | FilterStatus:
    """Return the fewest and least important pods without which a pod fits on a node, or why it does not fit."""
    lower = [each for each in pods if priority_of(each) < priority_of(pod) and cache.has_pod(each.key, node)]
    if not lower:
        return FilterStatus((_NO_VICTIMS,))
    lower.sort(key=_by_importance)
    protected, others = _protected(lower, budgets)
    victims: list[Pod] = []
    with cache.trial(pod):
        removed = {each.key: cache.remove_pod(each.key) for each in lower}
        if (status := cache.check(pod, node)) is not None:
            return status
        for each in (*protected, *others):  # spare as many as possible, the protected ones first
            if (info := removed[each.key]) is not None:
                cache.put_pod(each.key, info)
            if cache.check(pod, node) is not None:
                cache.remove_pod(each.key)
                victims.append(each)
    return PreemptionCandidate(node, sorted(victims, key=_by_importance), sum(each in protected for each in victims))


def _protected(pods: Sequence[Pod], budgets: Sequence[PodDisruptionBudget]) -> tuple[list[Pod], list[Pod]]:
    """Divide pods, in their order, into those whose disruption violates a budget and the others."""
    allowed = [budget.status.disruptions_allowed or 0 for budget in budgets]
    violating: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        is_violating = False
        for index, budget in enumerate(budgets):
            if _protects(budget, pod) and pod.metadata.name not in budget.status.disrupted_pods:
                allowed[index] -= 1
                is_violating = is_violating or allowed[index] < 0
        (violating if is_violating else others).append(pod)
    return violating, others


def _protects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    wire = budget.spec.selector.to_wire() if budget.spec.selector else None
    if not wire or budget.metadata.namespace != pod.metadata.namespace:
        return False
    return LabelSelector.from_wire(wire).matches(pod.metadata.labels)


def _is_being_preempted(pod: Pod) -> bool:
    if not is_deleting(pod):
        return False
    condition = next((each for each in pod.status.conditions if each.type == "DisruptionTarget"), None)
    return condition is not None and condition.status == "True" and condition.reason == PREEMPTED


def _by_importance(pod: Pod) -> tuple[int, datetime]:
    """Order pods by importance: a higher priority first, and of equal ones the one that started first."""
    return -priority_of(pod), _started(pod)


def _started(pod: Pod) -> datetime:
    return pod.status.start_time or _clock.now().astimezone(UTC)
