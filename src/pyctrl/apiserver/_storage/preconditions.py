"""What a write says about the object that it is for, as kube-apiserver's storage checks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl.apiserver._errors import conflict

if TYPE_CHECKING:
    from pyctrl.apiserver._registry.resources import ResourceType
    from pyctrl.apiserver._storage.storage import StoredObject


def check_storage_preconditions(
    stored: StoredObject, resource: ResourceType, *, uid: str | None, version: str | None = None
) -> None:
    """Refuse (409) a write that is for an object of another uid or version; without either, any will do."""
    if uid and uid != stored.uid:
        what = f"UID in precondition: {uid}, UID in object meta: {stored.uid}"
    elif version and version != str(stored.version):
        what = f"ResourceVersion in precondition: {version}, ResourceVersion in object meta: {stored.version}"
    else:
        return
    why = (
        f"StorageError: invalid object, Code: 4, Key: {_storage_key(stored, resource)}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: {what}"
    )
    raise conflict(resource.plural, stored.name, resource.group, why)


def _storage_key(stored: StoredObject, resource: ResourceType) -> str:
    """Give the key that kube-apiserver has in etcd."""
    return f"/registry/{resource.storage_prefix}/{stored.key}"
