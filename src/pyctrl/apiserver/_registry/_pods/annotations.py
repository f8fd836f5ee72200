"""Validation of the annotations that kube-apiserver reads from pods and pod templates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value
from pyctrl.apiserver._registry._pods.profile_annotations import APP_ARMOR, validate_profile_annotations
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_pod_annotation_updates", "validate_pod_annotations"]

_MIRROR = "kubernetes.io/config.mirror"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_INTEGER = re.compile(r"-?(0|[1-9]\d*)|\+[1-9]\d*")
_LARGEST = 2**31


def validate_pod_annotations(holder: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check the annotations of a pod or a template."""
    annotations = (holder.get("metadata") or {}).get("annotations") or {}
    mirror = annotations.get(_MIRROR)
    if mirror is not None and not (holder.get("spec") or {}).get("nodeName"):
        yield invalid_value(f"{path}[{_MIRROR}]", mirror, "must set spec.nodeName if mirror pod annotation is set")
    cost = annotations.get(_DELETION_COST)
    if cost is not None and not (_INTEGER.fullmatch(cost) and -_LARGEST <= int(cost) < _LARGEST):
        yield invalid_value(f"{path}[{_DELETION_COST}]", cost, "must be a 32bit integer")
    if annotations:
        yield from validate_profile_annotations(annotations, holder.get("spec") or {}, path)


def validate_pod_annotation_updates(new: Mapping[str, JSON], old: Mapping[str, JSON] | None) -> Iterator[FieldError]:
    """Check the annotations of a pod that is changed: AppArmor profiles and the mirror annotation stay as they are."""
    path = "metadata.annotations"
    before, after = ((each or new)["metadata"].get("annotations") or {} for each in (old, new))
    for key in sorted({*before, *after}):
        if before.get(key) == after.get(key):
            continue
        change = "remove or update" if key in before else "add"
        if key.startswith(APP_ARMOR):
            yield field_forbidden(f"{path}[{key}]", f"may not {change} AppArmor annotations")
        if key == _MIRROR:
            yield field_forbidden(f"{path}[{key}]", f"may not {change} mirror pod annotation")
    yield from validate_pod_annotations(new, path)
