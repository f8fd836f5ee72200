"""Pods of a StatefulSet: their ordinals, stable identity, revisions and claims.

The rules are those of kube-controller-manager's stateful_set_utils.go (pkg/controller/statefulset).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyctrl.api import ObjectMeta, OwnerReference, owner_reference
from pyctrl.cluster._controllers.pod_control import pod_from_template
from pyctrl.kinds.apps.v1 import StatefulSet
from pyctrl.kinds.core.v1 import (
    PersistentVolumeClaim,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodTemplateSpec,
    Volume,
)

__all__ = [
    "REVISION_LABEL",
    "claim_owner_references",
    "identity_labels",
    "identity_matches",
    "is_in_ordinal_range",
    "new_stateful_set_pod",
    "ordinal_of",
    "revision_of",
    "volume_claims_for",
]

REVISION_LABEL = "controller-revision-hash"
NAME_LABEL, INDEX_LABEL = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"

_NAME = re.compile(r"(.*)-([0-9]+)")


def ordinal_of(pod: Pod, stateful_set: StatefulSet) -> int | None:
    """Return the ordinal of a pod; None if its name is not one of the StatefulSet's."""
    found = _NAME.fullmatch(pod.metadata.name)
    return int(found[2]) if found and found[1] == stateful_set.metadata.name else None


def ordinals(stateful_set: StatefulSet) -> range:
    """Return the ordinals of the pods that a StatefulSet wants."""
    spec = stateful_set.spec
    start = spec.ordinals.start if spec.ordinals is not None else 0
    return range(start, start + (1 if spec.replicas is None else spec.replicas))


def is_in_ordinal_range(pod: Pod, stateful_set: StatefulSet) -> bool:
    """Return whether the StatefulSet wants a pod with this ordinal."""
    return ordinal_of(pod, stateful_set) in ordinals(stateful_set)


def revision_of(pod: Pod) -> str:
    """Return the name of the revision that a pod was created from."""
    return pod.metadata.labels.get(REVISION_LABEL, "")


def identity_labels(name: str, ordinal: int) -> dict[str, str]:
    """Return the labels that identify a pod of the StatefulSet."""
    return {NAME_LABEL: name, INDEX_LABEL: str(ordinal)}


def identity_matches(pod: Pod) -> bool:
    """Return whether the identity label of a pod is its name."""
    return pod.metadata.labels.get(NAME_LABEL) == pod.metadata.name


def new_stateful_set_pod(stateful_set: StatefulSet, template: PodTemplateSpec, revision: str, ordinal: int) -> Pod:
    """Return the pod of an ordinal, ready to be created."""
    pod = pod_from_template(template, stateful_set)
    name = f"{stateful_set.metadata.name}-{ordinal}"
    pod.metadata.name = name
    pod.metadata.labels |= {**identity_labels(name, ordinal), REVISION_LABEL: revision}
    spec = pod.spec = template.spec.deep_copy()
    spec.hostname, spec.subdomain = name, stateful_set.spec.service_name or None
    claims = [claim.metadata.name for claim in stateful_set.spec.volume_claim_templates]
    sources = [
        Volume(name=c, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=f"{c}-{name}"))
        for c in claims
    ]
    spec.volumes = [*sources, *(volume for volume in spec.volumes if volume.name not in claims)]
    return pod


def volume_claims_for(stateful_set: StatefulSet, pod: Pod) -> Iterator[PersistentVolumeClaim]:
    """Yield the claims of a pod, ready to be created."""
    for template in stateful_set.spec.volume_claim_templates:
        meta = template.metadata
        yield PersistentVolumeClaim(
            metadata=ObjectMeta(
                name=f"{meta.name}-{pod.metadata.name}",
                namespace=stateful_set.metadata.namespace,
                labels={**meta.labels, **stateful_set.spec.selector.match_labels},
                annotations=dict(meta.annotations),
                finalizers=list(meta.finalizers),
            ),
            spec=template.spec.deep_copy(),
        )


def claim_owner_references(claim: PersistentVolumeClaim, stateful_set: StatefulSet, pod: Pod) -> list[OwnerReference]:
    """Return the owner references of a claim, by persistentVolumeClaimRetentionPolicy.

    The StatefulSet owns a claim that is deleted with it. A surplus pod owns a claim that is deleted on scale-down.
    """
    policy = stateful_set.spec.persistent_volume_claim_retention_policy
    goes_with_set = policy is not None and policy.when_deleted == "Delete"
    goes_with_pod = policy is not None and policy.when_scaled == "Delete"
    present = claim.metadata.owner_references
    ours = {("apps/v1", "StatefulSet", stateful_set.metadata.name), ("v1", "Pod", pod.metadata.name)}
    if any(
        (ref.api_version, ref.kind, ref.name) in ours and ref.uid not in _uids(stateful_set, pod) for ref in present
    ):
        return present  # of an earlier object of the name: the garbage collector deletes the claim
    kept = [ref for ref in present if ref.uid not in _uids(stateful_set, pod)]
    if any(ref.controller for ref in kept):
        return kept  # another controller manages the claim, and there can be only one
    if goes_with_pod and not is_in_ordinal_range(pod, stateful_set):
        return [*kept, owner_reference(pod, controller=True, block_owner_deletion=True)]
    if goes_with_set:
        return [*kept, owner_reference(stateful_set, controller=True, block_owner_deletion=True)]
    return kept


def _uids(stateful_set: StatefulSet, pod: Pod) -> tuple[str | None, str | None]:
    return stateful_set.metadata.uid, pod.metadata.uid
