"""Objects as Kubernetes' internal Go types print, in messages about fields that may not change."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import TypeAlias

from pyctrl.apiserver._schema.go_types import internal_structs
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["go_diff", "go_struct", "go_value"]

_Part: TypeAlias = Mapping[str, JSON]
_ZEROS: dict[str, JSON] = {"string": "", "bool": False, "int32": 0, "int64": 0, "int": 0, "float64": 0}
_METADATA = (
    *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp"),
    *(
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "labels",
        "annotations",
        "ownerReferences",
        "finalizers",
        "managedFields",
    ),
)
_OWNER = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
_CONTEXT = 3  # lines of context in a diff
_OF_POD_SPEC = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
_AS_SENT = frozenset(("metav1.Time", "metav1.ObjectMeta", "intstr.IntOrString", "runtime.RawExtension"))


def go_struct(name: str, value: _Part | None) -> dict[str, JSON] | None:
    """Return an object as an internal type prints: every field in order, by its Go name."""
    if value is None:
        return None
    written: dict[str, JSON] = {}
    for go_name, key, kind in internal_structs()[name]:
        if go_name:
            written[go_name] = go_value(kind, _field(name, key, value))
        elif kind == "metav1.ObjectMeta":
            written.update(_metadata(value.get("metadata") or {}))
        else:
            written.update(go_struct(kind, value) or {})
    return written


def _field(struct: str, key: str, value: _Part) -> JSON:
    """Return a field; the security context of a pod has some fields of the pod's spec."""
    if struct == "PodSpec" and key == "securityContext" and value.get(key) is not None:
        return {**value[key], **{each: value[each] for each in _OF_POD_SPEC if each in value}}
    return value.get(key)


def _metadata(metadata: _Part) -> _Part:
    found = {key: metadata[key] for key in _METADATA if metadata.get(key) not in (None, "", [], {})}
    if "ownerReferences" in found:
        found["ownerReferences"] = [
            {key: each[key] for key in _OWNER if key in each} for each in found["ownerReferences"]
        ]
    return {key: dict(sorted(each.items())) if isinstance(each, dict) else each for key, each in found.items()}


def go_value(kind: str, value: JSON) -> JSON:
    """Return a value as a Go type prints."""
    bare = kind.lstrip("*")
    if kind.startswith("*") and value is None:
        return None
    if kind.startswith("[]"):
        return None if value is None else [go_value(kind[2:], each) for each in value]
    if kind.startswith("map[") or bare.rpartition(".")[2] == "ResourceList":
        return None if value is None else dict(sorted(value.items()))
    if bare == "metav1.LabelSelector":
        return _selector(value or {})
    if bare == "resource.Quantity":
        return "0" if value is None else value
    if bare in _AS_SENT:
        return value
    bare = bare.rpartition(".")[2]
    if bare in internal_structs():
        return go_struct(bare, value or {})
    return _ZEROS.get(bare, "") if value is None else value


def _selector(selector: _Part) -> JSON:
    written: dict[str, JSON] = {}
    if labels := selector.get("matchLabels"):
        written["matchLabels"] = dict(sorted(labels.items()))
    if expressions := selector.get("matchExpressions"):
        keys = ("key", "operator", "values")
        written["matchExpressions"] = [
            {key: each.get(key, "") for key in keys if key != "values" or each.get(key)} for each in expressions
        ]
    return written


def go_diff(old: JSON, new: JSON) -> str:
    """Return a unified diff without its header, with a newline at the end."""
    before, after = (json.dumps(each, indent=1, ensure_ascii=False).splitlines(keepends=True) for each in (old, new))
    before[-1], after[-1] = before[-1] + "\n", after[-1] + "\n"
    lines = list(difflib.unified_diff(before, after, n=_CONTEXT))
    return "\n" + "".join(lines[2:])
