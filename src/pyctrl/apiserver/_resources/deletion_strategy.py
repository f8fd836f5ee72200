"""Deletion strategies: how kinds are deleted whose objects are not just removed, or held by finalizers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from enum import Enum

import msgspec

from pyctrl._clock import now
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["DeletionOutcome", "DeletionStrategy", "GarbageCollectionPolicy", "mark_deleted"]


class DeletionOutcome(Enum):
    """Effect of a delete on the stored object."""

    GONE = "gone"  # removed at once
    MARKED = "marked"  # written with a deletionTimestamp, removed later
    MARKED_AND_GONE = "marked and gone"  # written, then removed: a pod without a grace period
    UNCHANGED = "unchanged"  # it was marked before


class GarbageCollectionPolicy(Enum):
    """What happens to the dependents of a deleted object without a propagation policy or a finalizer for one."""

    UNSUPPORTED = "Unsupported"  # a propagation policy has no effect either
    ORPHAN_DEPENDENTS = "OrphanDependents"
    DELETE_DEPENDENTS = "DeleteDependents"


class DeletionStrategy(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """How objects of one kind are deleted (upstream rest.RESTGracefulDeleteStrategy).

    Attributes:
        begin: Marks a live object, in place, and returns the outcome; gets gracePeriodSeconds of the delete options.
        grace_period: Returns the grace period that admission sees, in seconds; gets the same.
        has_uid_precondition: Admission sees the uid of the object as a precondition.
        keeps_finalizers: Returns whether a delete leaves the finalizers of an object, whatever its propagation policy.
        is_held: Returns whether a marked object without finalizers stays; by default while it has a grace period.
    """

    begin: Callable[[dict[str, JSON], int | None], DeletionOutcome]
    grace_period: Callable[[dict[str, JSON], int | None], int] | None = None
    has_uid_precondition: bool = False
    keeps_finalizers: Callable[[dict[str, JSON]], bool] | None = None
    is_held: Callable[[dict[str, JSON]], bool] | None = None


def mark_deleted(metadata: dict[str, JSON], grace: int | None) -> DeletionOutcome:
    """Set deletionTimestamp, and deletionGracePeriodSeconds unless `grace` is None, if they are not set yet."""
    if "deletionTimestamp" in metadata:
        return DeletionOutcome.MARKED  # storing an object without changes is no write
    metadata["deletionTimestamp"] = timestamp(now() + timedelta(seconds=grace or 0))
    if grace is not None:
        metadata["deletionGracePeriodSeconds"] = grace
    if metadata.get("generation"):
        metadata["generation"] += 1
    return DeletionOutcome.MARKED
