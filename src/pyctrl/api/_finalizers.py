"""Finalizers: names that hold back an object's removal until somebody has cleaned up."""

from __future__ import annotations

from pyctrl.api._unstructured import Object

__all__ = ["add_finalizer", "has_finalizer", "is_deleting", "remove_finalizer"]


def is_deleting(obj: Object) -> bool:
    """Say whether the object has been deleted and waits for its finalizers."""
    return obj.metadata.deletion_timestamp is not None


def has_finalizer(obj: Object, finalizer: str) -> bool:
    """Say whether the object has the finalizer."""
    return finalizer in obj.metadata.finalizers


def add_finalizer(obj: Object, finalizer: str) -> bool:
    """Add a finalizer; says whether it was missing. The server refuses new ones on a deleted object."""
    if has_finalizer(obj, finalizer):
        return False
    obj.metadata.finalizers = [*obj.metadata.finalizers, finalizer]
    return True


def remove_finalizer(obj: Object, finalizer: str) -> bool:
    """Remove a finalizer; says whether it was there."""
    if not has_finalizer(obj, finalizer):
        return False
    obj.metadata.finalizers = [name for name in obj.metadata.finalizers if name != finalizer]
    return True
