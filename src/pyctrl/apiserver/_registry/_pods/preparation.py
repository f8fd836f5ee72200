"""Preparation of pods and pod templates before validation: fields of disabled features, and label keys of new pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["add_label_keys", "drop_disabled_fields"]

_Part: TypeAlias = Mapping[str, JSON]
_REQUIRED, _PREFERRED = (f"{how}DuringSchedulingIgnoredDuringExecution" for how in ("required", "preferred"))


def drop_disabled_fields(spec: Object) -> None:
    """Drop the fields of features that are off by default in Kubernetes 1.36."""
    spec.pop("schedulingGroup", None)  # GenericWorkload
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            source.pop("clusterTrustBundle", None)  # ClusterTrustBundleProjection
            source.pop("podCertificate", None)  # PodCertificateRequest
    for key in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            lifecycle = container.get("lifecycle") or {}
            if lifecycle.pop("stopSignal", None) is not None and not lifecycle:  # ContainerStopSignals
                del container["lifecycle"]


def add_label_keys(pod: Object) -> None:
    """Add the matchLabelKeys and mismatchLabelKeys of a new pod to the selectors beside them."""
    labels = pod["metadata"].get("labels") or {}
    affinity = pod["spec"].get("affinity") or {}
    for key in ("podAffinity", "podAntiAffinity"):
        of = affinity.get(key) or {}
        for term in of.get(_REQUIRED) or ():
            _add_expressions(term, labels)
        for each in of.get(_PREFERRED) or ():
            _add_expressions(each.get("podAffinityTerm") or {}, labels)
    for constraint in pod["spec"].get("topologySpreadConstraints") or ():
        _add_expressions(constraint, labels)


def _add_expressions(holder: Object, labels: _Part) -> None:
    selector = holder.get("labelSelector")
    if selector is None:
        return
    for key, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for label in holder.get(key) or ():
            if label in labels:
                expression = {"key": label, "operator": operator, "values": [labels[label]]}
                selector.setdefault("matchExpressions", []).append(expression)
