"""ReplicaSets: as many pods as they want, no more and no fewer.

The rules are those of kube-controller-manager's replicaset controller (pkg/controller/replicaset). A
ReplicationController is the same under an older name, so what is here keeps both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from pyctrl import _clock
from pyctrl.api import LabelSelector, controller_of, is_deleting
from pyctrl.client import merge_from
from pyctrl.cluster._controllers.controller_ref_manager import ControllerRefManager, enqueue_adopters, index_orphans
from pyctrl.cluster._controllers.pod_control import (
    PodControl,
    is_active,
    is_available,
    is_ready,
    pod_from_template,
    time_until_available,
)
from pyctrl.cluster._controllers.pod_ranking import pods_to_delete
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import ApiError, NotFound
from pyctrl.kinds.apps.v1 import ReplicaSet, ReplicaSetCondition
from pyctrl.kinds.core.v1 import Pod, PodTemplateSpec, ReplicationController, ReplicationControllerCondition

__all__ = ["ReplicaSetReconciler", "add_replicasets", "add_replicationcontrollers", "desired_replicas"]

BURST = 500  # pods made or deleted in one reconcile (BurstReplicas)

#: What is kept here.
ReplicaSetOrController: TypeAlias = ReplicaSet | ReplicationController


@dataclass(frozen=True, slots=True, kw_only=True)
class KindTraits:
    """What differs between the two kinds."""

    kind: type[ReplicaSet | ReplicationController]
    condition: type[ReplicaSetCondition | ReplicationControllerCondition]
    #: The name that its events have.
    component: str


_SETS = KindTraits(kind=ReplicaSet, condition=ReplicaSetCondition, component="replicaset-controller")
_CONTROLLERS = KindTraits(
    kind=ReplicationController, condition=ReplicationControllerCondition, component="replication-controller"
)


def add_replicasets(host: ManagedCluster) -> Controller:
    """Run ReplicaSets in a manager."""
    return _add(host, _SETS)


def add_replicationcontrollers(host: ManagedCluster) -> Controller:
    """Run ReplicationControllers in a manager."""
    return _add(host, _CONTROLLERS)


def _add(host: ManagedCluster, family: KindTraits) -> Controller:
    index_orphans(host, Pod)
    return (
        Builder(host)
        .reconciles(cast(Any, family.kind))  # a type checker makes their common base of the two
        .owns(Pod)
        .watches(Pod, enqueue_adopters(host, family.kind, selector_of))
        .options(name=family.kind.gvk.kind.lower(), workers=4)
        .build(ReplicaSetReconciler(family, LegacyEventRecorder(host.live_client, family.component)))
    )


def selector_of(keeper: ReplicaSetOrController) -> LabelSelector:
    """Return which pods a set counts."""
    if isinstance(keeper, ReplicaSet):
        return LabelSelector.from_wire(keeper.spec.selector)
    return LabelSelector.from_dict(keeper.spec.selector)


def desired_replicas(keeper: ReplicaSetOrController) -> int:
    """Return how many pods a set wants; one when it does not say."""
    return 1 if keeper.spec.replicas is None else keeper.spec.replicas


class ReplicaSetReconciler(Reconciler[ReplicaSetOrController]):
    """Makes and deletes pods until there are as many as wanted, adopts fitting orphans, and counts.

    No expectations are kept, as upstream must: the client's reads see its own writes.
    """

    def __init__(self, family: KindTraits, events: LegacyEventRecorder) -> None:
        self._family, self._events = family, events

    async def reconcile(self, request: Request) -> Result | None:
        keeper: ReplicaSetOrController | None = await self.client.find(cast(Any, self._family.kind), request.key)
        if keeper is None:
            return None
        pods = await ControllerRefManager(self.client, Pod).settle(keeper, selector_of(keeper), is_adoptable=is_active)
        refusal = None
        if not is_deleting(keeper):
            pods, refusal = await self._scale(keeper, pods)
        await self._report(keeper, pods, refusal)
        if refusal is not None:
            raise refusal
        return _requeue_until_available(keeper, pods)

    async def _scale(self, keeper: ReplicaSetOrController, pods: list[Pod]) -> tuple[list[Pod], ApiError | None]:
        """Make or delete what is missing or too much; returns the pods that there are then."""
        control = PodControl(self.client, self._events)
        active = [pod for pod in pods if is_active(pod)]
        missing = desired_replicas(keeper) - len(active)
        if missing > 0:
            new = [pod_from_template(_template_of(keeper), keeper) for _ in range(min(missing, BURST))]
            created, refusal = await control.create_all(keeper, new)
            return [*pods, *created], refusal
        if missing < 0:
            chosen = pods_to_delete(active, await self._related(keeper, active), min(-missing, BURST))
            refusal = await control.delete_all(keeper, chosen)
            return await self._present(pods), refusal
        return pods, None

    async def _present(self, pods: Sequence[Pod]) -> list[Pod]:
        """Return those pods that are still there, as they are now."""
        found = [await self.client.find(Pod, pod.key) for pod in pods]
        return [pod for pod in found if pod is not None]

    async def _related(self, keeper: ReplicaSetOrController, pods: Sequence[Pod]) -> list[Pod]:
        """Return the pods of all sets with the same owner: a Deployment's old and new ones share the nodes."""
        owner = controller_of(keeper)
        if owner is None:
            return list(pods)
        related: list[Pod] = []
        for sibling in await self.client.list(self._family.kind, index=("owner", owner.uid)):
            related += await self.client.list(Pod, index=("owner", sibling.metadata.uid))
        return related

    async def _report(self, keeper: ReplicaSetOrController, pods: Sequence[Pod], refusal: ApiError | None) -> None:
        before = keeper.deep_copy()
        active = [pod for pod in pods if is_active(pod)]
        labels = _template_of(keeper).metadata.labels.items()
        status = keeper.status
        status.replicas = len(active)
        status.fully_labeled_replicas = sum(labels <= pod.metadata.labels.items() for pod in active) or None
        status.ready_replicas = sum(map(is_ready, active)) or None
        available = sum(is_available(pod, keeper.spec.min_ready_seconds) for pod in active)
        status.available_replicas = available or None
        if isinstance(keeper, ReplicaSet):
            ended = ("Succeeded", "Failed")
            keeper.status.terminating_replicas = sum(is_deleting(p) and p.status.phase not in ended for p in pods)
        status.observed_generation = keeper.metadata.generation
        self._note_failure(keeper, len(active), refusal)
        if status.to_wire() != before.status.to_wire():
            try:
                await self.client.status.patch(keeper, merge_from(before))
            except NotFound:
                return

    def _note_failure(self, keeper: ReplicaSetOrController, active: int, refusal: ApiError | None) -> None:
        """Keep the condition ReplicaFailure for as long as the server refuses what has to be done."""
        conditions: list[Any] = list(keeper.status.conditions)
        is_noted = any(condition.type == "ReplicaFailure" for condition in conditions)
        if refusal is not None and not is_noted:
            failure = self._family.condition(
                type="ReplicaFailure",
                status="True",
                reason="FailedCreate" if active < desired_replicas(keeper) else "FailedDelete",
                message=refusal.message,
                last_transition_time=_clock.now(),
            )
            keeper.status.conditions = [*conditions, failure]
        elif refusal is None and is_noted:
            keeper.status.conditions = [c for c in conditions if c.type != "ReplicaFailure"]


def _template_of(keeper: ReplicaSetOrController) -> PodTemplateSpec:
    return keeper.spec.template or PodTemplateSpec()


def _requeue_until_available(keeper: ReplicaSetOrController, pods: Sequence[Pod]) -> Result | None:
    """Come back when the next pod has been ready for long enough: nothing else tells of it."""
    waits = [time_until_available(pod, keeper.spec.min_ready_seconds) for pod in pods if is_active(pod)]
    soonest = min((wait for wait in waits if wait), default=None)
    return None if soonest is None else Result(requeue_after=soonest)
