"""Finalizers: names that block the removal of an object until a controller has cleaned up."""

from __future__ import annotations

from pyctrl.api._openapi_models import ObjectLike, as_object, keep_metadata

__all__ = ["add_finalizer", "has_finalizer", "is_deleting", "remove_finalizer"]


def is_deleting(obj: ObjectLike) -> bool:
    """Return whether the object has been deleted and waits for its finalizers."""
    return as_object(obj).metadata.deletion_timestamp is not None


def has_finalizer(obj: ObjectLike, finalizer: str) -> bool:
    """Return whether the object has the finalizer."""
    return finalizer in as_object(obj).metadata.finalizers


def add_finalizer(obj: ObjectLike, finalizer: str) -> bool:
    """Add a finalizer. Return whether it was missing. The server rejects new finalizers on a deleted object."""
    if has_finalizer(obj, finalizer):
        return False
    changed = as_object(obj)
    changed.metadata.finalizers = [*changed.metadata.finalizers, finalizer]
    keep_metadata(obj, changed)
    return True


def remove_finalizer(obj: ObjectLike, finalizer: str) -> bool:
    """Remove a finalizer. Return whether it was there."""
    if not has_finalizer(obj, finalizer):
        return False
    changed = as_object(obj)
    changed.metadata.finalizers = [name for name in changed.metadata.finalizers if name != finalizer]
    keep_metadata(obj, changed)
    return True
