"""Deployments: one ReplicaSet for each template they have had, and the rollout from one to the next."""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl import _clock
from pyctrl.api import Key, ObjectMeta, is_controlled_by, is_deleting, set_controller_reference
from pyctrl.client import MergePatch, merge_from
from pyctrl.controller import Builder, Controller, Host, Reconciler, Request, Result
from pyctrl.errors import AlreadyExists
from pyctrl.kinds.apps.v1 import Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet, ReplicaSetSpec
from pyctrl.kinds.meta.v1 import LabelSelector

from ._rollout import HASH_LABEL, REVISION, Rollout, desired_of, same_template, template_hash

__all__ = ["DeploymentReconciler", "add_deployments"]

_DESIRED, _MAXIMUM = "deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas"
_NOT_COPIED = {REVISION, _DESIRED, _MAXIMUM, "kubectl.kubernetes.io/last-applied-configuration"}
DEFAULT_HISTORY = 10  # spec.revisionHistoryLimit when it is absent


def add_deployments(host: Host) -> Controller:
    """Run Deployments in a manager."""
    return (
        Builder(host)
        .reconciles(Deployment)
        .owns(ReplicaSet)
        .options(name="deployment", workers=4)
        .build(DeploymentReconciler())
    )


class DeploymentReconciler(Reconciler[Deployment]):
    """Makes the ReplicaSet of the present template, moves pods to it, and reports."""

    async def reconcile(self, request: Request) -> Result | None:
        deployment = await self.client.find(Deployment, request.key)
        if deployment is None or is_deleting(deployment):
            return None
        if await self._note_pause(deployment):
            return None  # its own change brings it here again, with the condition that the rest builds on
        rollout = _rollout_of(deployment, await self._sets(deployment))
        if rollout.new is None and not deployment.spec.paused:
            rollout.new = await self._create(rollout)
        await self._scale(rollout)
        if rollout.new is not None:
            await self._number(rollout, rollout.new)
        await self._forget_history(rollout)
        await self._report(rollout)
        return None

    async def _note_pause(self, deployment: Deployment) -> bool:
        """Say in the conditions that the rollout has been paused or goes on; tells whether that was news."""
        progressing = next((c for c in deployment.status.conditions if c.type == "Progressing"), None)
        is_noted = progressing is not None and progressing.reason == "DeploymentPaused"
        if bool(deployment.spec.paused) == is_noted:
            return False
        before = deployment.deep_copy()
        if deployment.spec.paused:
            _set(deployment.status, "Progressing", "Unknown", "DeploymentPaused", "Deployment is paused")
        else:
            _set(deployment.status, "Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed")
        await self.client.status.patch(deployment, merge_from(before))
        return True

    async def _sets(self, deployment: Deployment) -> list[ReplicaSet]:
        found = await self.client.list(ReplicaSet, index=("owner", deployment.metadata.uid))
        return [replica_set for replica_set in found if is_controlled_by(replica_set, deployment)]

    async def _create(self, rollout: Rollout) -> ReplicaSet | None:
        """Create the set of the present template. Its name is taken by another template once in 2^32: count on."""
        deployment = rollout.deployment
        collisions = deployment.status.collision_count or 0
        replica_set = _set_for(rollout, template_hash(deployment.spec.template, collisions))
        try:
            return await self.client.create(replica_set)
        except AlreadyExists:
            present = await self.client.live.get(ReplicaSet, replica_set.key)
            if is_controlled_by(present, deployment) and same_template(present.spec.template, deployment.spec.template):
                return present
            await self.client.status.patch(deployment, MergePatch({"status": {"collisionCount": collisions + 1}}))
            return None

    async def _number(self, rollout: Rollout, new: ReplicaSet) -> None:
        """Give the present set the highest revision, and the Deployment the same.

        The Deployment's goes through its status, as upstream's does: there an annotation is no new generation.
        """
        highest = max((_revision(s) for s in rollout.old), default=0)
        wanted = str(max(highest + 1, _revision(new)))
        patch = MergePatch({"metadata": {"annotations": {REVISION: wanted}}})
        if new.metadata.annotations.get(REVISION) != wanted:
            await self.client.patch(new, patch)
        if rollout.deployment.metadata.annotations.get(REVISION) != wanted:
            await self.client.status.patch(rollout.deployment, patch)
            rollout.deployment.metadata.annotations[REVISION] = wanted

    async def _scale(self, rollout: Rollout) -> None:
        sizes = rollout.step()
        for replica_set in (*rollout.old, *([rollout.new] if rollout.new else [])):
            size = sizes.get(replica_set.metadata.name)
            if size is not None:
                patch = {"metadata": {"annotations": _size_annotations(rollout)}, "spec": {"replicas": size}}
                await self.client.patch(replica_set, MergePatch(patch))

    async def _forget_history(self, rollout: Rollout) -> None:
        """Delete the oldest empty sets beyond the history limit, once the rollout is done."""
        limit = rollout.deployment.spec.revision_history_limit
        kept = DEFAULT_HISTORY if limit is None else limit
        empty = [s for s in rollout.old if not (desired_of(s) or s.status.replicas or is_deleting(s))]
        for replica_set in empty[: max(0, len(empty) - kept)]:
            await self.client.delete(replica_set)

    async def _report(self, rollout: Rollout) -> None:
        deployment = rollout.deployment
        before = deployment.deep_copy()
        deployment.status = _status_of(rollout)
        if deployment.status.to_wire() != before.status.to_wire():
            await self.client.status.patch(deployment, merge_from(before))


def _rollout_of(deployment: Deployment, sets: Sequence[ReplicaSet]) -> Rollout:
    """Tell the set of the present template from the others; the oldest wins when there are two."""
    by_age = sorted(sets, key=lambda s: (s.metadata.creation_timestamp or _clock.now(), s.metadata.name))
    new = next((s for s in by_age if same_template(s.spec.template, deployment.spec.template)), None)
    return Rollout(deployment, new, [s for s in by_age if s is not new])


def _set_for(rollout: Rollout, hashed: str) -> ReplicaSet:
    deployment = rollout.deployment
    template = deployment.spec.template.deep_copy()
    template.metadata.labels[HASH_LABEL] = hashed
    labels = dict(template.metadata.labels)
    selector = LabelSelector(
        match_labels={**deployment.spec.selector.match_labels, HASH_LABEL: hashed},
        match_expressions=deployment.spec.selector.match_expressions,
    )
    copied = {k: v for k, v in deployment.metadata.annotations.items() if k not in _NOT_COPIED}
    name = Key(deployment.metadata.namespace, f"{deployment.metadata.name}-{hashed}")
    replica_set = ReplicaSet(
        metadata=ObjectMeta(
            name=name.name,
            namespace=name.namespace,
            labels=labels,
            annotations={**copied, **_size_annotations(rollout), REVISION: str(_next_revision(rollout))},
        ),
        spec=ReplicaSetSpec(
            replicas=rollout.first_size(),
            selector=selector,
            template=template,
            min_ready_seconds=deployment.spec.min_ready_seconds,
        ),
    )
    set_controller_reference(deployment, replica_set)
    return replica_set


def _size_annotations(rollout: Rollout) -> dict[str, str]:
    return {_DESIRED: str(rollout.replicas), _MAXIMUM: str(rollout.replicas + rollout.surge)}


def _revision(replica_set: ReplicaSet) -> int:
    text = replica_set.metadata.annotations.get(REVISION, "0")
    return int(text) if text.isdigit() else 0


def _next_revision(rollout: Rollout) -> int:
    return max((_revision(s) for s in rollout.old), default=0) + 1


def _status_of(rollout: Rollout) -> DeploymentStatus:
    deployment, new = rollout.deployment, rollout.new
    every = [*rollout.old, *([new] if new else [])]
    total = sum(s.status.replicas or 0 for s in every)
    available = sum(s.status.available_replicas or 0 for s in every)
    status = deployment.status.deep_copy()
    status.observed_generation = deployment.metadata.generation
    status.replicas = total or None
    status.updated_replicas = ((new.status.replicas or 0) if new else 0) or None
    status.ready_replicas = sum(s.status.ready_replicas or 0 for s in every) or None
    status.available_replicas = available or None
    status.unavailable_replicas = max(0, sum(map(desired_of, every)) - available) or None
    status.terminating_replicas = sum(s.status.terminating_replicas or 0 for s in every)
    _set_conditions(status, rollout, available)
    return status


def _set_conditions(status: DeploymentStatus, rollout: Rollout, available: int) -> None:
    if available >= rollout.replicas - rollout.unavailable:
        _set(status, "Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        _set(
            status, "Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
        )
    if rollout.new is None or rollout.deployment.spec.paused:
        return
    name = rollout.new.metadata.name
    done = (status.updated_replicas or 0) == (
        status.replicas or 0
    ) == rollout.replicas and available >= rollout.replicas
    if done:
        message = f'ReplicaSet "{name}" has successfully progressed.'
        _set(status, "Progressing", "True", "NewReplicaSetAvailable", message)
    else:
        _set(status, "Progressing", "True", "ReplicaSetUpdated", f'ReplicaSet "{name}" is progressing.')


def _set(status: DeploymentStatus, type: str, value: str, reason: str, message: str) -> None:
    """Set a condition as the deployment controller does: the transition time moves with the status."""
    now = _clock.now().replace(microsecond=0)
    present = next((c for c in status.conditions if c.type == type), None)
    if present is not None and (present.status, present.reason, present.message) == (value, reason, message):
        return
    moved = now if present is None or present.status != value else present.last_transition_time
    condition = DeploymentCondition(
        type=type, status=value, reason=reason, message=message, last_update_time=now, last_transition_time=moved
    )
    status.conditions = [*(c for c in status.conditions if c.type != type), condition]
