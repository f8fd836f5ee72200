"""IPAddresses of services: upstream's allocator of cluster IPs, and the controller that repairs its objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pyctrl.apiserver._bootstrap.bootstrap_object import managed_by, put_new_object

if TYPE_CHECKING:
    from pyctrl.apiserver._endpoints.backend import RESTStorage
    from pyctrl.apiserver._storage.storage import StoredObject, WatchCacheEvent

__all__ = ["ServiceIPAddressController"]

_MANAGED_BY: Final = "ipaddress.kubernetes.io/managed-by"
_FAMILY: Final = "ipaddress.kubernetes.io/ip-family"
_ALLOCATOR: Final = "ipallocator.k8s.io"
_API_VERSION: Final = "networking.k8s.io/v1"


class ServiceIPAddressController:
    """Keeps an IPAddress for each cluster IP, which exists as soon as its service does.

    An IPAddress of a service that a client deletes is created again. One that refers to no service is deleted when the
    allocator has made it; others belong to their clients and reserve their address.
    """

    def __init__(self, backend: RESTStorage) -> None:
        self._backend = backend
        self._type = backend.registry.require("networking.k8s.io", "v1", "ipaddresses")
        self._services = backend.collection(backend.registry.require("", "v1", "services"))
        self._addresses = backend.collection(self._type)
        self._missing: set[tuple[str, str]] = set()  # namespace and name of services that may lack an IPAddress
        self._services.listen(self._observe_service)
        self._addresses.listen(self._observe_address)

    def sync(self) -> None:
        """Create the IPAddresses that a client has deleted."""
        while self._missing:
            service = self._services.find(*self._missing.pop())
            for address in _cluster_ips(service):
                self._allocate(address, service)

    def _observe_service(self, event: WatchCacheEvent) -> None:
        before, after = list(_cluster_ips(event.previous)), list(_cluster_ips(event.current))
        for address in after:
            if address not in before:
                self._allocate(address, event.current)
        for address in before:
            if address not in after:
                self._release(address)

    def _observe_address(self, event: WatchCacheEvent) -> None:
        if event.current is None and event.previous is not None:
            parent = (event.previous.decode().get("spec") or {}).get("parentRef") or {}
            if parent.get("resource") == "services" and not parent.get("group"):
                self._missing.add((parent.get("namespace", ""), parent.get("name", "")))

    def _allocate(self, address: str, service: StoredObject | None) -> None:
        if service is None or self._addresses.find("", address) is not None:
            return
        labels = {_FAMILY: "IPv6" if ":" in address else "IPv4", _MANAGED_BY: _ALLOCATOR}
        parent = {"resource": "services", "namespace": service.namespace, "name": service.name}
        obj: dict[str, Any] = {"metadata": {"name": address, "labels": labels}, "spec": {"parentRef": parent}}
        fields = {
            "f:metadata": {"f:labels": {".": {}, **{f"f:{label}": {} for label in labels}}},
            "f:spec": {"f:parentRef": {".": {}, "f:name": {}, "f:namespace": {}, "f:resource": {}}},
        }
        managers = [managed_by("kube-apiserver", _API_VERSION, fields)]
        put_new_object(self._backend, self._type, obj, managers=managers)

    def _release(self, address: str) -> None:
        stored = self._addresses.find("", address)
        if stored is not None and stored.labels.get(_MANAGED_BY) == _ALLOCATOR:
            self._addresses.remove(stored)


def _cluster_ips(service: StoredObject | None) -> Iterator[str]:
    """Yield the cluster IPs of a service."""
    if service is not None:
        spec = msgspec.json.decode(service.data)["spec"]
        yield from (each for each in spec.get("clusterIPs") or () if each != "None")
