"""Deployment controller: one ReplicaSet for each pod template, and the rollout between them.

The steps and the order of writes are those of kube-controller-manager's deployment controller
(pkg/controller/deployment). `rolling` computes the next step of a rollout, `revisions` its history and `progress` its
status.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyctrl.api import LabelSelector, is_controlled_by, is_deleting, merge_patch_diff
from pyctrl.client import MergePatch, merge_from
from pyctrl.cluster._controllers.controller_ref_manager import (
    ControllerRefManager,
    enqueue_adopters,
    index_orphans,
    label_selector,
)
from pyctrl.cluster._controllers.deployment.progress import (
    calculate_status,
    has_progress_deadline,
    is_complete,
    progressing_condition,
    rollout_status,
    set_deployment_condition,
    time_until_stuck,
)
from pyctrl.cluster._controllers.deployment.revisions import (
    REVISION,
    new_replica_set,
    new_replica_set_annotations,
    replica_sets_to_clean_up,
    replicas_annotations,
    rollout_of,
)
from pyctrl.cluster._controllers.deployment.rolling import Rollout, ScaleStep
from pyctrl.cluster._controllers.pod_template_hash import equal_ignore_hash, template_hash
from pyctrl.cluster._controllers.replicaset import desired_replicas
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._namespace_termination import is_namespace_terminating
from pyctrl.cluster._own_writes import OwnWrites
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import AlreadyExists, ApiError, Conflict, Forbidden, NotFound
from pyctrl.kinds.apps.v1 import Deployment, DeploymentStatus, ReplicaSet
from pyctrl.kinds.core.v1 import Pod

__all__ = ["DeploymentReconciler", "add_deployments"]


def add_deployments(host: ManagedCluster) -> Controller:
    """Run the Deployment controller in a manager."""
    index_orphans(host, ReplicaSet)
    reconciler = DeploymentReconciler(LegacyEventRecorder(host.live_client, "deployment-controller"))
    return (
        Builder(host)
        .reconciles(Deployment, predicates=[reconciler.own_writes])
        .owns(ReplicaSet, predicates=[reconciler.own_creations])
        .watches(ReplicaSet, enqueue_adopters(host, Deployment, selector_of))
        .options(name="deployment", workers=4)
        .build(reconciler)
    )


def selector_of(deployment: Deployment) -> LabelSelector:
    """Return the selector of a Deployment's ReplicaSets."""
    return label_selector(deployment.spec.selector)


class DeploymentReconciler(Reconciler[Deployment]):
    """Creates the ReplicaSet of the current template, moves pods to it step by step, and updates the status."""

    def __init__(self, events: LegacyEventRecorder) -> None:
        self._events = events
        #: The writes of Deployments, and the created ReplicaSets, after which nothing is left to do.
        self.own_writes, self.own_creations = OwnWrites(), OwnWrites()

    async def reconcile(self, request: Request) -> Result | None:
        deployment = await self.client.find(Deployment, request.key)
        if deployment is None:
            return None
        sets = await ControllerRefManager(self.client, ReplicaSet).claim(deployment, selector_of(deployment))
        rollout = rollout_of(deployment, sets)
        try:
            return await self._sync(rollout)
        except (NotFound, Conflict):
            return None  # the Deployment or a set changed or was deleted meanwhile: that event triggers a reconcile

    async def _sync(self, rollout: Rollout) -> Result | None:
        deployment = rollout.deployment
        if is_deleting(deployment):
            return await self._report(rollout, calculate_status(rollout))
        if await self._check_paused_conditions(deployment):
            return None  # the status write triggers a reconcile, which builds on the condition
        if deployment.spec.paused or rollout.is_scaling:
            await self._sync_new_annotations(rollout)
            await self._scale(rollout, rollout.scale_steps())
            if deployment.spec.paused:
                await self._clean_up_history(rollout)
            return await self._report(rollout, calculate_status(rollout))
        await self._roll(rollout)
        return await self._report(rollout, rollout_status(rollout))

    async def _roll(self, rollout: Rollout) -> None:
        """Take the next step of the rollout to the current template."""
        if not rollout.is_rolling:
            await self._sync_new_annotations(rollout)
            if emptied := rollout.scale_down_old_for_recreate():
                return await self._scale(rollout, emptied)
            if await self._old_pods_running(rollout):
                return None
        if rollout.new is None:
            await self._create(rollout)
        else:
            await self._sync_new_annotations(rollout)
        if steps := rollout.rollout_steps() if rollout.new is not None else []:
            await self._scale(rollout, steps)
        elif is_complete(rollout.deployment, rollout.deployment.status):
            await self._clean_up_history(rollout)

    async def _check_paused_conditions(self, deployment: Deployment) -> bool:
        """Set the condition of a paused or resumed rollout; return whether it changed."""
        condition = progressing_condition(deployment.status)
        if not has_progress_deadline(deployment) or (condition and condition.reason == "ProgressDeadlineExceeded"):
            return False
        is_recorded = condition is not None and condition.reason == "DeploymentPaused"
        if bool(deployment.spec.paused) == is_recorded:
            return False
        before = _written(deployment)
        if deployment.spec.paused:
            set_deployment_condition(
                deployment.status, "Progressing", "Unknown", "DeploymentPaused", "Deployment is paused"
            )
        else:
            set_deployment_condition(
                deployment.status, "Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed"
            )
        await self.client.status.patch(deployment, MergePatch(merge_patch_diff(before, _written(deployment))))
        return True

    async def _old_pods_running(self, rollout: Rollout) -> bool:
        """Return whether a pod of an old set may still run, even if it is being deleted."""
        if any(found.status.replicas for found in rollout.old):
            return True
        for found in rollout.old:
            pods = await self.client.list(Pod, index=("owner", found.metadata.uid))
            if any(pod.status.phase not in ("Succeeded", "Failed") for pod in pods):
                return True
        return False

    # --- the ReplicaSet of the current template ---

    async def _create(self, rollout: Rollout) -> None:
        """Create the ReplicaSet of the current template; raise the collision count if its name is taken."""
        deployment = rollout.deployment
        collisions = deployment.status.collision_count or 0
        wanted = new_replica_set(rollout, template_hash(deployment.spec.template, collisions))
        try:
            rollout.new = await self.client.create(wanted)
            self.own_creations.record(rollout.new)
        except AlreadyExists:
            await self._use_existing(rollout, wanted, collisions)
            return
        except ApiError as error:
            if not (isinstance(error, Forbidden) and is_namespace_terminating(error)):
                await self._record_create_failure(rollout, wanted, error)
                raise
            return
        if size := desired_replicas(rollout.new):
            message = f"Scaled up replica set {rollout.new.metadata.name} from 0 to {size}"
            await self._events.normal(deployment, "ScalingReplicaSet", message)
        await self._sync_revision(rollout, "NewReplicaSetCreated", f'Created new replica set "{wanted.metadata.name}"')

    async def _use_existing(self, rollout: Rollout, wanted: ReplicaSet, collisions: int) -> None:
        existing = await self.client.live.get(ReplicaSet, wanted.key)
        template = rollout.deployment.spec.template
        if is_controlled_by(existing, rollout.deployment) and equal_ignore_hash(existing.spec.template, template):
            rollout.new = existing
            return
        collision = MergePatch({"status": {"collisionCount": collisions + 1}})
        rollout.deployment = await self.client.status.patch(rollout.deployment, collision)

    async def _record_create_failure(self, rollout: Rollout, wanted: ReplicaSet, error: ApiError) -> None:
        message = f'Failed to create new replica set "{wanted.metadata.name}": {error.message}'
        if has_progress_deadline(rollout.deployment):
            before = _written(rollout.deployment)
            set_deployment_condition(
                rollout.deployment.status, "Progressing", "False", "ReplicaSetCreateError", message
            )
            await self._write_status(rollout, before)
        await self._events.warning(rollout.deployment, "ReplicaSetCreateError", message)

    async def _sync_new_annotations(self, rollout: Rollout) -> None:
        """Update the revision, annotations and minReadySeconds of the new ReplicaSet."""
        new, deployment = rollout.new, rollout.deployment
        if new is None:
            return
        annotations, seconds = new_replica_set_annotations(rollout, new), deployment.spec.min_ready_seconds
        if annotations != new.metadata.annotations or (new.spec.min_ready_seconds or 0) != (seconds or 0):
            before = new.deep_copy()
            new.metadata.annotations, new.spec.min_ready_seconds = annotations, seconds
            rollout.new = await self.client.patch(new, merge_from(before))
        is_recorded = progressing_condition(deployment.status) is not None
        message = f'Found new replica set "{new.metadata.name}"'
        await self._sync_revision(rollout, "" if is_recorded else "FoundNewReplicaSet", message)

    async def _sync_revision(self, rollout: Rollout, reason: str, message: str) -> None:
        """Set the Deployment's revision to that of its new ReplicaSet, and the condition Progressing for a reason.

        The revision is written through the status subresource, as upstream does, so that the generation stays.
        """
        revision = None if rollout.new is None else rollout.new.metadata.annotations.get(REVISION)
        if not reason and (not revision or rollout.deployment.metadata.annotations.get(REVISION) == revision):
            return
        before = _written(rollout.deployment)
        if revision:
            rollout.deployment.metadata.annotations[REVISION] = revision
        if reason and has_progress_deadline(rollout.deployment):
            set_deployment_condition(rollout.deployment.status, "Progressing", "True", reason, message)
        await self._write_status(rollout, before)

    # --- writes and Events ---

    async def _scale(self, rollout: Rollout, steps: Sequence[ScaleStep]) -> None:
        for replica_set, size in steps:
            existing = next(found for found in rollout.every if found.key == replica_set.key)
            was, annotations = desired_replicas(existing), replicas_annotations(rollout)
            if was == size and annotations.items() <= existing.metadata.annotations.items():
                continue
            patch = MergePatch({"metadata": {"annotations": annotations}, "spec": {"replicas": size}})
            _replace(rollout, await self.client.patch(existing, patch))
            if was != size:
                direction = "up" if size > was else "down"
                message = f"Scaled {direction} replica set {existing.metadata.name} from {was} to {size}"
                await self._events.normal(rollout.deployment, "ScalingReplicaSet", message)

    async def _clean_up_history(self, rollout: Rollout) -> None:
        for replica_set in replica_sets_to_clean_up(rollout):
            await self.client.delete(replica_set)

    async def _report(self, rollout: Rollout, status: DeploymentStatus) -> Result | None:
        """Write the status if it has changed, and requeue for the progress deadline."""
        before = _written(rollout.deployment)
        rollout.deployment.status = status
        await self._write_status(rollout, before)
        wait = time_until_stuck(rollout.deployment, status)
        return None if wait is None else Result(requeue_after=wait)

    async def _write_status(self, rollout: Rollout, before: Mapping[str, Any]) -> None:
        """Write the annotations and the status if they have changed since `_written` returned `before`."""
        if change := merge_patch_diff(before, _written(rollout.deployment)):
            rollout.deployment = await self.client.status.patch(rollout.deployment, MergePatch(change))
            if not is_complete(rollout.deployment, rollout.deployment.status):  # then old ReplicaSets are cleaned up
                self.own_writes.record(rollout.deployment)


def _written(deployment: Deployment) -> dict[str, Any]:
    """Return the parts of a Deployment that this controller writes."""
    return {
        "metadata": {"annotations": dict(deployment.metadata.annotations)},
        "status": deployment.status.to_wire(),
    }


def _replace(rollout: Rollout, changed: ReplicaSet) -> None:
    if rollout.new is not None and rollout.new.key == changed.key:
        rollout.new = changed
    else:
        rollout.old = [changed if found.key == changed.key else found for found in rollout.old]
