"""StatefulSets: pods with names, numbers and claims of their own, made, replaced and dismissed in order.

The rules are those of kube-controller-manager's statefulset controller (pkg/controller/statefulset). What is done next
is decided in `_statefulset_plan`; here it is done and reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pyctrl.api import LabelSelector, is_deleting
from pyctrl.client import Preconditions, merge_from
from pyctrl.cluster._controllers.controller_history import ControllerHistory, hash_controller_revision, template_of
from pyctrl.cluster._controllers.controller_ref_manager import ControllerRefManager, enqueue_adopters, index_orphans
from pyctrl.cluster._controllers.namespace import is_namespace_terminating
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
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import AlreadyExists, ApiError, Conflict, Forbidden, NotFound
from pyctrl.kinds.apps.v1 import ControllerRevision, StatefulSet, StatefulSetStatus
from pyctrl.kinds.core.v1 import Pod, PodTemplateSpec

__all__ = ["StatefulSetReconciler", "add_statefulsets"]

HASH_LABEL = "controller.kubernetes.io/hash"
AGAIN = timedelta(seconds=1)  # until a claim that is going is looked at again


def add_statefulsets(host: ManagedCluster) -> Controller:
    """Run StatefulSets in a manager."""
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
    """Return which pods can be a set's."""
    return LabelSelector.from_wire(stateful_set.spec.selector)


class StatefulSetReconciler(Reconciler[StatefulSet]):
    """Does the next steps of a set, and counts its pods."""

    def __init__(self, events: LegacyEventRecorder) -> None:
        self._events = events

    async def reconcile(self, request: Request) -> Result | None:
        stateful_set = await self.client.find(StatefulSet, request.key)
        if stateful_set is None:
            return None
        selector = selector_of(stateful_set)
        revisions = ControllerHistory(
            self.client, stateful_set, selector, naming=hash_controller_revision, label=HASH_LABEL
        )
        await revisions.load(stateful_set.status.collision_count or 0)
        update = await self._revision(stateful_set, revisions)
        if update is None:
            return None
        current = revisions.named(stateful_set.status.current_revision) or update
        run = _StatefulSetSync(self, stateful_set, current, update)
        await run.find_pods()
        if not is_deleting(stateful_set):
            await run.act()
        await self._report(stateful_set, run, revisions)
        live = {current.metadata.name, update.metadata.name, *map(revision_of, run.pods)}
        await revisions.truncate(live, stateful_set.spec.revision_history_limit)
        if run.refusal is not None:
            raise run.refusal
        return run.again()

    async def _revision(self, stateful_set: StatefulSet, revisions: ControllerHistory) -> ControllerRevision | None:
        """Return the revision of the present template; of a set that is going only one that is still there."""
        if is_deleting(stateful_set):
            return revisions.named(stateful_set.status.update_revision)
        return await revisions.obtain(stateful_set.spec.template)

    @property
    def events(self) -> LegacyEventRecorder:
        """Where its events go."""
        return self._events

    async def _report(self, stateful_set: StatefulSet, run: _StatefulSetSync, revisions: ControllerHistory) -> None:
        before = stateful_set.deep_copy()
        status = _status_of(stateful_set, run.pods, run.current.metadata.name, run.update.metadata.name)
        status.collision_count = revisions.collisions
        stateful_set.status = status
        if status.to_wire() != before.status.to_wire():
            try:
                await self.client.status.patch(stateful_set, merge_from(before))
            except (NotFound, Conflict):
                return


class _StatefulSetSync:
    """One reconcile of one set."""

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
        #: The first thing that the server refused.
        self.refusal: ApiError | None = None
        self._claims = VolumeClaimControl(self._client, self._events, stateful_set)

    async def find_pods(self) -> None:
        """Look for the set's pods, as they are now."""
        claims = ControllerRefManager(self._client, Pod)
        self.pods = await claims.settle(
            self._set, selector_of(self._set), is_adoptable=lambda pod: ordinal_of(pod, self._set) is not None
        )

    def again(self) -> Result | None:
        """Come back when a pod has been ready for long enough, or a claim may have gone: nothing else tells of it."""
        waits = [time_until_available(pod, self._set.spec.min_ready_seconds) for pod in self.pods]
        waits += [AGAIN] if self._claims.is_waiting else []
        soonest = min((wait for wait in waits if wait), default=None)
        return None if soonest is None else Result(requeue_after=soonest)

    async def act(self) -> None:
        """Do what is to be done now, up to what is refused."""
        steps = StatefulSetPlan(self._set, self.pods, self.update.metadata.name).steps()
        refused_in = None
        for position, step in enumerate(steps):
            batch = (position + 1).bit_length()  # 1, 2, 4, …: what is refused is refused to all of them mostly
            if refused_in is not None and batch > refused_in:
                break
            try:
                await self._take(step)
            except ApiError as error:
                if isinstance(error, Forbidden) and is_namespace_terminating(error):
                    return
                self.refusal, refused_in = self.refusal or error, batch
        if any(step.verb in (PodAction.CREATE, PodAction.DELETE) for step in steps):
            await self.find_pods()

    async def _take(self, step: PodStep) -> None:
        match step:
            case PodStep(verb=PodAction.CREATE):
                await self._create(step.ordinal)
            case PodStep(verb=PodAction.DELETE, pod=Pod() as pod):
                await self._delete(pod)
            case PodStep(verb=PodAction.KEEP, pod=Pod() as pod):
                await self._keep(pod, step.ordinal)
            case PodStep(pod=Pod() as pod):
                await self._claims.keep(pod)

    async def _create(self, ordinal: int) -> None:
        template, revision = self._source(ordinal)
        pod = new_stateful_set_pod(self._set, template, revision.metadata.name, ordinal)
        try:
            if not await self._claims.prepare(pod):
                return
            created = await self._client.create(pod)
        except AlreadyExists:
            raise  # somebody else's pod has the name: upstream makes no event of it, and tries again
        except ApiError as error:
            await self._tell("Create", pod, error)
            raise
        await self._claims.keep(created)
        await self._tell("Create", pod)

    def _source(self, ordinal: int) -> tuple[PodTemplateSpec, ControllerRevision]:
        """Return the template of a pod: below the partition the one that the set had before its update."""
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
            await self._tell("Delete", pod, error)
            raise
        await self._tell("Delete", pod)

    async def _keep(self, pod: Pod, ordinal: int) -> None:
        """Give a pod and its claims what they should have, and tell when something was missing."""
        is_changed = await self._claims.keep(pod)
        if not identity_matches(pod):
            before = pod.deep_copy()
            pod.metadata.labels |= identity_labels(pod.metadata.name, ordinal)
            await self._client.patch(pod, merge_from(before))
            is_changed = True
        if is_changed:
            await self._tell("Update", pod)

    async def _tell(self, verb: str, pod: Pod, error: ApiError | None = None) -> None:
        what = f"{verb} Pod {pod.metadata.name} in StatefulSet {self._set.metadata.name}"
        if error is None:
            await self._events.normal(self._set, f"Successful{verb}", f"{what} successful")
        elif not (isinstance(error, Forbidden) and is_namespace_terminating(error)):
            await self._events.warning(self._set, f"Failed{verb}", f"{what} failed error: {error.message}")


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
