"""Persistent volume controller: binds claims to volumes and reclaims released volumes.

It creates no volumes. Annotations and Events request them from an external provisioner, such as `_provisioner`.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from pyctrl.api import Key, is_deleting, reference_to
from pyctrl.client import MergePatch
from pyctrl.cluster._controllers.volume.matching import (
    check_volume_claim,
    class_of,
    find_matching_volume,
    is_bound_to_claim,
)
from pyctrl.cluster._controllers.volume.pvprotection import remove_pv_protection
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._well_known import SELECTED_NODE
from pyctrl.controller import Builder, ManagedCluster, Reconciler, Request, Result, mapped, reading
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim
from pyctrl.kinds.storage.v1 import StorageClass

__all__ = [
    "BIND_COMPLETED",
    "PROVISIONED_BY",
    "STORAGE_PROVISIONER",
    "PersistentVolumeClaimReconciler",
    "PersistentVolumeReconciler",
    "add_persistent_volumes",
]

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
BETA_STORAGE_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
NO_PROVISIONER = "kubernetes.io/no-provisioner"  # the provisioner of classes with static volumes
RESYNC = timedelta(seconds=15)  # kube-controller-manager's --pvclaimbinder-sync-period


def add_persistent_volumes(host: ManagedCluster) -> None:
    """Run the binding of claims to volumes, and the protection of volumes, in a manager."""
    recorder = LegacyEventRecorder(host.live_client, "persistentvolume-controller")
    binder = PersistentVolumeClaimReconciler(recorder)
    (
        Builder(host)
        .reconciles(PersistentVolumeClaim)
        .watches(PersistentVolume, mapped(_claim_of))
        .reads(reading(StorageClass, triggers=False))
        .options(name="persistentvolume-binder")
        .build(binder)
    )
    (
        Builder(host)
        .reconciles(PersistentVolume)
        .watches(PersistentVolumeClaim, mapped(_volume_of))
        .options(name="persistentvolume-keeper")
        .build(PersistentVolumeReconciler(recorder))
    )


def _volume_of(claim: PersistentVolumeClaim) -> list[Request]:
    return [Request("", claim.spec.volume_name)] if claim.spec.volume_name else []


def _claim_of(volume: PersistentVolume) -> list[Request]:
    ref = volume.spec.claim_ref
    return [Request(ref.namespace or "", ref.name or "")] if ref is not None else []


class PersistentVolumeClaimReconciler(Reconciler[PersistentVolumeClaim]):
    """Binds a claim to an existing volume, else requests one, and detects the loss of a bound volume.

    As upstream, new volumes and classes do not enqueue an unbound claim: it is resynced periodically.
    """

    def __init__(self, recorder: LegacyEventRecorder) -> None:
        self._recorder = recorder
        self._last_messages: dict[str, str] = {}  # the last Event message about each claim, by uid

    async def reconcile(self, request: Request) -> Result | None:
        claim = await self.client.find(PersistentVolumeClaim, request.key)
        if claim is None:
            return None
        try:
            if BIND_COMPLETED in claim.metadata.annotations:
                await self._sync_bound(claim)
            elif not is_deleting(claim):
                await self._sync_unbound(claim)
                return Result.after(RESYNC)
        except (NotFound, Conflict):
            return None  # claim or volume changed or deleted meanwhile: that event triggers a reconcile
        return None

    async def _sync_bound(self, claim: PersistentVolumeClaim) -> None:
        """Update a bound claim, whose volume may be lost or expanded."""
        volume = await self.client.find(PersistentVolume, Key("", claim.spec.volume_name or ""))
        if volume is not None and is_bound_to_claim(volume, claim):
            self._last_messages.pop(claim.metadata.uid, None)
            await self._report_bound(claim, volume)
        elif await self._set_unbound(claim, "Lost"):
            message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
            await self._recorder.warning(claim, "ClaimLost", message)

    async def _set_unbound(self, claim: PersistentVolumeClaim, phase: str) -> bool:
        """Clear the status of a claim without a volume; return whether it changed."""
        status = claim.status
        if status.phase == phase and not status.access_modes and not status.capacity:
            return False
        nothing = {"phase": phase, "accessModes": None, "capacity": None}
        await self.client.status.patch(claim, MergePatch({"status": nothing}))
        return True

    async def _sync_unbound(self, claim: PersistentVolumeClaim) -> None:
        volume = await self._volume_for(claim)
        if volume is not None:
            await self._bind(claim, volume)
            return
        await self._set_unbound(claim, "Pending")
        if not claim.spec.volume_name:
            await self._provision_claim(claim)

    async def _volume_for(self, claim: PersistentVolumeClaim) -> PersistentVolume | None:
        name = claim.spec.volume_name
        if name:
            return await self._requested_volume(claim, name)
        waits = await self._waits_for_consumer(claim)
        volumes = await self.client.list(PersistentVolume)
        name = find_matching_volume(claim, volumes, only_reserved=waits)
        return next((volume for volume in volumes if volume.metadata.name == name), None)

    async def _requested_volume(self, claim: PersistentVolumeClaim, name: str) -> PersistentVolume | None:
        """Return the volume that a claim names, unless it is bound elsewhere or does not match."""
        volume = await self.client.find(PersistentVolume, Key("", name))
        if volume is None or is_bound_to_claim(volume, claim):
            return volume
        if volume.spec.claim_ref is not None:
            await self._record(
                claim, "Warning", "FailedBinding", f'volume "{name}" already bound to a different claim.'
            )
        elif reason := check_volume_claim(volume, claim):
            await self._record(
                claim, "Warning", "VolumeMismatch", f'Cannot bind to requested volume "{name}": {reason}'
            )
        else:
            return volume
        return None

    async def _waits_for_consumer(self, claim: PersistentVolumeClaim) -> bool:
        """Return whether the claim's class binds at first use and no node is selected yet."""
        found = await self._class(claim)
        is_delayed = found is not None and found.volume_binding_mode == "WaitForFirstConsumer"
        return is_delayed and SELECTED_NODE not in claim.metadata.annotations

    async def _class(self, claim: PersistentVolumeClaim) -> StorageClass | None:
        name = class_of(claim)
        return await self.client.find(StorageClass, Key("", name)) if name else None

    # --- binding ---

    async def _bind(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        """Bind both sides, the volume first: a claim whose volume is taken meanwhile looks for another one."""
        ref = volume.spec.claim_ref
        if ref is None or not ref.uid:
            volume = await self._claim(volume, claim, by_controller=ref is None)
        if volume.status.phase != "Bound":
            await self.client.status.patch(volume, MergePatch({"status": {"phase": "Bound"}}))
        annotations = {BIND_COMPLETED: "yes"}
        if not claim.spec.volume_name:
            annotations[BOUND_BY_CONTROLLER] = "yes"
        change = {"metadata": {"annotations": annotations}, "spec": {"volumeName": volume.metadata.name}}
        await self._report_bound(await self.client.patch(claim, MergePatch(change)), volume)

    async def _claim(
        self, volume: PersistentVolume, claim: PersistentVolumeClaim, *, by_controller: bool
    ) -> PersistentVolume:
        metadata: dict[str, Any] = {"resourceVersion": volume.metadata.resource_version}
        if by_controller:
            metadata["annotations"] = {BOUND_BY_CONTROLLER: "yes"}
        return await self.client.patch(
            volume, MergePatch({"metadata": metadata, "spec": {"claimRef": reference_to(claim)}})
        )

    async def _report_bound(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        """Write the status of a bound claim. The resizer updates the capacity of expanded volumes."""
        status = {"phase": "Bound", "accessModes": volume.spec.access_modes}
        present = claim.status
        if (present.phase, present.access_modes) == (status["phase"], status["accessModes"]) and present.capacity:
            return
        capacity = {key: str(value) for key, value in volume.spec.capacity.items()}
        await self.client.status.patch(claim, MergePatch({"status": {**status, "capacity": capacity}}))

    # --- provisioning ---

    async def _provision_claim(self, claim: PersistentVolumeClaim) -> None:
        """Request a volume from the provisioner of the claim's class, or record why none can be requested."""
        name, found = class_of(claim), await self._class(claim)
        if not name:
            message = "no persistent volumes available for this claim and no storage class is set"
            await self._record(claim, "Normal", "FailedBinding", message)
        elif found is None:
            message = f'storageclass.storage.k8s.io "{name}" not found'
            await self._record(claim, "Warning", "ProvisioningFailed", message)
        elif await self._waits_for_consumer(claim):
            message = "waiting for first consumer to be created before binding"
            await self._record(claim, "Normal", "WaitForFirstConsumer", message)
        elif found.provisioner == NO_PROVISIONER:
            await self._record(
                claim, "Warning", "ProvisioningFailed", f"no volume plugin matched name: {NO_PROVISIONER}"
            )
        else:
            await self._request_volume(claim, found.provisioner)

    async def _request_volume(self, claim: PersistentVolumeClaim, provisioner: str) -> None:
        if claim.metadata.annotations.get(STORAGE_PROVISIONER) != provisioner:
            annotations = {STORAGE_PROVISIONER: provisioner, BETA_STORAGE_PROVISIONER: provisioner}
            await self.client.patch(claim, MergePatch({"metadata": {"annotations": annotations}}))
        message = (
            f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the "
            "system administrator. If volume creation is delayed, please verify that the provisioner is running and "
            "correctly registered."
        )
        await self._record(claim, "Normal", "ExternalProvisioning", message)

    async def _record(self, claim: PersistentVolumeClaim, type: str, reason: str, message: str) -> None:
        """Record an Event, unless it repeats the last one: a claim is reconciled with every change of a volume."""
        if self._last_messages.get(claim.metadata.uid) != message:
            self._last_messages[claim.metadata.uid] = message
            record = self._recorder.warning if type == "Warning" else self._recorder.normal
            await record(claim, reason, message)


class PersistentVolumeReconciler(Reconciler[PersistentVolume]):
    """Updates the phase of a volume, removes its protection when it is deleted, and reclaims released volumes."""

    def __init__(self, recorder: LegacyEventRecorder) -> None:
        self._recorder = recorder

    async def reconcile(self, request: Request) -> Result | None:
        volume = await self.client.find(PersistentVolume, request.key)
        if volume is None:
            return None
        try:
            if is_deleting(volume) and volume.status.phase != "Bound":
                await remove_pv_protection(self.client, volume)
            else:
                await self._sync(volume)
        except (NotFound, Conflict):
            return None  # changed or deleted meanwhile: its next event triggers a reconcile
        return None

    async def _sync(self, volume: PersistentVolume) -> None:
        ref = volume.spec.claim_ref
        if ref is None or not ref.uid:
            await self._set_phase(volume, "Available")
            return
        claim = await self.client.find(PersistentVolumeClaim, Key(ref.namespace or "", ref.name or ""))
        if claim is not None and claim.metadata.uid == ref.uid:
            if claim.spec.volume_name == volume.metadata.name:
                await self._set_phase(volume, "Bound")
            return  # otherwise this volume's event enqueues the claim
        if volume.status.phase != "Failed":
            await self._set_phase(volume, "Released")
            await self._reclaim(volume)

    async def _set_phase(self, volume: PersistentVolume, phase: str, message: str = "") -> None:
        if volume.status.phase != phase:
            status = {"phase": phase, "message": message or None}
            await self.client.status.patch(volume, MergePatch({"status": status}))

    async def _reclaim(self, volume: PersistentVolume) -> None:
        """Delete a volume by its reclaim policy, unless an external provisioner created it."""
        spec = volume.spec
        if (
            spec.persistent_volume_reclaim_policy != "Delete"
            or spec.csi
            or PROVISIONED_BY in volume.metadata.annotations
        ):
            return
        path = spec.host_path.path if spec.host_path is not None else None
        if path is None:
            message = f'error getting deleter volume plugin for volume "{volume.metadata.name}": '
            message += "no deletable volume plugin matched"
        elif re.fullmatch("/tmp/.+", path):
            await self.client.delete(volume)
            return
        else:
            message = f"host_path deleter only supports /tmp/.+ but received provided {path}"
        await self._set_phase(volume, "Failed", message)
        await self._recorder.warning(volume, "VolumeFailedDelete", message)
