"""Admission plugin StorageObjectInUseProtection: finalizers of new volumes, claims and VolumeAttributesClasses."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._admission.attributes import CREATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin

__all__ = ["StorageObjectInUseProtection"]


_FINALIZERS: Final = {
    ("", "persistentvolumes"): "kubernetes.io/pv-protection",
    ("", "persistentvolumeclaims"): "kubernetes.io/pvc-protection",
    ("storage.k8s.io", "volumeattributesclasses"): "kubernetes.io/vac-protection",
}


class StorageObjectInUseProtection(Plugin):
    """Adds the finalizer that a controller removes when the object is no longer in use."""

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource has a finalizer."""
        return (group, resource) in _FINALIZERS

    def mutate(self, attributes: Attributes) -> None:
        """Add the finalizer if it is missing."""
        target, obj = attributes.request.target, attributes.object
        if attributes.operation != CREATE or target.subresource or obj is None:
            return
        finalizer = _FINALIZERS[target.group, target.resource]
        finalizers = obj["metadata"].get("finalizers") or []
        if finalizer not in finalizers:
            obj["metadata"]["finalizers"] = [*finalizers, finalizer]
