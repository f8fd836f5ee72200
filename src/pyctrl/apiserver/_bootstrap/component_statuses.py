"""ComponentStatuses: the health of etcd, the scheduler and the controller manager, computed on read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pyctrl.apiserver._errors import not_found
from pyctrl.apiserver._resources.resource_storage import ResourceStorage, StorageList, StorageRequest

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.served_resources import ServedResources

__all__ = ["ComponentStatuses"]

#: The ports of the components that a kube-apiserver probes on its own machine.
_PORTS: Final = {"scheduler": 10259, "controller-manager": 10257}


class ComponentStatuses:
    """The storage of the resource `componentstatuses`.

    Attributes:
        running: The components that run beside the server: `scheduler` and `controller-manager`. The others are
            reported as kube-apiserver reports components on other machines, as unhealthy.
    """

    def __init__(self, registry: ServedResources) -> None:
        self.running: set[str] = set()
        registry.require("", "v1", "componentstatuses").rest_storage = ResourceStorage(get=self._get, list=self._list)

    async def _get(self, request: StorageRequest, name: str) -> dict[str, Any]:
        found = next((each for each in self._statuses() if each["metadata"]["name"] == name), None)
        if found is None:
            raise not_found("componentstatus", name)  # upstream's singular
        return found

    async def _list(self, request: StorageRequest) -> StorageList:
        return StorageList(self._statuses())

    def _statuses(self) -> list[dict[str, Any]]:
        return [*(self._probed(name) for name in _PORTS), _status("etcd-0", is_healthy=True, message="ok")]

    def _probed(self, name: str) -> dict[str, Any]:
        if name in self.running:
            return _status(name, is_healthy=True, message="ok")
        address = f"127.0.0.1:{_PORTS[name]}"
        message = f'Get "https://{address}/healthz": dial tcp {address}: connect: connection refused'
        return _status(name, is_healthy=False, message=message)


def _status(name: str, *, is_healthy: bool, message: str) -> dict[str, Any]:
    condition = {"type": "Healthy", "status": str(is_healthy), "message": message}
    return {"metadata": {"name": name}, "conditions": [condition]}
