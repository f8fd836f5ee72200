"""Simulated volume provisioner: creates, expands and deletes volumes without storage behind them.

It simulates the sidecars of a storage driver (external-provisioner, external-resizer), so it also works beside a real
kube-controller-manager, which binds the volumes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from pyctrl.api import Key, is_deleting, reference_to, remove_finalizer
from pyctrl.client import MergePatch, merge_from
from pyctrl.cluster._controllers.volume.matching import BETA_CLASS, class_of
from pyctrl.cluster._controllers.volume.persistentvolume import BIND_COMPLETED, PROVISIONED_BY, STORAGE_PROVISIONER
from pyctrl.cluster._kubelet.scripts import PREFIX
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.controller import Builder, ManagedCluster, ObjectChange, Reconciler, Request, Result, TickSource
from pyctrl.errors import AlreadyExists, Conflict, NotFound
from pyctrl.kinds.core.v1 import PersistentVolume, PersistentVolumeClaim
from pyctrl.kinds.storage.v1 import StorageClass

__all__ = ["PROVISIONER", "add_volumes"]

PROVISIONER = "pretend.pyctrl.dev"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer"

#: Annotations of a claim that make provisioning or expansion fail, with the driver's error message.
PROVISION_ERROR, RESIZE_ERROR = PREFIX + "provision-error", PREFIX + "resize-error"

_CLASSES: Sequence[dict[str, Any]] = (
    {"metadata": {"name": "standard", "annotations": {DEFAULT_CLASS: "true"}}, "volumeBindingMode": "Immediate"},
    {"metadata": {"name": "standard-wait"}, "volumeBindingMode": "WaitForFirstConsumer"},
)


def add_volumes(host: ManagedCluster, *, start_seconds: float = 0.0, classes: bool = True) -> None:
    """Run a simulated provisioner in a manager.

    Claims of its storage classes get volumes, and claims without a class get the default class. The classes are created
    once: ``standard``, the default, and ``standard-wait``, which binds when a pod is scheduled. Both delete volumes
    with their claims and allow expansion. Your own classes may name the provisioner ``pretend.pyctrl.dev`` too. The
    annotations ``pyctrl.dev/provision-error`` and ``pyctrl.dev/resize-error`` make a claim fail with their value as
    the driver's error message.

    Args:
        host: the manager.
        start_seconds: the time from the creation of a claim to the creation of its volume.
        classes: create the two storage classes. With False only your own classes are served, for a shared cluster
            where a default class would affect others.
    """
    recorder = LegacyEventRecorder(host.live_client, PROVISIONER)
    if classes:
        names = [Request("", each["metadata"]["name"]) for each in _CLASSES]
        once = TickSource(timedelta(days=1), names, name="storage-classes", random=host.random)
        Builder(host).watches_source(once).options(name="pretend-storage-classes").build(StorageClassReconciler())
    provisioner = Provisioner(recorder, start_seconds)
    (
        Builder(host)
        .reconciles(PersistentVolumeClaim)
        .watches(StorageClass, provisioner.on_class)
        .options(name="pretend-provisioner")
        .build(provisioner)
    )
    Builder(host).reconciles(PersistentVolume).options(name="pretend-volume-deleter").build(VolumeDeleteReconciler())


class StorageClassReconciler(Reconciler[StorageClass]):
    """Creates the storage classes once; a deleted one is not created again."""

    def __init__(self) -> None:
        self._made: set[str] = set()

    async def reconcile(self, request: Request) -> Result | None:
        if request.name in self._made:
            return None
        wire = next(each for each in _CLASSES if each["metadata"]["name"] == request.name)
        common = {"provisioner": PROVISIONER, "reclaimPolicy": "Delete", "allowVolumeExpansion": True}
        with suppress(AlreadyExists):  # an existing class of that name is kept
            await self.client.create(StorageClass.from_wire({**wire, **common}))
        self._made.add(request.name)
        return None


class Provisioner(Reconciler[PersistentVolumeClaim]):
    """Assigns the default class to claims without one, creates volumes and expands them."""

    def __init__(self, recorder: LegacyEventRecorder, start_seconds: float) -> None:
        self._recorder = recorder
        self._start_seconds = start_seconds
        self._first_seen: dict[Request, float] = {}
        self._classless: dict[Request, None] = {}

    def on_class(self, observed: ObjectChange[StorageClass]) -> list[Request]:
        """Return the claims without a class, which may get this one."""
        return list(self._classless)

    async def reconcile(self, request: Request) -> Result | None:
        claim = await self.client.find(PersistentVolumeClaim, request.key)
        self._classless.pop(request, None)
        if claim is None or is_deleting(claim):
            self._first_seen.pop(request, None)
            return None
        early = self._first_seen.setdefault(request, _now()) + self._start_seconds - _now()
        if early > 0:
            return Result.after(timedelta(seconds=early))
        try:
            await self._sync_claim(request, claim)
        except (NotFound, Conflict):
            return None  # changed or deleted meanwhile: its next event triggers a reconcile
        return None

    async def _sync_claim(self, request: Request, claim: PersistentVolumeClaim) -> None:
        annotations, spec = claim.metadata.annotations, claim.spec
        if BIND_COMPLETED in annotations:
            await self._expand(claim)
        elif spec.volume_name:
            return
        elif spec.storage_class_name is None and BETA_CLASS not in annotations:
            self._classless[request] = None
            await self._assign_default_class(claim)
        elif annotations.get(STORAGE_PROVISIONER) == PROVISIONER:
            await self._provision(claim)

    async def _assign_default_class(self, claim: PersistentVolumeClaim) -> None:
        """Assign the newest default class, as kube-controller-manager does retroactively."""
        classes = await self.client.list(StorageClass)
        defaults = [each for each in classes if each.metadata.annotations.get(DEFAULT_CLASS) == "true"]
        if defaults:
            newest = max(defaults, key=lambda each: (_created(each), each.metadata.name))
            await self.client.patch(claim, MergePatch({"spec": {"storageClassName": newest.metadata.name}}))

    async def _provision(self, claim: PersistentVolumeClaim) -> None:
        found = await self.client.find(StorageClass, Key("", class_of(claim)))
        if found is None:
            return
        message = f'External provisioner is provisioning volume for claim "{claim.key}"'
        await self._recorder.normal(claim, "Provisioning", message)
        if (why := claim.metadata.annotations.get(PROVISION_ERROR)) is not None:
            message = f'failed to provision volume with StorageClass "{found.metadata.name}": {why}'
            await self._recorder.warning(claim, "ProvisioningFailed", message)
            return
        volume = _volume_for(claim, found)
        try:
            await self.client.create(volume)
        except AlreadyExists:
            return  # created by an earlier reconcile, about to be bound
        message = f"Successfully provisioned volume {volume.metadata.name}"
        await self._recorder.normal(claim, "ProvisioningSucceeded", message)

    async def _expand(self, claim: PersistentVolumeClaim) -> None:
        """Raise the capacity of volume and claim to the size that a bound claim requests."""
        wanted, has = claim.spec.resources.requests.get("storage"), claim.status.capacity.get("storage")
        volume = await self.client.find(PersistentVolume, Key("", claim.spec.volume_name or ""))
        if wanted is None or has is None or wanted <= has or volume is None:
            return
        if volume.metadata.annotations.get(PROVISIONED_BY) != PROVISIONER:
            return
        name = volume.metadata.name
        await self._recorder.normal(claim, "Resizing", f"External resizer is resizing volume {name}")
        if (why := claim.metadata.annotations.get(RESIZE_ERROR)) is not None:
            await self._recorder.warning(claim, "VolumeResizeFailed", f'resize volume "{name}" failed: {why}')
            return
        size = {"capacity": {"storage": str(wanted)}}
        await self.client.patch(volume, MergePatch({"spec": size}))
        await self.client.status.patch(claim, MergePatch({"status": size}))
        await self._recorder.normal(claim, "VolumeResizeSuccessful", "Resize volume succeeded")


class VolumeDeleteReconciler(Reconciler[PersistentVolume]):
    """Deletes the provisioned volumes whose claims are deleted and whose reclaim policy is Delete."""

    async def reconcile(self, request: Request) -> Result | None:
        volume = await self.client.find(PersistentVolume, request.key)
        if volume is None or volume.metadata.annotations.get(PROVISIONED_BY) != PROVISIONER:
            return None
        is_released = volume.status.phase == "Released" and volume.spec.persistent_volume_reclaim_policy == "Delete"
        try:
            if is_released and not is_deleting(volume):
                await self.client.delete(volume)
            elif is_deleting(volume) and volume.status.phase != "Bound":
                before = volume.deep_copy()
                if remove_finalizer(volume, FINALIZER):
                    await self.client.patch(volume, merge_from(before, optimistic_lock=True))
        except (NotFound, Conflict):
            return None  # changed or deleted meanwhile: its next event triggers a reconcile
        return None


def _volume_for(claim: PersistentVolumeClaim, storage_class: StorageClass) -> PersistentVolume:
    name = f"pvc-{claim.metadata.uid}"
    spec = {
        "accessModes": claim.spec.access_modes,
        "capacity": {"storage": str(claim.spec.resources.requests["storage"])},
        "claimRef": reference_to(claim),
        "csi": {"driver": PROVISIONER, "volumeHandle": name},
        "mountOptions": storage_class.mount_options,
        "persistentVolumeReclaimPolicy": storage_class.reclaim_policy or "Delete",
        "storageClassName": storage_class.metadata.name,
        "volumeMode": claim.spec.volume_mode or "Filesystem",
    }
    metadata = {"name": name, "annotations": {PROVISIONED_BY: PROVISIONER}, "finalizers": [FINALIZER]}
    return PersistentVolume.from_wire({"metadata": metadata, "spec": spec})


def _created(storage_class: StorageClass) -> datetime:
    return storage_class.metadata.creation_timestamp or datetime.min.replace(tzinfo=UTC)


def _now() -> float:
    return asyncio.get_running_loop().time()
