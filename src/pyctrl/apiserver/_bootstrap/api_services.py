"""APIServices of the served group versions, as kube-aggregator's autoregistration controller keeps them."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._bootstrap.bootstrap_object import managed_by, put_new_object
from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._meta.system_fields import timestamp

__all__ = ["AutoRegisterController"]

_MANAGED = "kube-aggregator.kubernetes.io/automanaged"

_RESOURCE = ("apiregistration.k8s.io", "v1", "apiservices")
_BUILT_IN, _CUSTOM = "onstart", "true"  # values of the label

# The priorities of kube-apiserver 1.36: of each of its groups, and of versions that differ from the usual one.
_GROUPS = {
    "": 18000,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "apps": 17800,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "coordination.k8s.io": 16500,
    "discovery.k8s.io": 16200,
    "events.k8s.io": 17750,
    "flowcontrol.apiserver.k8s.io": 16100,
    "networking.k8s.io": 17200,
    "node.k8s.io": 16300,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "resource.k8s.io": 16200,
    "scheduling.k8s.io": 16600,
    "storage.k8s.io": 16800,
}
_VERSIONS = {("", "v1"): 1, ("flowcontrol.apiserver.k8s.io", "v1"): 21, ("resource.k8s.io", "v1"): 21}
_VERSIONS |= {("autoscaling", "v2"): 30}
_USUAL = 15
_CUSTOM_GROUP, _CUSTOM_VERSION = 1000, 100


class AutoRegisterController:
    """Keeps the APIServices consistent with the served group versions."""

    def __init__(self, backend: RESTStorage) -> None:
        self._backend = backend
        self._type = backend.registry.require(*_RESOURCE)
        self._epoch: int | None = None

    def sync(self) -> None:
        """Create and remove APIServices after the served resources changed; those of clients are kept."""
        registry = self._backend.registry
        if registry.epoch == self._epoch:
            return
        versions = [(group, version) for group, each in registry.group_versions.items() for version in each]
        wanted = {f"{version}.{group}": (group, version) for group, version in versions if group != _RESOURCE[0]}
        collection = self._backend.collection(self._type)
        for stored in collection.current(""):
            if stored.name not in wanted and _MANAGED in (stored.decode()["metadata"].get("labels") or {}):
                collection.remove(stored)
        for name, (group, version) in wanted.items():
            if collection.find("", name) is None:
                self._make(name, group, version)
        self._epoch = registry.epoch  # last: when the storage refuses a write, the next call continues

    def _make(self, name: str, group: str, version: str) -> None:
        label = _BUILT_IN if group in _GROUPS else _CUSTOM
        obj: dict[str, Any] = {
            "metadata": {"name": name, "labels": {_MANAGED: label}},
            "spec": _spec(group, version),
            "status": {"conditions": [_available()]},
        }
        fields = {
            "f:metadata": {"f:labels": {".": {}, f"f:{_MANAGED}": {}}},
            "f:spec": {f"f:{name}": {} for name in sorted(obj["spec"])},
        }
        managers = [managed_by("kube-apiserver", self._type.api_version, fields)]
        put_new_object(self._backend, self._type, obj, managers=managers)


def _spec(group: str, version: str) -> dict[str, Any]:
    is_built_in = group in _GROUPS
    spec: dict[str, Any] = {
        "version": version,
        "groupPriorityMinimum": _GROUPS.get(group, _CUSTOM_GROUP),
        "versionPriority": _VERSIONS.get((group, version), _USUAL) if is_built_in else _CUSTOM_VERSION,
    }
    return {"group": group, **spec} if group else spec


def _available() -> dict[str, Any]:
    return {
        "type": "Available",
        "status": "True",
        "lastTransitionTime": timestamp(),
        "reason": "Local",
        "message": "Local APIServices are always available",
    }
