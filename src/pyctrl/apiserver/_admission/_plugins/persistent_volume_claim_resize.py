"""Admission plugin PersistentVolumeClaimResize: a claim can only grow if its storage class allows it."""

from __future__ import annotations

from typing import Any

from pyctrl.api import Quantity
from pyctrl.apiserver._admission.attributes import UPDATE, Attributes
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["PersistentVolumeClaimResize"]


_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


class PersistentVolumeClaimResize:
    """Plugin that rejects the expansion of claims whose volumes cannot be expanded."""

    def __init__(self, classes: Collection) -> None:
        self._classes = classes

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is persistentvolumeclaims."""
        return (group, resource) == ("", "persistentvolumeclaims")

    def mutate(self, attributes: Attributes) -> None:
        """Do nothing."""

    def validate(self, attributes: Attributes) -> None:
        """Reject (403) the growth of a claim that is not bound or whose class does not allow volume expansion."""
        new, old = attributes.object, attributes.old
        if attributes.operation != UPDATE or attributes.subresource or new is None or old is None:
            return
        wanted, had = _requested(new), _requested(old)
        if wanted is None or had is None or wanted <= had:
            return
        if (old.get("status") or {}).get("phase") != "Bound":
            raise attributes.forbidden("Only bound persistent volume claims can be expanded")
        if not self._may_grow(old):
            raise attributes.forbidden(
                "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must "
                "support resize"
            )

    def _may_grow(self, claim: dict[str, Any]) -> bool:
        annotations = claim["metadata"].get("annotations") or {}
        name = annotations.get(_BETA_CLASS) or claim["spec"].get("storageClassName")
        found = self._classes.find("", name) if name else None
        return found is not None and bool(found.decode().get("allowVolumeExpansion"))


def _requested(claim: dict[str, Any]) -> Quantity | None:
    amount = ((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage")
    return None if amount is None else Quantity(amount)
