"""Rules of deletion: finalizers, propagation policy, grace periods, and when a deleted object is removed.

Pure functions of the object (upstream registry/rest/delete.go). The handlers in `delete` act on their results.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

from pyctrl._clock import now
from pyctrl.apiserver._errors import StatusError, conflict
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._request.options import DeleteOptions
from pyctrl.apiserver._storage.storage import StoredObject

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = [
    "DeletionOutcome",
    "before_delete",
    "check_preconditions",
    "effective_options",
    "is_finished",
    "is_namespace",
    "returns_deleted_object",
]

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"
POD_GRACE_SECONDS = 30  # default of spec.terminationGracePeriodSeconds

# Resources with ReturnDeletedObject in kube-apiserver, by group.
_RETURNED = {
    "": frozenset(
        (
            "persistentvolumeclaims",
            "persistentvolumes",
            "pods",
            "podtemplates",
            "resourcequotas",
            "serviceaccounts",
            "services",
        )
    ),
    "storage.k8s.io": frozenset(
        ("csidrivers", "csinodes", "storageclasses", "volumeattachments", "volumeattributesclasses")
    ),
}


class DeletionOutcome(Enum):
    """Effect of a delete on the stored object."""

    GONE = "gone"  # removed at once
    MARKED = "marked"  # written with a deletionTimestamp, removed later
    MARKED_AND_GONE = "marked and gone"  # written, then removed: a pod without a grace period
    UNCHANGED = "unchanged"  # it was marked before


def check_preconditions(stored: StoredObject, resource: ResourceType, options: DeleteOptions) -> None:
    """Refuse (409) when uid or resourceVersion are not those of the preconditions."""
    uid, version = options.uid, options.resource_version
    if uid and uid != stored.uid:
        why = (
            f"the UID in the precondition ({uid}) does not match the UID in record ({stored.uid}). "
            "The object might have been deleted and then recreated"
        )
    elif version and version != str(stored.version):
        why = (
            f"the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record "
            f"({stored.version}). The object might have been modified"
        )
    else:
        return
    raise _precondition_failed(resource, stored.name, why)


def _precondition_failed(resource: ResourceType, name: str, why: str) -> StatusError:
    return conflict(resource.kind, name, resource.group, why)


def before_delete(obj: dict[str, Any], resource: ResourceType, options: DeleteOptions) -> DeletionOutcome:
    """Mark a live object as being deleted, in place, and return what happens to it."""
    metadata = obj["metadata"]
    finalizers = _finalizers(metadata.get("finalizers") or [], options)
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
    match (resource.group, resource.plural):
        case ("", "namespaces"):
            return _begin_namespace(obj)
        case ("", "pods"):
            return _begin_pod(obj, options)
    if resource.begin_deletion is not None:
        if "deletionTimestamp" not in metadata:
            resource.begin_deletion(obj)
            metadata["deletionTimestamp"] = timestamp()
        return DeletionOutcome.MARKED
    if not finalizers:
        return DeletionOutcome.GONE
    return _mark(metadata, 0)


def _finalizers(present: list[str], options: DeleteOptions) -> list[str]:
    """Return the finalizers with those of the propagation policy, which the garbage collector acts on."""
    if not options.propagation:
        return present
    kept = [finalizer for finalizer in present if finalizer not in (ORPHAN, FOREGROUND)]
    added = {"Orphan": [ORPHAN], "Foreground": [FOREGROUND]}.get(options.propagation, [])
    return [*kept, *added]


def _mark(metadata: dict[str, Any], grace: int | None) -> DeletionOutcome:
    """Set deletionTimestamp, and deletionGracePeriodSeconds unless `grace` is None, if they are not set yet."""
    if "deletionTimestamp" in metadata:
        return DeletionOutcome.MARKED  # storing an object without changes is no write
    metadata["deletionTimestamp"] = timestamp(now() + timedelta(seconds=grace or 0))
    if grace is not None:
        metadata["deletionGracePeriodSeconds"] = grace
    if metadata.get("generation"):
        metadata["generation"] += 1
    return DeletionOutcome.MARKED


def _begin_namespace(namespace: dict[str, Any]) -> DeletionOutcome:
    """Mark a namespace as Terminating. It is removed when its controller has emptied spec.finalizers."""
    metadata = namespace["metadata"]
    if "deletionTimestamp" in metadata:
        return (
            DeletionOutcome.UNCHANGED
            if _holds_content(namespace) or metadata.get("finalizers")
            else DeletionOutcome.GONE
        )
    _mark(metadata, None)
    namespace.setdefault("status", {})["phase"] = "Terminating"
    return DeletionOutcome.MARKED


def _begin_pod(pod: dict[str, Any], options: DeleteOptions) -> DeletionOutcome:
    """Mark a pod. It has a grace period while a node runs it; without one it is removed when it has no finalizers."""
    metadata = pod["metadata"]
    grace = _pod_grace(pod, options)
    running = metadata.get("deletionGracePeriodSeconds")
    if "deletionTimestamp" in metadata:
        if running is not None and grace >= running and not (running == 0 and not metadata.get("finalizers")):
            return DeletionOutcome.UNCHANGED
        metadata["deletionGracePeriodSeconds"] = grace
        if grace:
            metadata["deletionTimestamp"] = timestamp(now() + timedelta(seconds=grace))
    else:
        _mark(metadata, grace)
    return DeletionOutcome.MARKED if grace or metadata.get("finalizers") else DeletionOutcome.MARKED_AND_GONE


def _pod_grace(pod: dict[str, Any], options: DeleteOptions) -> int:
    if not pod.get("spec", {}).get("nodeName"):
        return 0  # no kubelet will report it as stopped
    if (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        return 0
    seconds = options.grace_period_seconds
    if seconds is None:
        seconds = pod["spec"].get("terminationGracePeriodSeconds", POD_GRACE_SECONDS)
    return 1 if seconds < 0 else int(seconds)  # upstream: a negative period means the shortest one


def effective_options(obj: dict[str, Any], resource: ResourceType, options: DeleteOptions) -> DeleteOptions:
    """Return the options of a delete as admission sees them, with what the server adds for some kinds."""
    match (resource.group, resource.plural):
        case ("", "pods"):
            return replace(options, grace_period_seconds=_pod_grace(obj, options))
        case ("", "namespaces") | ("apiextensions.k8s.io", "customresourcedefinitions"):
            return replace(options, uid=obj["metadata"]["uid"])
    return options


def is_finished(obj: dict[str, Any], resource: ResourceType) -> bool:
    """Return whether a deleted object has neither finalizers nor a grace period left."""
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    if is_namespace(resource):
        return not _holds_content(obj)
    return not metadata.get("deletionGracePeriodSeconds")


def is_namespace(resource: ResourceType) -> bool:
    """Return whether this is the resource of namespaces."""
    return (resource.group, resource.plural) == ("", "namespaces")


def _holds_content(namespace: dict[str, Any]) -> bool:
    return bool((namespace.get("spec") or {}).get("finalizers"))


def returns_deleted_object(resource: ResourceType) -> bool:
    """Return whether the response to a completed delete is the object, not a Status (ReturnDeletedObject)."""
    return resource.plural in _RETURNED.get(resource.group, ())
