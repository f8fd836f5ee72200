"""Rules of deletion: finalizers, propagation policy, grace periods, and when a deleted object is removed.

Pure functions of the object (upstream registry/rest/delete.go). The handlers in `delete` act on their results.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyctrl.apiserver._errors import StatusError, conflict
from pyctrl.apiserver._request.options import DeleteOptions
from pyctrl.apiserver._resources.deletion_strategy import DeletionOutcome, GarbageCollectionPolicy, mark_deleted
from pyctrl.apiserver._storage.storage import StoredObject

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = [
    "before_delete",
    "check_preconditions",
    "effective_options",
    "is_finished",
]

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"


def check_preconditions(
    stored: StoredObject, resource: ResourceType, options: DeleteOptions, *, in_collection: bool = False
) -> None:
    """Refuse (409) when uid or resourceVersion are not those of the preconditions."""
    has_own_check = not in_collection and resource.deletion is not None and resource.deletion.has_uid_precondition
    for field, wanted, found, happened in (
        ("UID", options.uid, stored.uid, "deleted and then recreated"),
        ("ResourceVersion", options.resource_version, str(stored.version), "modified"),
    ):
        if wanted is not None and wanted != found:
            values = (wanted, found)
            raise _precondition_failed(resource, stored.name, field, values, happened, has_own_check=has_own_check)


def _precondition_failed(
    resource: ResourceType, name: str, field: str, values: tuple[str, str], happened: str, *, has_own_check: bool
) -> StatusError:
    wanted, found = values
    if has_own_check:  # of the handler of the kind
        why = f"Precondition failed: {field} in precondition: {wanted}, {field} in object meta: {found}"
        return conflict(resource.plural, name, resource.group, why)
    why = (
        f"the {field} in the precondition ({wanted}) does not match the {field} in record ({found}). "
        f"The object might have been {happened}"
    )
    return conflict(resource.kind, name, resource.storage_group, why)


def before_delete(obj: dict[str, Any], resource: ResourceType, options: DeleteOptions) -> DeletionOutcome:
    """Mark a live object as being deleted, in place, and return what happens to it."""
    metadata, strategy = obj["metadata"], resource.deletion
    finalizers = metadata.get("finalizers") or []
    if strategy is None or strategy.keeps_finalizers is None or not strategy.keeps_finalizers(obj):
        finalizers = _finalizers(finalizers, options, resource.garbage_collection)
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
    if strategy is not None:
        return strategy.begin(obj, options.grace_period_seconds)
    if not finalizers:
        return DeletionOutcome.GONE
    return mark_deleted(metadata, 0)


def _finalizers(present: list[str], options: DeleteOptions, default: GarbageCollectionPolicy) -> list[str]:
    """Return the finalizers with those of the propagation policy, which the garbage collector acts on."""
    kept = [finalizer for finalizer in present if finalizer not in (ORPHAN, FOREGROUND)]
    if default is GarbageCollectionPolicy.UNSUPPORTED:
        return kept
    if options.propagation:
        return [*kept, *{"Orphan": [ORPHAN], "Foreground": [FOREGROUND]}.get(options.propagation, [])]
    if len(kept) == len(present) and default is GarbageCollectionPolicy.ORPHAN_DEPENDENTS:
        return [*kept, ORPHAN]
    return present


def effective_options(obj: dict[str, Any], resource: ResourceType, options: DeleteOptions) -> DeleteOptions:
    """Return the options of a delete as admission sees them, with what the server adds for some kinds."""
    strategy = resource.deletion
    if strategy is not None and strategy.grace_period is not None:
        return replace(options, grace_period_seconds=strategy.grace_period(obj, options.grace_period_seconds))
    if strategy is not None and strategy.has_uid_precondition:
        return replace(options, uid=obj["metadata"]["uid"])
    return options


def is_finished(obj: dict[str, Any], resource: ResourceType) -> bool:
    """Return whether a deleted object has neither finalizers nor a grace period left."""
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    if resource.deletion is not None and resource.deletion.is_held is not None:
        return not resource.deletion.is_held(obj)
    return not metadata.get("deletionGracePeriodSeconds")
