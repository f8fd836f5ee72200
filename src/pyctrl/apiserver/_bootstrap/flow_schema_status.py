"""Conditions of FlowSchemas, as the controller of API priority and fairness in kube-apiserver sets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pyctrl.apiserver._bootstrap.bootstrap_object import managed_by
from pyctrl.apiserver._meta.system_fields import timestamp

if TYPE_CHECKING:
    from pyctrl.apiserver._endpoints.backend import RESTStorage
    from pyctrl.apiserver._storage.storage import StoredObject, WatchCacheEvent

__all__ = ["FlowSchemaStatusController"]

_GROUP: Final = "flowcontrol.apiserver.k8s.io"
_MANAGER: Final = "api-priority-and-fairness-config-consumer-v1"
_FIELDS: Final[dict[str, Any]] = {
    name: {} for name in (".", "f:lastTransitionTime", "f:message", "f:reason", "f:status", "f:type")
}
_CONDITION: Final = "Dangling"


class FlowSchemaStatusController:
    """Keeps the condition `Dangling` of FlowSchemas: whether their priority level does not exist."""

    def __init__(self, backend: RESTStorage) -> None:
        self._backend = backend
        self._type = backend.registry.require(_GROUP, "v1", "flowschemas")
        self._schemas = backend.collection(self._type)
        self._levels = backend.collection(backend.registry.require(_GROUP, "v1", "prioritylevelconfigurations"))
        self._has_changed = True
        for collection in (self._schemas, self._levels):
            collection.listen(self._observe)

    def _observe(self, event: WatchCacheEvent) -> None:
        self._has_changed = True

    def sync(self) -> None:
        """Set the conditions after FlowSchemas or priority levels have changed."""
        if not self._has_changed:
            return
        for stored in self._schemas.current(""):
            self._set_condition(stored)
        self._has_changed = False  # also of the changes made here

    def _set_condition(self, stored: StoredObject) -> None:
        obj = stored.decode()
        level = ((obj.get("spec") or {}).get("priorityLevelConfiguration") or {}).get("name", "")
        condition = _condition(level, exists=self._levels.find("", level) is not None)
        status = obj.get("status") or {}
        conditions = {each.get("type", ""): each for each in status.get("conditions") or ()}
        old = conditions.get(_CONDITION, {})
        if all(old.get(key) == value for key, value in condition.items()):
            return
        conditions[_CONDITION] = {**condition, "lastTransitionTime": timestamp()}
        obj["status"] = {**status, "conditions": list(conditions.values())}
        _set_manager(obj["metadata"], self._type.api_version)
        self._backend.put(obj, self._type)


def _condition(level: str, *, exists: bool) -> dict[str, str]:
    subject = f'This FlowSchema references the PriorityLevelConfiguration object named "{level}"'
    if exists:
        return {"type": _CONDITION, "status": "False", "reason": "Found", "message": f"{subject} and it exists"}
    why = f"{subject} but there is no such object"
    return {"type": _CONDITION, "status": "True", "reason": "NotFound", "message": why}


def _set_manager(metadata: dict[str, Any], api_version: str) -> None:
    """Replace the entry of the controller in `managedFields`, which has applied entries first."""
    others = [each for each in metadata.get("managedFields") or () if each["manager"] != _MANAGER]
    fields = {"f:status": {"f:conditions": {f'k:{{"type":"{_CONDITION}"}}': _FIELDS}}}
    own = managed_by(_MANAGER, api_version, fields, operation="Apply", subresource="status")
    metadata["managedFields"] = [own, *others]
