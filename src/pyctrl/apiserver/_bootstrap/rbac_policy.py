"""The bootstrap policy: the roles and bindings that kube-apiserver 1.36 creates.

They are data of the package, loaded by servers with RBAC. The aggregated roles (`admin`, `edit`, `view`) are empty
until the controllers of a cluster fill them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyctrl._schemas import load
from pyctrl.apiserver._authz.rbac import GROUP
from pyctrl.apiserver._bootstrap.rbac_reconciliation import AUTO_UPDATE, is_protected, is_recreated, reconcile
from pyctrl.apiserver._meta.system_fields import new_uid, timestamp

if TYPE_CHECKING:
    from pyctrl.apiserver._endpoints.backend import RESTStorage
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._storage.storage import StoredObject

__all__ = ["reconcile_bootstrap_policy"]

_VERSION = "v1"
_LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_ANNOTATIONS = {AUTO_UPDATE: "true"}
_PLURALS = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "Role": "roles",
    "RoleBinding": "rolebindings",
}


def reconcile_bootstrap_policy(backend: RESTStorage) -> None:
    """Store the policy, and add what its stored roles and bindings lack, as kube-apiserver does at each start.

    What users added stays. An object with the annotation ``rbac.authorization.kubernetes.io/autoupdate: "false"`` is
    not changed.
    """
    moment = timestamp()
    for bare in load("rbac_policy")["items"]:
        resource = backend.registry.require(GROUP, _VERSION, _PLURALS[bare["kind"]])
        completed = _completed(bare, new_uid(backend.random), moment)
        metadata, collection = completed["metadata"], backend.collection(resource)
        stored = collection.find(metadata.get("namespace", ""), metadata["name"])
        if stored is None:
            backend.put(completed, resource)
        else:
            _update(backend, resource, stored, completed)


def _update(backend: RESTStorage, resource: ResourceType, stored: StoredObject, expected: dict[str, Any]) -> None:
    existing = stored.decode()
    if is_protected(existing):
        return
    if is_recreated(existing, expected):
        backend.collection(resource).remove(stored)
        backend.put(expected, resource)
    elif reconcile(existing, expected):
        backend.put(existing, resource)


def _completed(bare: dict[str, Any], uid: str, moment: str) -> dict[str, Any]:
    """Return an object of the policy with its metadata."""
    metadata = bare.pop("metadata")
    labels = {**_LABELS, **metadata.pop("labels", {})}
    parts = {key: value for key, value in bare.items() if key != "kind"}
    own_fields: dict[str, Any] = {f"f:{part}": {} for part in parts}
    if "aggregationRule" in parts:
        own_fields["f:aggregationRule"] = {".": {}, "f:clusterRoleSelectors": {}}
        parts["rules"] = None
    own_fields["f:metadata"] = {"f:annotations": _owned(_ANNOTATIONS), "f:labels": _owned(labels)}
    manager = {
        "manager": "kube-apiserver",
        "operation": "Update",
        "apiVersion": f"{GROUP}/{_VERSION}",
        "time": moment,
        "fieldsType": "FieldsV1",
        "fieldsV1": own_fields,
    }
    return {
        "kind": bare["kind"],
        "apiVersion": f"{GROUP}/{_VERSION}",
        "metadata": {
            **metadata,
            "uid": uid,
            "resourceVersion": "",
            "creationTimestamp": moment,
            "labels": labels,
            "annotations": dict(_ANNOTATIONS),
            "managedFields": [manager],
        },
        **parts,
    }


def _owned(values: dict[str, str]) -> dict[str, Any]:
    return {".": {}, **{f"f:{key}": {} for key in values}}
