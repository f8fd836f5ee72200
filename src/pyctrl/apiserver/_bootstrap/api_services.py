"""APIServices of the served group versions, as kube-aggregator's autoregistration controller keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyctrl.apiserver._bootstrap.bootstrap_object import managed_by, put_new_object
from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._meta.system_fields import timestamp

if TYPE_CHECKING:
    from pyctrl.apiserver._storage.storage import WatchCacheEvent

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
    """Keeps the APIServices consistent with the served group versions.

    APIServices of built-in group versions are created at the start only. Those of definitions are created again when
    they are deleted, and restored when they are changed. APIServices of clients are kept.
    """

    def __init__(self, backend: RESTStorage) -> None:
        self._backend = backend
        self._type = backend.registry.require(*_RESOURCE)
        self._collection = backend.collection(self._type)
        self._epoch: int | None = None
        self._is_changed = False
        self._collection.listen(self._observe)

    def _observe(self, event: WatchCacheEvent) -> None:
        self._is_changed = True

    def sync(self) -> None:
        """Create, restore and remove APIServices after they or the served resources changed."""
        registry = self._backend.registry
        if registry.epoch == self._epoch and not self._is_changed:
            return
        is_start = self._epoch is None
        versions = [(group, version) for group, each in registry.group_versions.items() for version in each]
        wanted = {f"{version}.{group}": (group, version) for group, version in versions if group != _RESOURCE[0]}
        for stored in self._collection.current(""):
            if stored.name not in wanted and _MANAGED in (stored.decode()["metadata"].get("labels") or {}):
                self._collection.remove(stored)
        for name, (group, version) in wanted.items():
            if is_start or group not in _GROUPS:
                self._sync_one(name, group, version)
        # Last: when the storage refuses a write, the next call continues.
        self._epoch, self._is_changed = registry.epoch, False

    def _sync_one(self, name: str, group: str, version: str) -> None:
        stored = self._collection.find("", name)
        if stored is None:
            self._make(name, group, version)
            return
        obj = stored.decode()
        if (obj["metadata"].get("labels") or {}).get(_MANAGED) == _CUSTOM and obj["spec"] != _spec(group, version):
            self._backend.put({**obj, "spec": _spec(group, version)}, self._type)

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
