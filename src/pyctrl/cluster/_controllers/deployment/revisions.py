"""Revisions of a Deployment: the annotations that ``kubectl rollout history`` and ``undo`` read.

The rules are those of kube-controller-manager's deployment_util.go (pkg/controller/deployment/util).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from pyctrl.api import ObjectMeta, is_deleting, set_controller_reference
from pyctrl.cluster._controllers.deployment.rolling import DESIRED_REPLICAS, MAX_REPLICAS, Rollout
from pyctrl.cluster._controllers.pod_template_hash import HASH_LABEL, equal_ignore_hash
from pyctrl.cluster._controllers.replicaset import desired_replicas
from pyctrl.kinds.apps.v1 import Deployment, ReplicaSet, ReplicaSetSpec
from pyctrl.kinds.meta.v1 import LabelSelector

__all__ = [
    "REVISION",
    "new_replica_set",
    "new_replica_set_annotations",
    "replica_sets_to_clean_up",
    "replicas_annotations",
    "rollout_of",
]

REVISION = "deployment.kubernetes.io/revision"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
HISTORY_LENGTH = 2000  # characters (maxRevHistoryLengthInChars)
NO_LIMIT = 2**31 - 1  # as a limit or deadline: no limit

_NOT_COPIED = {
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
    "kubectl.kubernetes.io/last-applied-configuration",
}


def rollout_of(deployment: Deployment, sets: Sequence[ReplicaSet]) -> Rollout:
    """Split the ReplicaSets into that of the current template and the old ones; of two equal ones the oldest is new."""
    by_age = sorted(sets, key=_age)
    new = next((s for s in by_age if equal_ignore_hash(s.spec.template, deployment.spec.template)), None)
    return Rollout(deployment, new, [s for s in by_age if s is not new])


def _age(replica_set: ReplicaSet) -> tuple[datetime, str]:
    meta = replica_set.metadata
    return meta.creation_timestamp or datetime.max.replace(tzinfo=UTC), meta.name


def new_replica_set(rollout: Rollout, hashed: str) -> ReplicaSet:
    """Return the ReplicaSet of the Deployment's template, ready to be created."""
    deployment = rollout.deployment
    template = deployment.spec.template.deep_copy()
    template.metadata.labels[HASH_LABEL] = hashed
    selector = LabelSelector(
        match_labels={**deployment.spec.selector.match_labels, HASH_LABEL: hashed},
        match_expressions=deployment.spec.selector.match_expressions,
    )
    replica_set = ReplicaSet(
        metadata=ObjectMeta(
            name=f"{deployment.metadata.name}-{hashed}",
            namespace=deployment.metadata.namespace,
            labels=dict(template.metadata.labels),
        ),
        spec=ReplicaSetSpec(
            replicas=rollout.new_replica_set_size(),
            selector=selector,
            template=template,
            min_ready_seconds=deployment.spec.min_ready_seconds,
        ),
    )
    replica_set.metadata.annotations = {
        **new_replica_set_annotations(rollout, replica_set),
        **replicas_annotations(rollout),
    }
    set_controller_reference(deployment, replica_set)
    return replica_set


def replicas_annotations(rollout: Rollout) -> dict[str, str]:
    """Return the annotations that record the Deployment's size, by which a change of it is detected."""
    return {DESIRED_REPLICAS: str(rollout.replicas), MAX_REPLICAS: str(rollout.replicas + rollout.max_surge)}


def new_replica_set_annotations(rollout: Rollout, new: ReplicaSet) -> dict[str, str]:
    """Return the annotations of the new ReplicaSet.

    They are the Deployment's own annotations, including the change cause, the highest revision, and the history of its
    earlier revisions.
    """
    copied = {k: v for k, v in rollout.deployment.metadata.annotations.items() if k not in _NOT_COPIED}
    annotations = {**new.metadata.annotations, **copied}
    had, wanted = _revision(new), max(map(_revision, rollout.old), default=0) + 1
    if had < wanted:
        annotations[REVISION] = str(wanted)
        if REVISION in new.metadata.annotations:
            annotations[REVISION_HISTORY] = _append_revision(
                annotations.get(REVISION_HISTORY, ""), new.metadata.annotations[REVISION]
            )
    return annotations


def _append_revision(history: str, revision: str) -> str:
    """Append a revision, and drop the oldest ones beyond the maximum length."""
    revisions = [*history.split(","), revision] if history else [revision]
    while len(",".join(revisions)) > HISTORY_LENGTH and len(revisions) > 1:
        del revisions[0]
    return ",".join(revisions)


def _revision(replica_set: ReplicaSet) -> int:
    text = replica_set.metadata.annotations.get(REVISION, "")
    return int(text) if text.isdecimal() else 0


def replica_sets_to_clean_up(rollout: Rollout) -> list[ReplicaSet]:
    """Return the old, empty ReplicaSets beyond revisionHistoryLimit, lowest revisions first."""
    limit = rollout.deployment.spec.revision_history_limit
    if limit is None or limit == NO_LIMIT:
        return []
    kept = sorted((found for found in rollout.old if not is_deleting(found)), key=_revision)
    return [found for found in kept[: max(0, len(kept) - limit)] if _is_empty(found)]


def _is_empty(found: ReplicaSet) -> bool:
    is_seen = (found.status.observed_generation or 0) >= (found.metadata.generation or 0)
    return is_seen and not found.status.replicas and not desired_replicas(found)
