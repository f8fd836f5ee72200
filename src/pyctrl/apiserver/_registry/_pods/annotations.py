"""Validation of the annotations that kube-apiserver reads from pods and pod templates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pyctrl.apiserver._errors import FieldError, invalid_value
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_pod_annotations"]

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
