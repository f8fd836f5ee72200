"""What runs in pods, and as which service account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyctrl.api import Key
from pyctrl.rbac._doctor._finding import Named

__all__ = ["Workload", "workload_of"]

_TEMPLATES = {  # where the spec of the pods is
    "Pod": ("spec",),
    "ReplicationController": ("spec", "template", "spec"),
    "ReplicaSet": ("spec", "template", "spec"),
    "Deployment": ("spec", "template", "spec"),
    "StatefulSet": ("spec", "template", "spec"),
    "DaemonSet": ("spec", "template", "spec"),
    "Job": ("spec", "template", "spec"),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Something that has pods, and which nobody else controls."""

    named: Named
    pod_spec: Mapping[str, Any]
    path: tuple[str, ...]  # of the pod's spec in the object

    @property
    def account(self) -> Key:
        """The service account that its pods run as."""
        return Key(self.named.namespace, self.written or "default")

    @property
    def written(self) -> str:
        """The account's name as it is written; "" when it is not. ``serviceAccount`` is the old word."""
        return str(self.pod_spec.get("serviceAccountName") or self.pod_spec.get("serviceAccount") or "")

    @property
    def kubectl(self) -> str:
        """What kubectl calls it: ``deployment/web``."""
        return f"{self.named.kind.lower()}/{self.named.name}"


def workload_of(named: Named, obj: Mapping[str, Any]) -> Workload | None:
    """Read what has pods; None when it has none, or belongs to something that does."""
    path = _TEMPLATES.get(named.kind)
    owners = (obj.get("metadata") or {}).get("ownerReferences") or ()
    if path is None or any(owner.get("controller") for owner in owners):
        return None
    spec: Any = obj
    for part in path:
        spec = (spec or {}).get(part)
    return Workload(named=named, pod_spec=spec or {}, path=path)
