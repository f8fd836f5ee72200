"""Finalizers: names that block the removal of an object until a controller has cleaned up."""

from __future__ import annotations

from pyctrl.api._unstructured import Object

__all__ = ["add_finalizer", "has_finalizer", "is_deleting", "remove_finalizer"]


def is_deleting(obj: Object) -> bool:
    """Return whether the object has been deleted and waits for its finalizers."""
    return obj.metadata.deletion_timestamp is not None


def has_finalizer(obj: Object, finalizer: str) -> bool:
    """Return whether the object has the finalizer."""
    return finalizer in obj.metadata.finalizers


def add_finalizer(obj: Object, finalizer: str) -> bool:
    """Add a finalizer. Return whether it was missing. The server rejects new finalizers on a deleted object."""
    if has_finalizer(obj, finalizer):
        return False
    obj.metadata.finalizers = [*obj.metadata.finalizers, finalizer]
    return True


def remove_finalizer(obj: Object, finalizer: str) -> bool:
    """Remove a finalizer. Return whether it was there."""
    if not has_finalizer(obj, finalizer):
        return False
    obj.metadata.finalizers = [name for name in obj.metadata.finalizers if name != finalizer]
    return True
