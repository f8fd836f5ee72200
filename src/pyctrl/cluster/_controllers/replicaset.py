"""ReplicaSet controller, which also runs ReplicationControllers.

The rules are those of kube-controller-manager's replicaset controller (pkg/controller/replicaset).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from pyctrl import _clock
from pyctrl.api import LabelSelector, controller_of, is_deleting, merge_patch_diff
from pyctrl.client import MergePatch
from pyctrl.cluster._controllers.controller_ref_manager import (
    ControllerRefManager,
    enqueue_adopters,
    index_orphans,
    label_selector,
)
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
from pyctrl.cluster._own_writes import OwnWrites
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import ApiError, NotFound
from pyctrl.kinds.apps.v1 import ReplicaSet, ReplicaSetCondition
from pyctrl.kinds.core.v1 import Pod, PodTemplateSpec, ReplicationController, ReplicationControllerCondition

__all__ = ["ReplicaSetReconciler", "add_replicasets", "add_replicationcontrollers", "desired_replicas"]

BURST = 500  # pods created or deleted in one reconcile (BurstReplicas)

#: The kinds of this controller.
ReplicaSetOrController: TypeAlias = ReplicaSet | ReplicationController


@dataclass(frozen=True, slots=True, kw_only=True)
class KindTraits:
    """The differences between the two kinds."""

    kind: type[ReplicaSet | ReplicationController]
    condition: type[ReplicaSetCondition | ReplicationControllerCondition]
    #: The component of its Events.
    component: str


_SETS = KindTraits(kind=ReplicaSet, condition=ReplicaSetCondition, component="replicaset-controller")
_CONTROLLERS = KindTraits(
    kind=ReplicationController, condition=ReplicationControllerCondition, component="replication-controller"
)


def add_replicasets(host: ManagedCluster) -> Controller:
    """Run the ReplicaSet controller in a manager."""
    return _add(host, _SETS)


def add_replicationcontrollers(host: ManagedCluster) -> Controller:
    """Run the ReplicationController controller in a manager."""
    return _add(host, _CONTROLLERS)


def _add(host: ManagedCluster, traits: KindTraits) -> Controller:
    index_orphans(host, Pod)
    reconciler = ReplicaSetReconciler(traits, LegacyEventRecorder(host.live_client, traits.component))
    return (
        Builder(host)
        .reconciles(cast(Any, traits.kind), predicates=[reconciler.own_writes])  # a type checker infers a common base
        .owns(Pod, predicates=[reconciler.own_creations])
        .watches(Pod, enqueue_adopters(host, traits.kind, selector_of))
        .options(name=traits.kind.gvk.kind.lower(), workers=4)
        .build(reconciler)
    )


def selector_of(replica_set: ReplicaSetOrController) -> LabelSelector:
    """Return the selector of the pods."""
    if isinstance(replica_set, ReplicaSet):
        return label_selector(replica_set.spec.selector)
    return LabelSelector.from_dict(replica_set.spec.selector)


def desired_replicas(replica_set: ReplicaSetOrController) -> int:
    """Return spec.replicas, by default 1."""
    return 1 if replica_set.spec.replicas is None else replica_set.spec.replicas


class ReplicaSetReconciler(Reconciler[ReplicaSetOrController]):
    """Creates and deletes pods until their number is right, adopts matching orphans, and updates the status.

    Upstream's expectations are not needed: the client's reads include its own writes.
    """

    def __init__(self, traits: KindTraits, events: LegacyEventRecorder) -> None:
        self._traits, self._events = traits, events
        #: The writes of statuses, and the created pods, after which nothing is left to do.
        self.own_writes, self.own_creations = OwnWrites(), OwnWrites()

    async def reconcile(self, request: Request) -> Result | None:
        replica_set: ReplicaSetOrController | None = await self.client.find(cast(Any, self._traits.kind), request.key)
        if replica_set is None:
            return None
        pods = await ControllerRefManager(self.client, Pod).claim(
            replica_set, selector_of(replica_set), is_adoptable=is_active
        )
        error = None
        if not is_deleting(replica_set):
            pods, error = await self._scale(replica_set, pods)
        await self._report(replica_set, pods, error)
        if error is not None:
            raise error
        return _requeue_until_available(replica_set, pods)

    async def _scale(self, replica_set: ReplicaSetOrController, pods: list[Pod]) -> tuple[list[Pod], ApiError | None]:
        """Create missing or delete surplus pods; return the resulting pods and the first error."""
        control = PodControl(self.client, self._events, self.own_creations)
        active = [pod for pod in pods if is_active(pod)]
        missing = desired_replicas(replica_set) - len(active)
        if missing > 0:
            new = pod_from_template(_template_of(replica_set), replica_set)
            created, error = await control.create_all(replica_set, [new] * min(missing, BURST))
            return [*pods, *created], error
        if missing < 0:
            chosen = pods_to_delete(active, await self._related(replica_set, active), min(-missing, BURST))
            error = await control.delete_all(replica_set, chosen)
            return await self._still_existing(pods), error
        return pods, None

    async def _still_existing(self, pods: Sequence[Pod]) -> list[Pod]:
        """Return the current versions of those pods that still exist."""
        found = [await self.client.find(Pod, pod.key) for pod in pods]
        return [pod for pod in found if pod is not None]

    async def _related(self, replica_set: ReplicaSetOrController, pods: Sequence[Pod]) -> list[Pod]:
        """Return the pods of all ReplicaSets with the same owner, which share nodes during a rollout."""
        owner = controller_of(replica_set)
        if owner is None:
            return list(pods)
        related: list[Pod] = []
        for sibling in await self.client.list(self._traits.kind, index=("owner", owner.uid)):
            related += await self.client.list(Pod, index=("owner", sibling.metadata.uid))
        return related

    async def _report(self, replica_set: ReplicaSetOrController, pods: Sequence[Pod], error: ApiError | None) -> None:
        before = replica_set.status.to_wire()
        active = [pod for pod in pods if is_active(pod)]
        labels = _template_of(replica_set).metadata.labels.items()
        status = replica_set.status
        status.replicas = len(active)
        status.fully_labeled_replicas = sum(labels <= pod.metadata.labels.items() for pod in active) or None
        status.ready_replicas = sum(map(is_ready, active)) or None
        available = sum(is_available(pod, replica_set.spec.min_ready_seconds) for pod in active)
        status.available_replicas = available or None
        if isinstance(replica_set, ReplicaSet):
            ended = ("Succeeded", "Failed")
            replica_set.status.terminating_replicas = sum(is_deleting(p) and p.status.phase not in ended for p in pods)
        status.observed_generation = replica_set.metadata.generation
        self._set_replica_failure(replica_set, len(active), error)
        if change := merge_patch_diff(before, status.to_wire()):
            try:
                written = await self.client.status.patch(replica_set, MergePatch({"status": change}))
            except NotFound:
                return
            self.own_writes.record(written)

    def _set_replica_failure(self, replica_set: ReplicaSetOrController, active: int, error: ApiError | None) -> None:
        """Set the condition ReplicaFailure while pods cannot be created or deleted; remove it afterwards."""
        conditions: list[Any] = list(replica_set.status.conditions)
        is_recorded = any(condition.type == "ReplicaFailure" for condition in conditions)
        if error is not None and not is_recorded:
            failure = self._traits.condition(
                type="ReplicaFailure",
                status="True",
                reason="FailedCreate" if active < desired_replicas(replica_set) else "FailedDelete",
                message=error.message,
                last_transition_time=_clock.now(),
            )
            replica_set.status.conditions = [*conditions, failure]
        elif error is None and is_recorded:
            replica_set.status.conditions = [c for c in conditions if c.type != "ReplicaFailure"]


def _template_of(replica_set: ReplicaSetOrController) -> PodTemplateSpec:
    return replica_set.spec.template or PodTemplateSpec()


def _requeue_until_available(replica_set: ReplicaSetOrController, pods: Sequence[Pod]) -> Result | None:
    """Requeue for the next pod that has been ready for minReadySeconds, which triggers no event."""
    waits = [time_until_available(pod, replica_set.spec.min_ready_seconds) for pod in pods if is_active(pod)]
    soonest = min((wait for wait in waits if wait), default=None)
    return None if soonest is None else Result(requeue_after=soonest)
