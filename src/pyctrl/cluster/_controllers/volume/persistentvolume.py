"""Claims and volumes find each other: what kube-controller-manager's volume binder and protection do.

Making volumes is not its part: it says in annotations and Events that a provisioner is waited for, see `_provisioner`.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from pyctrl.api import Key, is_deleting, reference_to, remove_finalizer
from pyctrl.client import MergePatch, merge_from
from pyctrl.cluster._controllers.volume.matching import (
    check_volume_claim,
    class_of,
    find_matching_volume,
    is_bound_to_claim,
)
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._scheduler.scheduler import SELECTED_NODE
from pyctrl.controller import Builder, ManagedCluster, Reconciler, Request, Result, mapped
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
NO_PROVISIONER = "kubernetes.io/no-provisioner"  # of classes whose volumes are made by hand
RESYNC = timedelta(seconds=15)  # kube-controller-manager's --pvclaimbinder-sync-period
PROTECTION = "kubernetes.io/pv-protection"  # put on every new volume by the API server


def add_persistent_volumes(host: ManagedCluster) -> None:
    """Run the binding of claims to volumes, and the protection of volumes, in a manager."""
    recorder = LegacyEventRecorder(host.live_client, "persistentvolume-controller")
    binder = PersistentVolumeClaimReconciler(recorder)
    (
        Builder(host)
        .reconciles(PersistentVolumeClaim)
        .watches(PersistentVolume, mapped(_claim_of))
        .watches(StorageClass, mapped(_no_requests))
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


def _no_requests(found: StorageClass) -> list[Request]:
    """Classes are looked up, and ask for nobody: see `PersistentVolumeClaimReconciler`."""
    return []


class PersistentVolumeClaimReconciler(Reconciler[PersistentVolumeClaim]):
    """Binds a claim to a volume that is there, asks for one that is not, and sees when a bound one is lost.

    As upstream, a claim that waits does not hear of new volumes and classes: it looks again after a while.
    """

    def __init__(self, recorder: LegacyEventRecorder) -> None:
        self._recorder = recorder
        self._told: dict[str, str] = {}  # what was last said of a claim, by its uid

    async def reconcile(self, request: Request) -> Result | None:
        claim = await self.client.find(PersistentVolumeClaim, request.key)
        if claim is None:
            return None
        try:
            if BIND_COMPLETED in claim.metadata.annotations:
                await self._check(claim)
            elif not is_deleting(claim):
                await self._sync_unbound(claim)
                return Result.after(RESYNC)
        except (NotFound, Conflict):
            return None  # it, or the volume, has changed or gone: that event tells
        return None

    async def _check(self, claim: PersistentVolumeClaim) -> None:
        """Look after a bound claim: its volume may be lost, or may have grown."""
        volume = await self.client.find(PersistentVolume, Key("", claim.spec.volume_name or ""))
        if volume is not None and is_bound_to_claim(volume, claim):
            self._told.pop(claim.metadata.uid, None)
            await self._report_bound(claim, volume)
        elif await self._set_unbound(claim, "Lost"):
            said = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
            await self._recorder.warning(claim, "ClaimLost", said)

    async def _set_unbound(self, claim: PersistentVolumeClaim, phase: str) -> bool:
        """Say that a claim has nothing; whether that was news."""
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
        """Return the volume that a claim asks for by name, unless it is another's or does not fit."""
        volume = await self.client.find(PersistentVolume, Key("", name))
        if volume is None or is_bound_to_claim(volume, claim):
            return volume
        if volume.spec.claim_ref is not None:
            await self._tell(claim, "Warning", "FailedBinding", f'volume "{name}" already bound to a different claim.')
        elif why := check_volume_claim(volume, claim):
            await self._tell(claim, "Warning", "VolumeMismatch", f'Cannot bind to requested volume "{name}": {why}')
        else:
            return volume
        return None

    async def _waits_for_consumer(self, claim: PersistentVolumeClaim) -> bool:
        """Whether the claim's class binds when a pod needs it, and none has been scheduled yet."""
        found = await self._class(claim)
        is_delayed = found is not None and found.volume_binding_mode == "WaitForFirstConsumer"
        return is_delayed and SELECTED_NODE not in claim.metadata.annotations

    async def _class(self, claim: PersistentVolumeClaim) -> StorageClass | None:
        name = class_of(claim)
        return await self.client.find(StorageClass, Key("", name)) if name else None

    # -- binding -----------------------------------------------------------------------------------------------

    async def _bind(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        """Bind both sides, the volume first: who finds it taken looks for another one."""
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
        """Say in the claim's status what it has got. What grows later is told by who makes it grow."""
        status = {"phase": "Bound", "accessModes": volume.spec.access_modes}
        present = claim.status
        if (present.phase, present.access_modes) == (status["phase"], status["accessModes"]) and present.capacity:
            return
        capacity = {key: str(value) for key, value in volume.spec.capacity.items()}
        await self.client.status.patch(claim, MergePatch({"status": {**status, "capacity": capacity}}))

    # -- asking ------------------------------------------------------------------------------------------------

    async def _provision_claim(self, claim: PersistentVolumeClaim) -> None:
        """Ask the provisioner of the claim's class for a volume, or say why nobody can be asked."""
        name, found = class_of(claim), await self._class(claim)
        if not name:
            said = "no persistent volumes available for this claim and no storage class is set"
            await self._tell(claim, "Normal", "FailedBinding", said)
        elif found is None:
            said = f'storageclass.storage.k8s.io "{name}" not found'
            await self._tell(claim, "Warning", "ProvisioningFailed", said)
        elif await self._waits_for_consumer(claim):
            said = "waiting for first consumer to be created before binding"
            await self._tell(claim, "Normal", "WaitForFirstConsumer", said)
        elif found.provisioner == NO_PROVISIONER:
            await self._tell(claim, "Warning", "ProvisioningFailed", f"no volume plugin matched name: {NO_PROVISIONER}")
        else:
            await self._ask(claim, found.provisioner)

    async def _ask(self, claim: PersistentVolumeClaim, provisioner: str) -> None:
        if claim.metadata.annotations.get(STORAGE_PROVISIONER) != provisioner:
            annotations = {STORAGE_PROVISIONER: provisioner, BETA_STORAGE_PROVISIONER: provisioner}
            await self.client.patch(claim, MergePatch({"metadata": {"annotations": annotations}}))
        said = (
            f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the "
            "system administrator. If volume creation is delayed, please verify that the provisioner is running and "
            "correctly registered."
        )
        await self._tell(claim, "Normal", "ExternalProvisioning", said)

    async def _tell(self, claim: PersistentVolumeClaim, type: str, reason: str, message: str) -> None:
        """Tell of a claim what was not told last: it is looked at with every change of a volume."""
        if self._told.get(claim.metadata.uid) != message:
            self._told[claim.metadata.uid] = message
            tell = self._recorder.warning if type == "Warning" else self._recorder.normal
            await tell(claim, reason, message)


class PersistentVolumeReconciler(Reconciler[PersistentVolume]):
    """Keeps the phase of a volume, lets it go when it was deleted, and reclaims it when its claim has gone."""

    def __init__(self, recorder: LegacyEventRecorder) -> None:
        self._recorder = recorder

    async def reconcile(self, request: Request) -> Result | None:
        volume = await self.client.find(PersistentVolume, request.key)
        if volume is None:
            return None
        try:
            if is_deleting(volume) and volume.status.phase != "Bound":
                await self._unprotect(volume)
            else:
                await self._keep(volume)
        except (NotFound, Conflict):
            return None  # it has changed or gone: its next event tells
        return None

    async def _unprotect(self, volume: PersistentVolume) -> None:
        before = volume.deep_copy()
        if remove_finalizer(volume, PROTECTION):
            await self.client.patch(volume, merge_from(before, optimistic_lock=True))

    async def _keep(self, volume: PersistentVolume) -> None:
        ref = volume.spec.claim_ref
        if ref is None or not ref.uid:
            await self._set_phase(volume, "Available")
            return
        claim = await self.client.find(PersistentVolumeClaim, Key(ref.namespace or "", ref.name or ""))
        if claim is not None and claim.metadata.uid == ref.uid:
            if claim.spec.volume_name == volume.metadata.name:
                await self._set_phase(volume, "Bound")
            return  # otherwise the claim's turn comes with this volume's event
        if volume.status.phase != "Failed":
            await self._set_phase(volume, "Released")
            await self._reclaim(volume)

    async def _set_phase(self, volume: PersistentVolume, phase: str, message: str = "") -> None:
        if volume.status.phase != phase:
            status = {"phase": phase, "message": message or None}
            await self.client.status.patch(volume, MergePatch({"status": status}))

    async def _reclaim(self, volume: PersistentVolume) -> None:
        """Delete a volume whose policy says so. Those that somebody else has provisioned are his to delete."""
        spec = volume.spec
        if (
            spec.persistent_volume_reclaim_policy != "Delete"
            or spec.csi
            or PROVISIONED_BY in volume.metadata.annotations
        ):
            return
        path = spec.host_path.path if spec.host_path is not None else None
        if path is None:
            why = f'error getting deleter volume plugin for volume "{volume.metadata.name}": '
            why += "no deletable volume plugin matched"
        elif re.fullmatch("/tmp/.+", path):
            await self.client.delete(volume)
            return
        else:
            why = f"host_path deleter only supports /tmp/.+ but received provided {path}"
        await self._set_phase(volume, "Failed", why)
        await self._recorder.warning(volume, "VolumeFailedDelete", why)
