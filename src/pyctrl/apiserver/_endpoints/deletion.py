"""The rules of deletion: finalizers, propagation, grace, and when an object that is being deleted is gone.

Pure functions over metadata; `_verbs_delete` carries out what they decide.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

from pyctrl._clock import now
from pyctrl.apiserver._apiextensions.definitions import mark_terminating as begin_definition_deletion
from pyctrl.apiserver._errors import StatusError, conflict
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._request.options import DeleteOptions
from pyctrl.apiserver._storage.storage import StoredObject

if TYPE_CHECKING:
    from pyctrl.apiserver._registry.resources import ResourceType

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"
POD_GRACE_SECONDS = 30  # spec.terminationGracePeriodSeconds of a pod that does not say


class DeletionOutcome(Enum):
    """What a delete does to the stored object."""

    GONE = "gone"  # removed at once
    MARKED = "marked"  # written with its deletionTimestamp, removed later
    MARKED_AND_GONE = "marked and gone"  # both, one after the other: a pod without grace
    UNCHANGED = "unchanged"  # it is on its way already


def check_preconditions(stored: StoredObject, resource: ResourceType, options: DeleteOptions) -> None:
    """Refuse (409) when the object is not the one that the client means."""
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
    """Mark a live object as being deleted, in place, and say what becomes of it."""
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
        case ("apiextensions.k8s.io", "customresourcedefinitions"):
            return _begin_definition(obj)
    if not finalizers:
        return DeletionOutcome.GONE
    return _mark(metadata, 0)


def _finalizers(present: list[str], options: DeleteOptions) -> list[str]:
    """Say by finalizers what the garbage collector shall do with dependents; no word leaves it as it is."""
    if not options.propagation:
        return present
    kept = [finalizer for finalizer in present if finalizer not in (ORPHAN, FOREGROUND)]
    added = {"Orphan": [ORPHAN], "Foreground": [FOREGROUND]}.get(options.propagation, [])
    return [*kept, *added]


def _mark(metadata: dict[str, Any], grace: int | None) -> DeletionOutcome:
    """Set the time of deletion (and of its end, with a grace period), once."""
    if "deletionTimestamp" in metadata:
        return DeletionOutcome.MARKED  # finalizers may have changed; storing the same is no write
    metadata["deletionTimestamp"] = timestamp(now() + timedelta(seconds=grace or 0))
    if grace is not None:
        metadata["deletionGracePeriodSeconds"] = grace
    if metadata.get("generation"):
        metadata["generation"] += 1
    return DeletionOutcome.MARKED


def _begin_namespace(namespace: dict[str, Any]) -> DeletionOutcome:
    """A namespace goes when its content is gone, which its controller says by emptying spec.finalizers."""
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


def _begin_definition(definition: dict[str, Any]) -> DeletionOutcome:
    """A definition goes when the objects it defines are gone."""
    metadata = definition["metadata"]
    if "deletionTimestamp" not in metadata:
        begin_definition_deletion(definition)
        metadata["deletionTimestamp"] = timestamp()
    return DeletionOutcome.MARKED


def _begin_pod(pod: dict[str, Any], options: DeleteOptions) -> DeletionOutcome:
    """A pod has a grace period while a node runs it; without one it is gone as soon as finalizers allow."""
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
        return 0  # no kubelet will ever report it stopped
    if (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        return 0
    asked = options.grace_period_seconds
    if asked is None:
        asked = pod["spec"].get("terminationGracePeriodSeconds", POD_GRACE_SECONDS)
    return 1 if asked < 0 else int(asked)  # a negative period is the shortest


def effective_options(obj: dict[str, Any], resource: ResourceType, options: DeleteOptions) -> DeleteOptions:
    """Give the options of a delete as admission is told them: with what the server adds for some kinds."""
    match (resource.group, resource.plural):
        case ("", "pods"):
            return replace(options, grace_period_seconds=_pod_grace(obj, options))
        case ("", "namespaces") | ("apiextensions.k8s.io", "customresourcedefinitions"):
            return replace(options, uid=obj["metadata"]["uid"])
    return options


def is_finished(obj: dict[str, Any], resource: ResourceType) -> bool:
    """Whether an object that is being deleted has nothing left that holds it."""
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    if is_namespace(resource):
        return not _holds_content(obj)
    return not metadata.get("deletionGracePeriodSeconds")


def is_namespace(resource: ResourceType) -> bool:
    """Whether objects of this resource are namespaces."""
    return (resource.group, resource.plural) == ("", "namespaces")


def _holds_content(namespace: dict[str, Any]) -> bool:
    return bool((namespace.get("spec") or {}).get("finalizers"))
