"""VolumeAttributesClass protection controller: a deleted class stays until no claim and no volume uses it."""

from __future__ import annotations

from pyctrl.api import add_finalizer, is_deleting, remove_finalizer
from pyctrl.client import merge_from
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result, mapped
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim
from pyctrl.kinds.storage.v1 import VolumeAttributesClass

__all__ = ["VACProtectionReconciler", "add_vac_protection"]

FINALIZER = "kubernetes.io/vac-protection"  # added to every new class by the API server


def add_vac_protection(host: ManagedCluster) -> Controller:
    """Run the protection of VolumeAttributesClasses in a manager."""
    return (
        Builder(host)
        .reconciles(VolumeAttributesClass)
        .watches(PersistentVolumeClaim, mapped(_classes_of_claim))
        .watches(PersistentVolume, mapped(_classes_of_volume))
        .options(name="vac-protection")
        .build(VACProtectionReconciler())
    )


def _classes_of_claim(claim: PersistentVolumeClaim) -> list[Request]:
    """Return the classes that a claim requests, has, or changes to."""
    changing = claim.status.modify_volume_status
    target = changing.target_volume_attributes_class_name if changing else None
    names = (claim.spec.volume_attributes_class_name, claim.status.current_volume_attributes_class_name, target)
    return [Request("", name) for name in dict.fromkeys(names) if name]


def _classes_of_volume(volume: PersistentVolume) -> list[Request]:
    name = volume.spec.volume_attributes_class_name
    return [Request("", name)] if name else []


class VACProtectionReconciler(Reconciler[VolumeAttributesClass]):
    """Adds the finalizer to classes without it, and removes it from a deleted class that is not used."""

    async def reconcile(self, request: Request) -> Result | None:
        found = await self.client.find(VolumeAttributesClass, request.key)
        if found is None:
            return None
        before = found.deep_copy()
        if is_deleting(found):
            is_changed = not await self._is_used(request) and remove_finalizer(found, FINALIZER)
        else:
            is_changed = add_finalizer(found, FINALIZER)
        if is_changed:
            try:
                await self.client.patch(found, merge_from(before, optimistic_lock=True))
            except (NotFound, Conflict):
                return None  # changed or deleted meanwhile: its next event triggers a reconcile
        return None

    async def _is_used(self, request: Request) -> bool:
        claims, volumes = await self.client.list(PersistentVolumeClaim), await self.client.list(PersistentVolume)
        return any(request in _classes_of_claim(each) for each in claims) or any(
            request in _classes_of_volume(each) for each in volumes
        )
