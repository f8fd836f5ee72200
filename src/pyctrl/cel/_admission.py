"""CEL variables of match conditions and ValidatingAdmissionPolicies."""

from __future__ import annotations

from collections.abc import Mapping

from pyctrl.cel._library.authorizer import AuthorizerValue, ResourceCheck
from pyctrl.cel._types import BOOL, DYN, INT, STRING, TIMESTAMP, FieldType, Type, list_of, map_of, opaque

__all__ = ["MATCH_CONDITION", "NAMESPACE", "REQUEST", "object_type", "policy_variables"]


def object_type(name: str, fields: Mapping[str, Type]) -> Type:
    """Return the type of an object with these fields; any other field is a compile error."""
    return Type("object", name, (), {key: FieldType(key, each) for key, each in fields.items()})


def _texts(*names: str) -> dict[str, Type]:
    return dict.fromkeys(names, STRING)


_KIND = object_type("kubernetes.GroupVersionKind", _texts("group", "version", "kind"))
_RESOURCE = object_type("kubernetes.GroupVersionResource", _texts("group", "version", "resource"))
_USER = object_type(
    "kubernetes.UserInfo",
    {**_texts("username", "uid"), "groups": list_of(STRING), "extra": map_of(STRING, list_of(STRING))},
)
#: The type of the variable `request`.
REQUEST = object_type(
    "kubernetes.AdmissionRequest",
    {
        "kind": _KIND,
        "resource": _RESOURCE,
        "requestKind": _KIND,
        "requestResource": _RESOURCE,
        **_texts("subResource", "requestSubResource", "name", "namespace", "operation"),
        "userInfo": _USER,
        "dryRun": BOOL,
        "options": DYN,
    },
)
_METADATA = object_type(
    "kubernetes.NamespaceMetadata",
    {
        **_texts("name", "generateName", "namespace", "UID", "resourceVersion"),
        "labels": map_of(STRING, STRING),
        "annotations": map_of(STRING, STRING),
        "creationTimestamp": TIMESTAMP,
        "deletionTimestamp": TIMESTAMP,
        "deletionGracePeriodSeconds": INT,
        "generation": INT,
        "finalizers": list_of(STRING),
    },
)
#: The type of the variable `namespaceObject`.
NAMESPACE = object_type(
    "kubernetes.Namespace",
    {
        "metadata": _METADATA,
        "spec": object_type("kubernetes.NamespaceSpec", {"finalizers": list_of(STRING)}),
        "status": object_type("kubernetes.NamespaceStatus", {"phase": STRING}),
    },
)

#: The variables of a match condition; a policy has `params`, `namespaceObject` and `variables` as well.
MATCH_CONDITION: Mapping[str, Type] = {
    "object": DYN,
    "oldObject": DYN,
    "request": REQUEST,
    "authorizer": opaque(AuthorizerValue.TYPE),
    "authorizer.requestResource": opaque(ResourceCheck.TYPE),
}


def policy_variables(
    variables: Mapping[str, Type] | None, *, has_params: bool, has_authorizer: bool = True
) -> dict[str, Type]:
    """Return the variables of a policy's expressions.

    Args:
        variables: The variables that the policy has defined so far; None if it cannot define any.
    """
    found = {**MATCH_CONDITION, "namespaceObject": NAMESPACE}
    if has_params:
        found["params"] = DYN
    if not has_authorizer:
        found = {name: each for name, each in found.items() if not name.startswith("authorizer")}
    if variables is not None:
        found["variables"] = object_type("kubernetes.variables", variables)
    return found
