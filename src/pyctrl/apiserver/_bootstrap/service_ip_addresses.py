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
        self._owners = {each: stored for stored in self._services.current("") for each in _cluster_ips(stored)}
        self._changed = dict.fromkeys(self._owners)  # addresses to look at, in a reproducible order
        self._services.listen(self._observe_service)
        self._addresses.listen(self._observe_address)

    def sync(self) -> None:
        """Create and delete IPAddresses after services and IPAddresses have changed."""
        while self._changed:
            address = next(iter(self._changed))
            self._sync_address(address)
            self._changed.pop(address, None)

    def _observe_service(self, event: WatchCacheEvent) -> None:
        for address in _cluster_ips(event.previous):
            self._owners.pop(address, None)
            self._changed[address] = None
        for address in _cluster_ips(event.current):
            assert event.current is not None  # it has addresses
            self._owners[address] = event.current
            self._changed[address] = None

    def _observe_address(self, event: WatchCacheEvent) -> None:
        if event.previous is not None and event.current is None:
            self._changed[event.previous.name] = None

    def _sync_address(self, address: str) -> None:
        stored, service = self._addresses.find("", address), self._owners.get(address)
        if stored is None and service is not None:
            self._create(address, service)
        elif stored is not None and service is None and stored.labels.get(_MANAGED_BY) == _ALLOCATOR:
            self._addresses.remove(stored)

    def _create(self, address: str, service: StoredObject) -> None:
        labels = {_FAMILY: "IPv6" if ":" in address else "IPv4", _MANAGED_BY: _ALLOCATOR}
        parent = {"resource": "services", "namespace": service.namespace, "name": service.name}
        obj: dict[str, Any] = {"metadata": {"name": address, "labels": labels}, "spec": {"parentRef": parent}}
        fields: dict[str, Any] = {
            "f:metadata": {"f:labels": {".": {}, **{f"f:{label}": {} for label in labels}}},
            "f:spec": {"f:parentRef": {".": {}, "f:name": {}, "f:namespace": {}, "f:resource": {}}},
        }
        managers = [managed_by("kube-apiserver", _API_VERSION, fields)]
        put_new_object(self._backend, self._type, obj, managers=managers)


def _cluster_ips(service: StoredObject | None) -> Iterator[str]:
    """Yield the cluster IPs of a service."""
    if service is not None:
        spec = msgspec.json.decode(service.data)["spec"]
        yield from (each for each in spec.get("clusterIPs") or () if each != "None")
