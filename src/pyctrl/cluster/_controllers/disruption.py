"""Disruption controller: the number of pods that PodDisruptionBudgets allow to evict.

Evictions check the status that it writes. The rules are those of kube-controller-manager's disruption controller
(pkg/controller/disruption).
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from pyctrl import _clock
from pyctrl.api import (
    Condition,
    GroupKind,
    GroupVersionKind,
    Key,
    LabelSelector,
    OwnerReference,
    controller_of,
    is_deleting,
    set_condition,
)
from pyctrl.client import get_scale, merge_from
from pyctrl.cluster._controllers.int_or_percent import scaled_value
from pyctrl.cluster._controllers.pod_control import is_ready
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectChange, Reconciler, Request, Result
from pyctrl.errors import Conflict, NotFound, PyctrlError
from pyctrl.kinds.apps.v1 import Deployment, ReplicaSet, StatefulSet
from pyctrl.kinds.core.v1 import Pod, ReplicationController
from pyctrl.kinds.policy.v1 import PodDisruptionBudget

__all__ = ["DisruptionReconciler", "add_disruptions"]

DELETION_TIMEOUT = timedelta(minutes=2)  # after which an evicted pod that still exists counts again (DeletionTimeout)


def add_disruptions(host: ManagedCluster) -> Controller:
    """Run the disruption controller in a manager."""
    return (
        Builder(host)
        .reconciles(PodDisruptionBudget)
        .watches(Pod, _BudgetsOfPod(host))
        .options(name="disruption", workers=2)
        .build(DisruptionReconciler(LegacyEventRecorder(host.live_client, "controllermanager")))
    )


class _BudgetsOfPod:
    """Enqueues the budgets whose selectors match a pod's labels before or after a change."""

    def __init__(self, host: ManagedCluster) -> None:
        self._host = host

    def __call__(self, observed: ObjectChange[Pod]) -> Iterable[Request] | Awaitable[Iterable[Request]]:
        return self._budgets(observed)

    async def _budgets(self, observed: ObjectChange[Pod]) -> Iterable[Request]:
        budgets = await self._host.client.list(PodDisruptionBudget, namespace=observed.current.key.namespace)
        labels = [record.labels for record in observed.records] if budgets else []
        return [Request.of(budget) for budget in budgets if any(map(_selector_of(budget).matches, labels))]


def _selector_of(budget: PodDisruptionBudget) -> LabelSelector:
    return LabelSelector.from_wire(budget.spec.selector)


class UnknownScale(Exception):
    """Raised when the expected number of pods cannot be determined."""


class DisruptionReconciler(Reconciler[PodDisruptionBudget]):
    """Counts the pods of a budget, and updates the number of allowed disruptions."""

    def __init__(self, events: LegacyEventRecorder) -> None:
        self._events = events

    async def reconcile(self, request: Request) -> Result | None:
        budget = await self.client.find(PodDisruptionBudget, request.key)
        if budget is None:
            return None
        before = budget.deep_copy()
        pods = await self.client.list(Pod, namespace=request.namespace, labels=_selector_of(budget))
        if not pods:
            await self._events.normal(budget, "NoPods", "No matching pods found")
        wait = None
        try:
            expected, wanted = await self._expected_pod_count(budget, pods)
        except UnknownScale as error:
            await self._fail(budget, str(error))
        else:
            wait = self._update_status(budget, pods, expected, wanted)
        await self._write(budget, before)
        return None if wait is None else Result(requeue_after=wait)

    async def _write(self, budget: PodDisruptionBudget, before: PodDisruptionBudget) -> None:
        if budget.status.to_wire() != before.status.to_wire():
            try:
                await self.client.status.patch(budget, merge_from(before, optimistic_lock=True))
            except (NotFound, Conflict):
                return  # an eviction changed the status meanwhile: that change triggers a reconcile

    def _update_status(
        self, budget: PodDisruptionBudget, pods: Sequence[Pod], expected: int, wanted: int
    ) -> timedelta | None:
        """Update the counts; return the time until the next evicted pod counts again."""
        now, status = _clock.now(), budget.status
        disrupted = _disrupted_pods(status.disrupted_pods, pods, now)
        healthy = sum(is_ready(p) and not is_deleting(p) and p.metadata.name not in disrupted for p in pods)
        status.current_healthy, status.desired_healthy, status.expected_pods = healthy, wanted, expected
        status.disruptions_allowed = max(0, healthy - wanted) if expected > 0 else 0
        status.disrupted_pods = disrupted
        status.observed_generation = budget.metadata.generation
        is_allowed = status.disruptions_allowed > 0
        reason = "SufficientPods" if is_allowed else "InsufficientPods"
        _set_condition(budget, "True" if is_allowed else "False", reason, "")
        return min((end + DELETION_TIMEOUT - now for end in disrupted.values()), default=None)

    async def _fail(self, budget: PodDisruptionBudget, why: str) -> None:
        """Allow no disruptions while the expected number of pods is unknown."""
        message = f"Failed to calculate the number of expected pods: {why}"
        await self._events.warning(budget, "CalculateExpectedPodCountFailed", message)
        budget.status.disruptions_allowed = 0
        _set_condition(budget, "False", "SyncFailed", why)

    # --- the expected number of pods ---

    async def _expected_pod_count(self, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> tuple[int, int]:
        """Return the expected number of pods, and how many of them must be healthy."""
        spec = budget.spec
        if spec.max_unavailable is not None:
            expected = await self._scale(budget, pods)
            return expected, max(0, expected - scaled_value(spec.max_unavailable, expected, up=True))
        if isinstance(spec.min_available, str):
            expected = await self._scale(budget, pods)
            return expected, scaled_value(spec.min_available, expected, up=True)
        return len(pods), spec.min_available or 0

    async def _scale(self, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> int:
        """Return the sum of the replicas that the pods' controllers want."""
        owners: dict[str, tuple[OwnerReference, str]] = {}
        unmanaged = False
        for pod in sorted(pods, key=lambda pod: pod.metadata.name):
            reference = controller_of(pod)
            if reference is None:
                unmanaged = True
            else:
                owners.setdefault(reference.uid, (reference, pod.metadata.name))
        if unmanaged:
            await self._events.warning(budget, "UnmanagedPods", _unmanaged_message(budget))
        scales: dict[str, int] = {}
        for reference, pod_name in owners.values():
            uid, replicas = await self._scale_of(reference, budget.metadata.namespace, pod_name)
            scales[uid] = replicas
        return sum(scales.values())

    async def _scale_of(self, reference: OwnerReference, namespace: str, pod: str) -> tuple[str, int]:
        """Return uid and replicas of a pod's controller; for a ReplicaSet those of its Deployment, if any."""
        key, kind = Key(namespace, reference.name), GroupKind(reference.api_version.partition("/")[0], reference.kind)
        owner: Deployment | ReplicaSet | StatefulSet | ReplicationController | None = None
        if kind == ReplicaSet.gvk.group_kind:
            owner = await self.client.find(ReplicaSet, key)
            above = controller_of(owner) if owner is not None else None
            if above is not None and above.kind == "Deployment":
                owner = await self.client.find(Deployment, key._replace(name=above.name))
        elif kind == StatefulSet.gvk.group_kind:
            owner = await self.client.find(StatefulSet, key)
        elif reference.kind == "ReplicationController":
            owner = await self.client.find(ReplicationController, key)
        else:
            return reference.uid, await self._scale_from_subresource(reference, key, pod)
        if owner is None:
            raise UnknownScale(f'found no controllers for pod "{pod}"')
        return owner.metadata.uid, 1 if owner.spec.replicas is None else owner.spec.replicas

    async def _scale_from_subresource(self, reference: OwnerReference, key: Key, pod: str) -> int:
        """Return the replicas of a controller of any other kind from its scale subresource."""
        gvk, live = GroupVersionKind.parse(reference.api_version, reference.kind), self.client.live
        try:
            mapping = await live.discovery.mapping(gvk)
            if "scale" not in mapping.subresources:
                resource = f"{mapping.plural}.{gvk.group}" if gvk.group else mapping.plural
                raise UnknownScale(f"{resource} does not implement the scale subresource")
            return (await get_scale(live, gvk, key)).replicas
        except PyctrlError as error:
            raise UnknownScale(f'found no controllers for pod "{pod}"') from error


def _unmanaged_message(budget: PodDisruptionBudget) -> str:
    selector = budget.spec.selector
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.match_labels if selector else {}).items()))
    terms = f"MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{}},"
    return (
        f"Pods selected by this PodDisruptionBudget (selector: &LabelSelector{{{terms}}}) were found to be unmanaged. "
        "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. "
        'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
    )


def _disrupted_pods(recorded: Mapping[str, datetime], pods: Sequence[Pod], now: datetime) -> dict[str, datetime]:
    """Return the evicted pods that are neither being deleted nor past the deletion timeout."""
    waiting = {pod.metadata.name for pod in pods if not is_deleting(pod)}
    return {name: time for name, time in recorded.items() if name in waiting and time + DELETION_TIMEOUT > now}


def _set_condition(budget: PodDisruptionBudget, status: Literal["True", "False"], reason: str, message: str) -> None:
    condition = Condition(type="DisruptionAllowed", status=status, reason=reason, message=message)
    condition.last_transition_time = _clock.now().replace(microsecond=0)
    condition.observed_generation = budget.status.observed_generation
    set_condition(budget.status.conditions, condition)
