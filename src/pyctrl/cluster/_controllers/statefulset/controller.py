"""StatefulSet controller: pods with stable names, ordinals and claims, created, updated and deleted in order.

The rules are those of kube-controller-manager's statefulset controller (pkg/controller/statefulset). `plan` decides the
next steps; this file takes them and updates the status.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pyctrl.api import LabelSelector, is_deleting
from pyctrl.client import Preconditions, merge_from
from pyctrl.cluster._controllers.controller_history import ControllerHistory, hash_controller_revision, template_of
from pyctrl.cluster._controllers.controller_ref_manager import ControllerRefManager, enqueue_adopters, index_orphans
from pyctrl.cluster._controllers.pod_control import is_available, is_ready, time_until_available
from pyctrl.cluster._controllers.statefulset.plan import PodAction, PodStep, StatefulSetPlan
from pyctrl.cluster._controllers.statefulset.pods import (
    identity_labels,
    identity_matches,
    new_stateful_set_pod,
    ordinal_of,
    revision_of,
)
from pyctrl.cluster._controllers.statefulset.volume_claims import VolumeClaimControl
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._namespace_termination import is_namespace_terminating
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import AlreadyExists, ApiError, Conflict, Forbidden, NotFound
from pyctrl.kinds.apps.v1 import ControllerRevision, StatefulSet, StatefulSetStatus
from pyctrl.kinds.core.v1 import Pod, PodTemplateSpec

__all__ = ["StatefulSetReconciler", "add_statefulsets"]

HASH_LABEL = "controller.kubernetes.io/hash"
CLAIM_RETRY = timedelta(seconds=1)  # the next check for a claim that is being deleted


def add_statefulsets(host: ManagedCluster) -> Controller:
    """Run the StatefulSet controller in a manager."""
    index_orphans(host, Pod)
    index_orphans(host, ControllerRevision)
    return (
        Builder(host)
        .reconciles(StatefulSet)
        .owns(Pod)
        .watches(Pod, enqueue_adopters(host, StatefulSet, selector_of))
        .options(name="statefulset", workers=4)
        .build(StatefulSetReconciler(LegacyEventRecorder(host.live_client, "statefulset-controller")))
    )


def selector_of(stateful_set: StatefulSet) -> LabelSelector:
    """Return the selector of a StatefulSet's pods."""
    return LabelSelector.from_wire(stateful_set.spec.selector)


class StatefulSetReconciler(Reconciler[StatefulSet]):
    """Takes the next steps of a StatefulSet, and updates its status."""

    def __init__(self, events: LegacyEventRecorder) -> None:
        self._events = events

    async def reconcile(self, request: Request) -> Result | None:
        stateful_set = await self.client.find(StatefulSet, request.key)
        if stateful_set is None:
            return None
        selector = selector_of(stateful_set)
        history = ControllerHistory(
            self.client, stateful_set, selector, naming=hash_controller_revision, label=HASH_LABEL
        )
        await history.load(stateful_set.status.collision_count or 0)
        update = await self._revision(stateful_set, history)
        if update is None:
            return None
        current = history.get(stateful_set.status.current_revision) or update
        sync = _StatefulSetSync(self, stateful_set, current, update)
        await sync.claim_pods()
        if not is_deleting(stateful_set):
            await sync.act()
        await self._report(stateful_set, sync, history)
        live = {current.metadata.name, update.metadata.name, *map(revision_of, sync.pods)}
        await history.truncate(live, stateful_set.spec.revision_history_limit)
        if sync.error is not None:
            raise sync.error
        return sync.requeue()

    async def _revision(self, stateful_set: StatefulSet, history: ControllerHistory) -> ControllerRevision | None:
        """Return the revision of the current template; for a deleted StatefulSet only an existing one."""
        if is_deleting(stateful_set):
            return history.get(stateful_set.status.update_revision)
        return await history.create_or_update(stateful_set.spec.template)

    @property
    def events(self) -> LegacyEventRecorder:
        """The recorder of its Events."""
        return self._events

    async def _report(self, stateful_set: StatefulSet, sync: _StatefulSetSync, history: ControllerHistory) -> None:
        before = stateful_set.deep_copy()
        status = _status_of(stateful_set, sync.pods, sync.current.metadata.name, sync.update.metadata.name)
        status.collision_count = history.collisions
        stateful_set.status = status
        if status.to_wire() != before.status.to_wire():
            try:
                await self.client.status.patch(stateful_set, merge_from(before))
            except (NotFound, Conflict):
                return


class _StatefulSetSync:
    """One reconcile of one StatefulSet."""

    def __init__(
        self,
        reconciler: StatefulSetReconciler,
        stateful_set: StatefulSet,
        current: ControllerRevision,
        update: ControllerRevision,
    ) -> None:
        self._client, self._events = reconciler.client, reconciler.events
        self._set = stateful_set
        self.current, self.update = current, update
        self.pods: list[Pod] = []
        #: The first error.
        self.error: ApiError | None = None
        self._claims = VolumeClaimControl(self._client, self._events, stateful_set)

    async def claim_pods(self) -> None:
        """Claim the current pods of the StatefulSet."""
        self.pods = await ControllerRefManager(self._client, Pod).claim(
            self._set, selector_of(self._set), is_adoptable=lambda pod: ordinal_of(pod, self._set) is not None
        )

    def requeue(self) -> Result | None:
        """Requeue for a pod that becomes available, or for a claim that is being deleted: neither triggers an event."""
        waits = [time_until_available(pod, self._set.spec.min_ready_seconds) for pod in self.pods]
        waits += [CLAIM_RETRY] if self._claims.is_waiting else []
        soonest = min((wait for wait in waits if wait), default=None)
        return None if soonest is None else Result(requeue_after=soonest)

    async def act(self) -> None:
        """Take the steps of the plan, up to the first batch with an error."""
        steps = StatefulSetPlan(self._set, self.pods, self.update.metadata.name).steps()
        failed_batch = None
        for position, step in enumerate(steps):
            batch = (position + 1).bit_length()  # 1, 2, 4, …: errors usually concern all pods alike (slowStartBatch)
            if failed_batch is not None and batch > failed_batch:
                break
            try:
                await self._execute(step)
            except ApiError as error:
                if isinstance(error, Forbidden) and is_namespace_terminating(error):
                    return
                self.error, failed_batch = self.error or error, batch
        if any(step.action in (PodAction.CREATE, PodAction.DELETE) for step in steps):
            await self.claim_pods()

    async def _execute(self, step: PodStep) -> None:
        match step:
            case PodStep(action=PodAction.CREATE):
                await self._create(step.ordinal)
            case PodStep(action=PodAction.DELETE, pod=Pod() as pod):
                await self._delete(pod)
            case PodStep(action=PodAction.UPDATE, pod=Pod() as pod):
                await self._update(pod, step.ordinal)
            case PodStep(pod=Pod() as pod):
                await self._claims.sync(pod)

    async def _create(self, ordinal: int) -> None:
        template, revision = self._template_for(ordinal)
        pod = new_stateful_set_pod(self._set, template, revision.metadata.name, ordinal)
        try:
            if not await self._claims.prepare(pod):
                return
            created = await self._client.create(pod)
        except AlreadyExists:
            raise  # another owner's pod has the name: upstream records no Event and retries
        except ApiError as error:
            await self._record("Create", pod, error)
            raise
        await self._claims.sync(created)
        await self._record("Create", pod)

    def _template_for(self, ordinal: int) -> tuple[PodTemplateSpec, ControllerRevision]:
        """Return the template and revision of a pod: below the partition those from before the update."""
        strategy = self._set.spec.update_strategy
        if strategy.type != "OnDelete" and self.current.metadata.name != self.update.metadata.name:
            ordinals = self._set.spec.ordinals
            partition = (strategy.rolling_update.partition or 0) if strategy.rolling_update is not None else 0
            if ordinal < (ordinals.start if ordinals is not None else 0) + partition:
                return template_of(self.current), self.current
        return self._set.spec.template, self.update

    async def _delete(self, pod: Pod) -> None:
        try:
            await self._client.delete(pod, preconditions=Preconditions(uid=pod.metadata.uid))
        except (NotFound, Conflict):
            return
        except ApiError as error:
            await self._record("Delete", pod, error)
            raise
        await self._record("Delete", pod)

    async def _update(self, pod: Pod, ordinal: int) -> None:
        """Update the identity of a pod and its claims, and record an Event if anything changed."""
        is_changed = await self._claims.sync(pod)
        if not identity_matches(pod):
            before = pod.deep_copy()
            pod.metadata.labels |= identity_labels(pod.metadata.name, ordinal)
            await self._client.patch(pod, merge_from(before))
            is_changed = True
        if is_changed:
            await self._record("Update", pod)

    async def _record(self, verb: str, pod: Pod, error: ApiError | None = None) -> None:
        subject = f"{verb} Pod {pod.metadata.name} in StatefulSet {self._set.metadata.name}"
        if error is None:
            await self._events.normal(self._set, f"Successful{verb}", f"{subject} successful")
        elif not (isinstance(error, Forbidden) and is_namespace_terminating(error)):
            await self._events.warning(self._set, f"Failed{verb}", f"{subject} failed error: {error.message}")


def _status_of(stateful_set: StatefulSet, pods: Sequence[Pod], current: str, update: str) -> StatefulSetStatus:
    spec, status = stateful_set.spec, stateful_set.status.deep_copy()
    members = [pod for pod in pods if ordinal_of(pod, stateful_set) is not None]
    running = [pod for pod in members if pod.status.phase == "Running" and is_ready(pod)]
    revisions = [revision_of(pod) for pod in members if not is_deleting(pod)]
    status.observed_generation = stateful_set.metadata.generation
    status.replicas = len(members)
    status.ready_replicas = len(running) or None
    status.available_replicas = sum(is_available(pod, spec.min_ready_seconds) for pod in running)
    status.current_replicas = revisions.count(current) or None
    status.updated_replicas = revisions.count(update) or None
    status.current_revision, status.update_revision = current, update
    is_updated = (status.updated_replicas or 0) == (1 if spec.replicas is None else spec.replicas)
    if spec.update_strategy.type != "OnDelete" and is_updated and len(running) == len(members):
        status.current_replicas, status.current_revision = status.updated_replicas, update
    return status
