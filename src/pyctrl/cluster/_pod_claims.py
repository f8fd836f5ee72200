"""Persistent volume claims of a pod."""

from __future__ import annotations

from pyctrl.api import Key
from pyctrl.kinds.core.v1 import Pod

__all__ = ["pod_claim_keys"]


def pod_claim_keys(pod: Pod) -> list[Key]:
    """Return the claims that a pod mounts, including those of its ephemeral volumes."""
    names = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            names.append(volume.persistent_volume_claim.claim_name)
        elif volume.ephemeral is not None:
            names.append(f"{pod.metadata.name}-{volume.name}")
    return [Key(pod.metadata.namespace, name) for name in names]
