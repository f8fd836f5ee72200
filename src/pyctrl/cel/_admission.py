"""CEL variables of match conditions and ValidatingAdmissionPolicies."""

from __future__ import annotations

from collections.abc import Mapping

from pyctrl.cel._library.authorizer import AuthorizerValue, ResourceCheck
from pyctrl.cel._types import BOOL, DYN, INT, STRING, TIMESTAMP, FieldType, Type, list_of, map_of, opaque

__all__ = ["MATCH_CONDITION", "NAMESPACE", "REQUEST", "object_type", "policy_variables", "type_checking_variables"]

#: Scalars, which variables of policies keep as their types.
_KEPT = frozenset(("bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint"))


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
        found["variables"] = _defined(variables)
    return found


def type_checking_variables(kind: Type, params: Type | None, variables: Mapping[str, Type]) -> dict[str, Type]:
    """Return the variables of a policy's expressions for the warnings of its status.

    As upstream, `authorizer.requestResource` is unknown to these.

    Args:
        kind: The type of the objects that the policy matches.
        params: The type of its parameters; None if it has none.
        variables: The variables that the policy has defined so far.
    """
    found = {"object": kind, "oldObject": kind, "request": REQUEST, "namespaceObject": NAMESPACE}
    found |= {"authorizer": opaque(AuthorizerValue.TYPE), "variables": _defined(variables)}
    return found if params is None else {**found, "params": params}


def _defined(variables: Mapping[str, Type]) -> Type:
    return object_type("kubernetes.variables", {name: _defined_type(each) for name, each in variables.items()})


def _defined_type(kind: Type) -> Type:
    """Return the type that the variable of a policy has: as upstream, scalars, lists and maps keep theirs."""
    if kind.kind == "list":
        return list_of(_defined_type(kind.parameters[0]))
    if kind.kind == "map":
        key, value = kind.parameters
        return map_of(_defined_type(key), _defined_type(value))
    return kind if kind.kind in _KEPT else DYN
