"""The policy that a cluster starts with: its roles and bindings, as kube-apiserver 1.36 makes them.

They are data of the package, read when a server is made that has RBAC on. The aggregated roles among them (`admin`,
`edit`, `view`) are empty until the cluster's controllers fill them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyctrl._schemas import load
from pyctrl.apiserver._authz.rbac import GROUP
from pyctrl.apiserver._meta.system_fields import new_uid, timestamp

if TYPE_CHECKING:
    from pyctrl.apiserver._endpoints.backend import RESTStorage

VERSION = "v1"
LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
ANNOTATIONS = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
_PLURALS = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "Role": "roles",
    "RoleBinding": "rolebindings",
}


def store_bootstrap_policy(backend: RESTStorage) -> None:
    """Put the whole policy into an empty storage."""
    moment = timestamp()
    for bare in load("rbac_policy")["items"]:
        resource = backend.registry.require(GROUP, VERSION, _PLURALS[bare["kind"]])
        backend.put(_completed(bare, new_uid(backend.random), moment), resource)


def _completed(bare: dict[str, Any], uid: str, moment: str) -> dict[str, Any]:
    """Give an object what all of the policy have in common."""
    metadata = bare.pop("metadata")
    labels = {**LABELS, **metadata.pop("labels", {})}
    parts = {key: value for key, value in bare.items() if key != "kind"}
    own_fields: dict[str, Any] = {f"f:{part}": {} for part in parts}
    if "aggregationRule" in parts:
        own_fields["f:aggregationRule"] = {".": {}, "f:clusterRoleSelectors": {}}
        parts["rules"] = None
    own_fields["f:metadata"] = {"f:annotations": _owned(ANNOTATIONS), "f:labels": _owned(labels)}
    manager = {
        "manager": "kube-apiserver",
        "operation": "Update",
        "apiVersion": f"{GROUP}/{VERSION}",
        "time": moment,
        "fieldsType": "FieldsV1",
        "fieldsV1": own_fields,
    }
    return {
        "kind": bare["kind"],
        "apiVersion": f"{GROUP}/{VERSION}",
        "metadata": {
            **metadata,
            "uid": uid,
            "resourceVersion": "",
            "creationTimestamp": moment,
            "labels": labels,
            "annotations": dict(ANNOTATIONS),
            "managedFields": [manager],
        },
        **parts,
    }


def _owned(values: dict[str, str]) -> dict[str, Any]:
    return {".": {}, **{f"f:{key}": {} for key in values}}
