"""Preconditions of a write, checked with the errors of kube-apiserver's storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl.apiserver._errors import conflict

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._storage.storage import StoredObject


__all__ = ["check_storage_preconditions"]


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
    why = (
        f"StorageError: invalid object, Code: 4, Key: {_storage_key(stored, resource)}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: {mismatch}"
    )
    raise conflict(resource.plural, stored.name, resource.group, why)


def _storage_key(stored: StoredObject, resource: ResourceType) -> str:
    """Return the key of the object in kube-apiserver's etcd."""
    return f"/registry/{resource.storage_prefix}/{stored.key}"
