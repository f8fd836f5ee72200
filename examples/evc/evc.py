"""EphemeralVolumeClaim operator: creates a PersistentVolumeClaim of a given size and reports it in the status.

    apiVersion: kopf.dev/v1
    kind: EphemeralVolumeClaim
    metadata: {name: my-claim}
    spec: {size: 1G}

`add_evc` says what triggers a reconcile, and `EvcReconciler.reconcile` what it does; its steps follow in order. The
kind is in api.py.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from pyctrl.api import (
    Condition,
    ObjectMeta,
    Quantity,
    add_finalizer,
    has_finalizer,
    has_owner_reference,
    is_controlled_by,
    is_deleting,
    remove_finalizer,
    set_condition,
    set_controller_reference,
)
from pyctrl.client import Preconditions, merge_from
from pyctrl.controller import (
    Builder,
    Controller,
    ManagedCluster,
    Reconciler,
    Request,
    Result,
    on_create,
    on_delete,
    where,
)
from pyctrl.errors import AlreadyExists, Forbidden, Invalid, NotFound, QuantityError, TerminalError
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, PersistentVolumeClaimSpec, VolumeResourceRequirements
from pyctrl.rbac import EVENTS, allow

from .api import EphemeralVolumeClaim, EvcSpec, EvcStatus

__all__ = ["EphemeralVolumeClaim", "EvcReconciler", "EvcSpec", "EvcStatus", "add_evc"]

log = logging.getLogger("evc")

FINALIZER = "kopf.dev/evc"
# older than storageClassName; servers warn about it and honour it
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
LATER = timedelta(minutes=5)  # until the next try after an error that others can fix: a quota, a storage class


def add_evc(host: ManagedCluster, *, storage_class: str = "standard", finalizer: bool = False) -> Controller:
    """Add the operator to a manager: two workers, and no reconcile for its own writes."""
    return (
        Builder(host)
        .reconciles(EphemeralVolumeClaim, predicates=[on_create | on_delete | where(is_unseen)])
        .reads(PersistentVolumeClaim)
        .options(workers=2)
        .build(EvcReconciler(storage_class=storage_class, finalizer=finalizer))
    )


class EvcReconciler(Reconciler[EphemeralVolumeClaim]):
    """Creates a PersistentVolumeClaim of the same name for each EphemeralVolumeClaim, and reports it in the status.

    Args:
        storage_class: the storage class of the volumes.
        finalizer: delete the PersistentVolumeClaim with a finalizer on the claim. By default the garbage collector
            deletes it after its owner, the claim.
    """

    def __init__(self, *, storage_class: str = "standard", finalizer: bool = False) -> None:
        self.storage_class, self.finalizer = storage_class, finalizer
        self.rbac = (
            allow(PersistentVolumeClaim, "create", "patch", *(("delete",) if finalizer else ())),
            allow(EphemeralVolumeClaim, "patch"),  # the status, which is no subresource, and the finalizer
            # to set owner references where OwnerReferencesPermissionEnforcement is on, as in OpenShift
            allow(EphemeralVolumeClaim, "update", subresource="finalizers", essential=False),
            EVENTS,
        )

    async def reconcile(self, request: Request) -> Result | None:
        """Compare a claim with the PersistentVolumeClaim of its name, and correct the difference."""
        claim = await self.client.find(EphemeralVolumeClaim, request.key)
        if claim is None:
            return None  # the garbage collector deletes what it owned
        volume_claim = await self.client.find(PersistentVolumeClaim, request.key)
        if is_deleting(claim):
            await self.let_go(claim, volume_claim)
            return None
        if self.finalizer:
            claim = await self.hold(claim)
        try:
            volume_claim = await self.provide(claim, volume_claim)
        except NotReady as error:
            if await self.report(claim, volume_claim, unready(error.reason, str(error))):
                self.recorder.warning(claim, error.reason, str(error), related=volume_claim)
            if error.may_pass:
                return Result.after(LATER)
            raise
        await self.report(claim, volume_claim, readiness(claim, volume_claim))
        return None

    async def provide(
        self, claim: EphemeralVolumeClaim, volume_claim: PersistentVolumeClaim | None
    ) -> PersistentVolumeClaim | None:
        """Create or resize the PersistentVolumeClaim, and return it."""
        size = size_of(claim)
        if volume_claim is None:
            return await self.create(claim, size)
        if is_deleting(volume_claim):
            return volume_claim  # its deletion triggers another reconcile
        if not is_controlled_by(volume_claim, claim):
            if has_owner_reference(volume_claim, claim):
                return volume_claim  # of an earlier claim of this name: the garbage collector will delete it
            raise NotReady("NameTaken", f"There is a PersistentVolumeClaim {claim.metadata.name} that is not ours.")
        if volume_claim.status.phase == "Bound":  # earlier the server rejects every change
            return await self.resize(claim, volume_claim, size)
        return volume_claim

    async def create(self, claim: EphemeralVolumeClaim, size: Quantity) -> PersistentVolumeClaim | None:
        """Create the PersistentVolumeClaim."""
        try:
            created = await self.client.create(volume_claim_for(claim, size, self.storage_class))
        except AlreadyExists:
            return None  # another client has created it; the cache will have it soon
        except (Invalid, Forbidden) as error:
            raise refusal(error, "InvalidSize" if isinstance(error, Invalid) else "Forbidden") from error
        log.info("created PersistentVolumeClaim", extra={"size": str(size)})
        self.recorder.normal(claim, "Created", f"Created PersistentVolumeClaim of {size}", related=created)
        return created

    async def resize(
        self, claim: EphemeralVolumeClaim, volume_claim: PersistentVolumeClaim, size: Quantity
    ) -> PersistentVolumeClaim:
        """Request the size, if it differs."""
        old = volume_claim.spec.resources.requests["storage"]
        if old == size:
            return volume_claim
        wanted = volume_claim.deep_copy()
        wanted.spec.resources.requests["storage"] = size
        log.info("size %s -> %s", old, size)
        try:
            resized = await self.client.patch(wanted, merge_from(volume_claim))
        except (Invalid, Forbidden) as error:
            raise refusal(error, "ResizeRefused") from error
        self.recorder.normal(claim, "Resized", f"Asked for {size} instead of {old}", related=resized)
        return resized

    async def report(
        self, claim: EphemeralVolumeClaim, volume_claim: PersistentVolumeClaim | None, ready: Condition
    ) -> bool:
        """Update the status. Return True if the condition has changed."""
        before, status = claim.deep_copy(), claim.status
        ours = volume_claim if volume_claim is not None and is_controlled_by(volume_claim, claim) else None
        capacity = ours.status.capacity.get("storage") if ours else None
        status.size = str(capacity) if capacity is not None else None
        status.phase = ours.status.phase if ours else None
        status.volume = ours.spec.volume_name if ours else None
        is_news = set_condition(status.conditions, ready)
        if status == before.status and status.observed_generation == claim.metadata.generation:
            return False
        # Without a status subresource this write increments the generation. Because of the optimistic lock no other
        # write can have that generation.
        status.observed_generation = claim.metadata.generation + 1
        await self.client.patch(claim, merge_from(before, optimistic_lock=True))
        return is_news

    async def hold(self, claim: EphemeralVolumeClaim) -> EphemeralVolumeClaim:
        """Add the finalizer to a claim, before anything is created for it."""
        before = claim.deep_copy()
        if add_finalizer(claim, FINALIZER):
            claim = await self.client.patch(claim, merge_from(before, optimistic_lock=True))
        return claim

    async def let_go(self, claim: EphemeralVolumeClaim, volume_claim: PersistentVolumeClaim | None) -> None:
        """Remove the finalizer from a deleted claim, once its PersistentVolumeClaim is gone."""
        if not has_finalizer(claim, FINALIZER):
            return
        if self.finalizer and volume_claim is not None and is_controlled_by(volume_claim, claim):
            if not is_deleting(volume_claim):
                await self.delete(volume_claim)
            if await self.client.find(PersistentVolumeClaim, volume_claim.key) is not None:
                return  # until its finalizers are removed, which triggers another reconcile
        before = claim.deep_copy()
        remove_finalizer(claim, FINALIZER)
        await self.client.patch(claim, merge_from(before, optimistic_lock=True))

    async def delete(self, volume_claim: PersistentVolumeClaim) -> None:
        """Delete a PersistentVolumeClaim, unless another one has its name now."""
        try:
            await self.client.delete(volume_claim, preconditions=Preconditions(uid=volume_claim.metadata.uid))
        except NotFound:
            return  # already deleted
        log.info("deleted PersistentVolumeClaim")


class NotReady(TerminalError):
    """Raised when a claim has no volume as specified, with the reason and message of its condition."""

    def __init__(self, reason: str, message: str, *, may_pass: bool = False) -> None:
        super().__init__(message)
        self.reason, self.may_pass = reason, may_pass


def size_of(claim: EphemeralVolumeClaim) -> Quantity:
    """Return the size of a claim. Raises NotReady if it is invalid."""
    size = claim.spec.size
    if not size:
        raise NotReady("InvalidSize", f"Size must be set. Got {size!r}.")
    try:
        return Quantity(str(Quantity(size)))  # type: ignore[arg-type]  # any object: QuantityError describes invalid ones
    except QuantityError as error:
        raise NotReady("InvalidSize", f"Size must be a quantity: {error}") from error


def volume_claim_for(claim: EphemeralVolumeClaim, size: Quantity, storage_class: str) -> PersistentVolumeClaim:
    """Return the PersistentVolumeClaim of an EphemeralVolumeClaim, owned by it."""
    volume_claim = PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=claim.metadata.name,
            namespace=claim.metadata.namespace,
            annotations={CLASS_ANNOTATION: storage_class},
        ),
        spec=PersistentVolumeClaimSpec(
            access_modes=["ReadWriteOnce"],
            resources=VolumeResourceRequirements(requests={"storage": size}),
            storage_class_name=storage_class,
        ),
    )
    set_controller_reference(claim, volume_claim)
    return volume_claim


def readiness(claim: EphemeralVolumeClaim, volume_claim: PersistentVolumeClaim | None) -> Condition:
    """Return the Ready condition of a valid claim."""
    if volume_claim is None:
        return unready("Pending", "The PersistentVolumeClaim is being made.")
    if is_deleting(volume_claim) or not is_controlled_by(volume_claim, claim):
        return unready("Terminating", "The PersistentVolumeClaim from before has to go first.")
    phase, capacity = volume_claim.status.phase or "Pending", volume_claim.status.capacity.get("storage")
    if phase != "Bound" or capacity is None:
        return unready(phase, f"The PersistentVolumeClaim is {phase}.")
    if capacity < volume_claim.spec.resources.requests["storage"]:
        return unready("Resizing", "The volume grows.")
    return Condition(type="Ready", status="True", reason="Bound", message="There is a volume of this size.")


def unready(reason: str, message: str) -> Condition:
    """Return a Ready condition with status False."""
    return Condition(type="Ready", status="False", reason=reason, message=message)


def refusal(error: Invalid | Forbidden, reason: str) -> Exception:
    """Return the error itself if the operator lacks a permission, else NotReady: the server rejects the claim."""
    if isinstance(error, Forbidden) and error.verb:
        return error
    return NotReady(reason, error.message, may_pass=isinstance(error, Forbidden))


def is_unseen(claim: EphemeralVolumeClaim) -> bool:
    """Return True if another client has written the claim since the last report, see `EvcReconciler.report`."""
    return claim.status.observed_generation != claim.metadata.generation
