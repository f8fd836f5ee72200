"""Preconditions of a write, checked with the errors of kube-apiserver's storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl.apiserver._errors import StatusError, conflict

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._storage.storage import StoredObject


__all__ = ["check_absent_uid", "check_storage_preconditions"]


def check_storage_preconditions(
    stored: StoredObject, resource: ResourceType, *, uid: str | None, version: str | None = None
) -> None:
    """Refuse (409) a write for another uid or resource version; None and "" match every object."""
    if uid and uid != stored.uid:
        mismatch = f"UID in precondition: {uid}, UID in object meta: {stored.uid}"
    elif version and version != str(stored.version):
        mismatch = f"ResourceVersion in precondition: {version}, ResourceVersion in object meta: {stored.version}"
    else:
        return
    raise _invalid_object(resource, str(stored.key), stored.name, mismatch)


def check_absent_uid(resource: ResourceType, namespace: str, name: str, uid: str | None) -> None:
    """Refuse (409) an update that would create an object, if it names the uid of one that was deleted."""
    if uid:
        key = f"{namespace}/{name}" if namespace else name
        raise _invalid_object(resource, key, name, f"UID in precondition: {uid}, UID in object meta: ")


def _invalid_object(resource: ResourceType, key: str, name: str, mismatch: str) -> StatusError:
    """Return the error for an object, with its key in kube-apiserver's etcd."""
    why = (
        f"StorageError: invalid object, Code: 4, Key: /registry/{resource.storage_prefix}/{key}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: {mismatch}"
    )
    return conflict(resource.plural, name, resource.group, why)
