"""Matching of volumes and claims by the rules of kube-controller-manager's volume binder. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from pyctrl.api import LabelSelector, is_deleting
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim

__all__ = ["check_volume_claim", "class_of", "find_matching_volume", "is_bound_to_claim", "storage_of"]

BETA_CLASS = "volume.beta.kubernetes.io/storage-class"  # the annotation that preceded spec.storageClassName


def class_of(obj: PersistentVolume | PersistentVolumeClaim) -> str:
    """Return the storage class of a claim or a volume, or "". The beta annotation wins, as upstream."""
    return obj.metadata.annotations.get(BETA_CLASS) or obj.spec.storage_class_name or ""


def storage_of(obj: PersistentVolume | PersistentVolumeClaim) -> Decimal:
    """Return the bytes of a volume's capacity or of a claim's request."""
    amounts = obj.spec.capacity if isinstance(obj, PersistentVolume) else obj.spec.resources.requests
    return amounts["storage"].value if "storage" in amounts else Decimal(0)


def is_bound_to_claim(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Return whether a volume references a claim; a reference without uid matches any claim of that name."""
    ref = volume.spec.claim_ref
    if ref is None or (ref.namespace, ref.name) != (claim.metadata.namespace, claim.metadata.name):
        return False
    return ref.uid in (None, "", claim.metadata.uid)


def find_matching_volume(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], *, only_reserved: bool
) -> str:
    """Return the name of the volume for a claim: one reserved for it, else the smallest match; "" for none."""
    found = [volume for volume in volumes if not is_deleting(volume)]
    reserved = [volume for volume in found if is_bound_to_claim(volume, claim)]
    if reserved:
        return min(reserved, key=lambda volume: volume.metadata.name).metadata.name
    if only_reserved:
        return ""
    free = [volume for volume in found if volume.spec.claim_ref is None and volume.status.phase == "Available"]
    fitting = [volume for volume in free if _is_selected(volume, claim) and check_volume_claim(volume, claim) is None]
    return min(fitting, key=lambda volume: (storage_of(volume), volume.metadata.name)).metadata.name if fitting else ""


def _is_selected(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    selector = claim.spec.selector
    return selector is None or LabelSelector.from_wire(selector.to_wire()).matches(volume.metadata.labels)


def check_volume_claim(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str | None:
    """Return why a volume does not satisfy a claim, in upstream's words; None if it does."""
    if storage_of(volume) < storage_of(claim):
        return "requested PV is too small"
    if class_of(volume) != class_of(claim):
        return "storageClassName does not match"
    if (volume.spec.volume_mode or "Filesystem") != (claim.spec.volume_mode or "Filesystem"):
        return "incompatible volumeMode"
    if not set(claim.spec.access_modes) <= set(volume.spec.access_modes):
        return "incompatible accessMode"
    return None
