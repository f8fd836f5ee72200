"""A pretend provisioner: makes, grows and deletes volumes that nothing is behind.

It plays the sidecars of a storage driver (external-provisioner, external-resizer), so it works beside a real
kube-controller-manager too, which binds what is made here.
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

#: Annotations of a claim that make it fail: what the driver is to say.
PROVISION_ERROR, RESIZE_ERROR = PREFIX + "provision-error", PREFIX + "resize-error"

_CLASSES: Sequence[dict[str, Any]] = (
    {"metadata": {"name": "standard", "annotations": {DEFAULT_CLASS: "true"}}, "volumeBindingMode": "Immediate"},
    {"metadata": {"name": "standard-wait"}, "volumeBindingMode": "WaitForFirstConsumer"},
)


def add_volumes(host: ManagedCluster, *, start_seconds: float = 0.0, classes: bool = True) -> None:
    """Run a pretend provisioner in a manager: claims of its classes get volumes, and claims without a class its own.

    The classes are made once: ``standard``, the default one, and ``standard-wait``, which binds when a pod is
    scheduled. Both delete volumes with their claims and let them grow; classes of your own may name the provisioner
    ``pretend.pyctrl.dev`` too. Annotations make a claim fail: ``pyctrl.dev/provision-error`` and
    ``pyctrl.dev/resize-error``, each with what the driver says.

    Args:
        host: the manager.
        start_seconds: what a volume takes from its claim's creation on.
        classes: make those two classes. Without, only classes of your own are served: on a cluster that others use
            too, where a default class would be theirs as well.
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
    """Makes the classes, each once: one that somebody deletes stays deleted."""

    def __init__(self) -> None:
        self._made: set[str] = set()

    async def reconcile(self, request: Request) -> Result | None:
        if request.name in self._made:
            return None
        wire = next(each for each in _CLASSES if each["metadata"]["name"] == request.name)
        common = {"provisioner": PROVISIONER, "reclaimPolicy": "Delete", "allowVolumeExpansion": True}
        with suppress(AlreadyExists):  # of a cluster that has one: it keeps it
            await self.client.create(StorageClass.from_wire({**wire, **common}))
        self._made.add(request.name)
        return None


class Provisioner(Reconciler[PersistentVolumeClaim]):
    """Gives class-less claims the default class, makes the volumes that are asked of it, and lets them grow."""

    def __init__(self, recorder: LegacyEventRecorder, start_seconds: float) -> None:
        self._recorder = recorder
        self._start_seconds = start_seconds
        self._first_seen: dict[Request, float] = {}
        self._classless: dict[Request, None] = {}

    def on_class(self, observed: ObjectChange[StorageClass]) -> list[Request]:
        """Ask for the claims that have no class: this may be theirs."""
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
            await self._serve(request, claim)
        except (NotFound, Conflict):
            return None  # it has changed or gone: its next event tells
        return None

    async def _serve(self, request: Request, claim: PersistentVolumeClaim) -> None:
        annotations, spec = claim.metadata.annotations, claim.spec
        if BIND_COMPLETED in annotations:
            await self._grow(claim)
        elif spec.volume_name:
            return
        elif spec.storage_class_name is None and BETA_CLASS not in annotations:
            self._classless[request] = None
            await self._assign_default_class(claim)
        elif annotations.get(STORAGE_PROVISIONER) == PROVISIONER:
            await self._provision(claim)

    async def _assign_default_class(self, claim: PersistentVolumeClaim) -> None:
        """Give a claim the default class, as kube-controller-manager does when there is one afterwards."""
        classes = await self.client.list(StorageClass)
        defaults = [each for each in classes if each.metadata.annotations.get(DEFAULT_CLASS) == "true"]
        if defaults:
            newest = max(defaults, key=lambda each: (_created(each), each.metadata.name))
            await self.client.patch(claim, MergePatch({"spec": {"storageClassName": newest.metadata.name}}))

    async def _provision(self, claim: PersistentVolumeClaim) -> None:
        found = await self.client.find(StorageClass, Key("", class_of(claim)))
        if found is None:
            return
        about = f'External provisioner is provisioning volume for claim "{claim.key}"'
        await self._recorder.normal(claim, "Provisioning", about)
        if (why := claim.metadata.annotations.get(PROVISION_ERROR)) is not None:
            said = f'failed to provision volume with StorageClass "{found.metadata.name}": {why}'
            await self._recorder.warning(claim, "ProvisioningFailed", said)
            return
        volume = _volume_for(claim, found)
        try:
            await self.client.create(volume)
        except AlreadyExists:
            return  # made before, and about to be bound
        said = f"Successfully provisioned volume {volume.metadata.name}"
        await self._recorder.normal(claim, "ProvisioningSucceeded", said)

    async def _grow(self, claim: PersistentVolumeClaim) -> None:
        """Bring volume and status to the size that a bound claim asks for."""
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
    """Deletes the volumes it has made when their claims have gone and their policy says so."""

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
            return None  # it has changed or gone: its next event tells
        return None


def _volume_for(claim: PersistentVolumeClaim, found: StorageClass) -> PersistentVolume:
    name = f"pvc-{claim.metadata.uid}"
    spec = {
        "accessModes": claim.spec.access_modes,
        "capacity": {"storage": str(claim.spec.resources.requests["storage"])},
        "claimRef": reference_to(claim),
        "csi": {"driver": PROVISIONER, "volumeHandle": name},
        "mountOptions": found.mount_options,
        "persistentVolumeReclaimPolicy": found.reclaim_policy or "Delete",
        "storageClassName": found.metadata.name,
        "volumeMode": claim.spec.volume_mode or "Filesystem",
    }
    metadata = {"name": name, "annotations": {PROVISIONED_BY: PROVISIONER}, "finalizers": [FINALIZER]}
    return PersistentVolume.from_wire({"metadata": metadata, "spec": spec})


def _created(found: StorageClass) -> datetime:
    return found.metadata.creation_timestamp or datetime.min.replace(tzinfo=UTC)


def _now() -> float:
    return asyncio.get_running_loop().time()
