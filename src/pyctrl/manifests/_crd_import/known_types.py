"""Recognition of built-in Kubernetes types in a schema: conditions, pod templates, selectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyctrl.manifests._schema.builtin import builtin_schema_by_name
from pyctrl.manifests._schema.schema import Schema as OurSchema

__all__ = ["known_type"]

Schema = Mapping[str, Any]

_CORE, _META, _API = "pyctrl.kinds.core.v1", "pyctrl.kinds.meta.v1", "pyctrl.api"

# Types by their distinctive fields, and the minimum number of their fields that a schema must have: it may be of
# another release of Kubernetes, with a few fields less.
_BY_FIELDS: tuple[tuple[str, str, frozenset[str], int], ...] = (
    ("PodSpec", _CORE, frozenset({"containers", "restartPolicy", "serviceAccountName", "nodeSelector"}), 25),
    ("Container", _CORE, frozenset({"image", "imagePullPolicy", "volumeMounts", "livenessProbe"}), 18),
    ("Volume", _CORE, frozenset({"name", "emptyDir", "configMap", "hostPath", "projected"}), 20),
    ("Probe", _CORE, frozenset({"exec", "httpGet", "tcpSocket", "periodSeconds", "failureThreshold"}), 8),
    ("PodSecurityContext", _CORE, frozenset({"fsGroup", "runAsUser", "supplementalGroups", "sysctls"}), 8),
    ("SecurityContext", _CORE, frozenset({"allowPrivilegeEscalation", "capabilities", "runAsUser"}), 8),
    ("PersistentVolumeClaimSpec", _CORE, frozenset({"accessModes", "storageClassName", "volumeName"}), 6),
    ("TopologySpreadConstraint", _CORE, frozenset({"maxSkew", "topologyKey", "whenUnsatisfiable"}), 4),
)
_EXACTLY: dict[frozenset[str], tuple[str, str]] = {
    frozenset({"nodeAffinity", "podAffinity", "podAntiAffinity"}): ("Affinity", _CORE),
    frozenset({"effect", "key", "operator", "tolerationSeconds", "value"}): ("Toleration", _CORE),
    frozenset({"name", "value", "valueFrom"}): ("EnvVar", _CORE),
    frozenset({"limits", "requests", "claims"}): ("ResourceRequirements", _CORE),
    frozenset({"limits", "requests"}): ("ResourceRequirements", _CORE),
    frozenset({"matchExpressions", "matchLabels"}): ("LabelSelector", _META),
    frozenset({"key", "name", "optional"}): ("SecretKeySelector", _CORE),
    frozenset({"name", "annotations", "labels", "namespace", "finalizers"}): ("ObjectMeta", _API),
}
_CONDITION = frozenset({"type", "status", "reason", "message", "lastTransitionTime"})


def known_type(schema: Schema, *, name: str = "") -> tuple[str, str] | None:
    """Return the class and module of a schema's built-in Kubernetes type; None for other schemas.

    A part with added rules, or one that keeps unknown fields, is not recognised, because a class of its own expresses
    more. Nor is a small part with additional fields further down; large ones may have fields that Kubernetes dropped.

    Args:
        name: the name of its field, if known.
    """
    fields = frozenset(schema.get("properties") or ())
    if schema.get("type") != "object" or schema.get("x-kubernetes-preserve-unknown-fields"):
        return ("ObjectMeta", _API) if _is_metadata(schema, name) else None
    found = _found(schema, fields, name)
    return None if found is None or (found[0] != "ObjectMeta" and _has_rules(schema)) else found


def _has_all(ours: OurSchema, theirs: Schema) -> bool:
    """Return whether each field of the foreign schema is in the built-in one, on all levels."""
    if ours.preserve_unknown_fields or ours.int_or_string:
        return True
    if any(name not in ours.properties for name in theirs.get("properties") or ()):
        return False
    below = [(ours.properties[name], each) for name, each in (theirs.get("properties") or {}).items()]
    below += [(ours.items, theirs["items"])] if ours.items and isinstance(theirs.get("items"), Mapping) else []
    return all(_has_all(our, their) for our, their in below)


def _found(schema: Schema, fields: frozenset[str], name: str) -> tuple[str, str] | None:
    if _is_metadata(schema, name):
        return "ObjectMeta", _API
    if _CONDITION <= fields <= _CONDITION | {"observedGeneration"}:
        return "Condition", _API
    if fields == {"metadata", "spec"} and known_type(schema["properties"]["spec"]) == ("PodSpec", _CORE):
        return "PodTemplateSpec", _CORE
    for kind, module, own, least in _BY_FIELDS:
        if own <= fields and len(fields) >= least:
            return kind, module
    if (found := _EXACTLY.get(fields)) is None or found[1] == _API:
        return found
    ours = builtin_schema_by_name(found[1], found[0])
    return found if ours is not None and _has_all(ours, schema) else None


def _is_metadata(schema: Schema, name: str) -> bool:
    """Return whether it is the metadata of an embedded object, for which generators write no properties."""
    return name == "metadata" and schema.get("type") == "object" and not set(schema) - {"type", "description"}


def _has_rules(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value.get("x-kubernetes-validations")) or any(map(_has_rules, value.values()))
    return isinstance(value, list) and any(map(_has_rules, value))
