"""Status of a Deployment: its counts, and the conditions Available, Progressing and ReplicaFailure.

The rules are those of kube-controller-manager's deployment controller (pkg/controller/deployment/progress.go, sync.go).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from pyctrl import _clock
from pyctrl.cluster._controllers.deployment.revisions import NO_LIMIT
from pyctrl.cluster._controllers.deployment.rolling import Rollout
from pyctrl.cluster._controllers.replicaset import desired_replicas
from pyctrl.kinds.apps.v1 import Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet

__all__ = [
    "calculate_status",
    "has_progress_deadline",
    "is_complete",
    "progressing_condition",
    "rollout_status",
    "set_deployment_condition",
    "time_until_stuck",
]

DEADLINE_SLACK = timedelta(seconds=1)  # added to the deadline so that it has passed for certain


def has_progress_deadline(deployment: Deployment) -> bool:
    """Return whether the Deployment has a progress deadline."""
    return deployment.spec.progress_deadline_seconds not in (None, NO_LIMIT)


def progressing_condition(status: DeploymentStatus) -> DeploymentCondition | None:
    """Return the condition Progressing, or None."""
    return next((condition for condition in status.conditions if condition.type == "Progressing"), None)


def calculate_status(rollout: Rollout) -> DeploymentStatus:
    """Return the status with new counts and the condition Available."""
    deployment, new, every = rollout.deployment, rollout.new, rollout.every
    status = deployment.status.deep_copy()
    available = sum(found.status.available_replicas or 0 for found in every)
    status.observed_generation = deployment.metadata.generation
    status.replicas = sum(found.status.replicas or 0 for found in every) or None
    status.updated_replicas = (new.status.replicas if new is not None else 0) or None
    status.ready_replicas = sum(found.status.ready_replicas or 0 for found in every) or None
    status.available_replicas = available or None
    status.unavailable_replicas = max(0, sum(map(desired_replicas, every)) - available) or None
    status.terminating_replicas = _terminating(every)
    if available >= rollout.replicas - rollout.max_unavailable:
        reason, message = "MinimumReplicasAvailable", "Deployment has minimum availability."
        set_deployment_condition(status, "Available", "True", reason, message)
    else:
        reason, message = "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
        set_deployment_condition(status, "Available", "False", reason, message)
    return status


def _terminating(every: list[ReplicaSet]) -> int | None:
    """Return the number of terminating pods; None if a ReplicaSet does not report it."""
    counts = [found.status.terminating_replicas for found in every]
    return None if None in counts else sum(count or 0 for count in counts)


def rollout_status(rollout: Rollout) -> DeploymentStatus:
    """Return the status with new counts and the conditions Progressing and ReplicaFailure."""
    deployment, status = rollout.deployment, calculate_status(rollout)
    condition = progressing_condition(deployment.status)
    if not has_progress_deadline(deployment):
        status.conditions = [c for c in status.conditions if c.type != "Progressing"]
    elif not _was_complete(status, condition):
        _set_progressing(rollout, status, condition)
    _set_replica_failure(rollout, status)
    return status


def _was_complete(status: DeploymentStatus, condition: DeploymentCondition | None) -> bool:
    """Return whether the rollout completed earlier: later pod failures do not change Progressing."""
    is_recorded = condition is not None and condition.reason == "NewReplicaSetAvailable"
    return is_recorded and status.replicas == status.updated_replicas


def _set_progressing(rollout: Rollout, status: DeploymentStatus, condition: DeploymentCondition | None) -> None:
    deployment, new = rollout.deployment, rollout.new
    subject = f'ReplicaSet "{new.metadata.name}"' if new else f'Deployment "{deployment.metadata.name}"'
    if is_complete(deployment, status):
        message = f"{subject} has successfully progressed."
        set_deployment_condition(status, "Progressing", "True", "NewReplicaSetAvailable", message)
    elif _is_progressing(deployment.status, status):
        since = condition.last_transition_time if condition is not None and condition.status == "True" else None
        status.conditions = [c for c in status.conditions if c.type != "Progressing"]
        set_deployment_condition(
            status, "Progressing", "True", "ReplicaSetUpdated", f"{subject} is progressing.", since=since
        )
    elif _has_timed_out(deployment, status):
        message = f"{subject} has timed out progressing."
        set_deployment_condition(status, "Progressing", "False", "ProgressDeadlineExceeded", message)


def is_complete(deployment: Deployment, status: DeploymentStatus) -> bool:
    """Return whether all pods are updated and available."""
    wanted = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    counts = status.updated_replicas, status.replicas, status.available_replicas
    is_seen = (status.observed_generation or 0) >= (deployment.metadata.generation or 0)
    return is_seen and all((count or 0) == wanted for count in counts)


def _is_progressing(before: DeploymentStatus, status: DeploymentStatus) -> bool:
    def old_pods(counts: DeploymentStatus) -> int:
        return (counts.replicas or 0) - (counts.updated_replicas or 0)

    return (
        (status.updated_replicas or 0) > (before.updated_replicas or 0)
        or old_pods(status) < old_pods(before)
        or (status.ready_replicas or 0) > (before.ready_replicas or 0)
        or (status.available_replicas or 0) > (before.available_replicas or 0)
    )


def _has_timed_out(deployment: Deployment, status: DeploymentStatus) -> bool:
    condition = progressing_condition(status)
    if condition is None or condition.reason == "NewReplicaSetAvailable":
        return False
    deadline = _deadline(deployment, condition)
    return condition.reason == "ProgressDeadlineExceeded" or (deadline is not None and deadline < _clock.now())


def _deadline(deployment: Deployment, condition: DeploymentCondition) -> datetime | None:
    """Return the time at which the rollout times out, counted from its last progress."""
    seconds = deployment.spec.progress_deadline_seconds
    if seconds is None or not has_progress_deadline(deployment) or condition.last_update_time is None:
        return None
    return condition.last_update_time + timedelta(seconds=seconds)


def time_until_stuck(deployment: Deployment, status: DeploymentStatus) -> timedelta | None:
    """Return when to check the progress deadline; None if the rollout is complete or has timed out."""
    condition = progressing_condition(status)
    if condition is None or condition.reason == "ProgressDeadlineExceeded" or is_complete(deployment, status):
        return None
    deadline = _deadline(deployment, condition)
    return None if deadline is None else max(timedelta(0), deadline - _clock.now()) + DEADLINE_SLACK


def _set_replica_failure(rollout: Rollout, status: DeploymentStatus) -> None:
    """Copy the condition ReplicaFailure from the new ReplicaSet, else from an old one."""
    sets = [*([rollout.new] if rollout.new is not None else []), *rollout.old]
    failure = next((c for found in sets for c in found.status.conditions if c.type == "ReplicaFailure"), None)
    if failure is None:
        status.conditions = [c for c in status.conditions if c.type != "ReplicaFailure"]
        return
    set_deployment_condition(status, failure.type, failure.status, failure.reason or "", failure.message or "")


def set_deployment_condition(
    status: DeploymentStatus, type: str, value: str, reason: str, message: str, *, since: datetime | None = None
) -> None:
    """Set a condition like upstream's SetDeploymentCondition, unless status and reason are unchanged.

    The transition time is ``since`` or now, and stays if the status does. `pyctrl.api.set_condition` differs: it has
    no lastUpdateTime, and it updates the message of an otherwise unchanged condition.
    """
    present = next((c for c in status.conditions if c.type == type), None)
    if present is not None and (present.status, present.reason) == (value, reason):
        return
    now = _clock.now().replace(microsecond=0)
    transitioned = present.last_transition_time if present is not None and present.status == value else since or now
    condition = DeploymentCondition(
        type=type, status=value, reason=reason, message=message, last_update_time=now, last_transition_time=transitioned
    )
    status.conditions = [*(c for c in status.conditions if c.type != type), condition]
