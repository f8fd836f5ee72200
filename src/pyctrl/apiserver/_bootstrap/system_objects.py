"""Objects that every cluster has, as the post-start hooks of kube-apiserver create them.

These are system namespaces, the service `kubernetes` with its endpoints, IP address and ServiceCIDR, priority classes,
FlowSchemas and PriorityLevelConfigurations, the Lease of the server's identity, and a ConfigMap. They are data of the
package, recorded from a kube-apiserver with everything that it sets: no defaults, validation or admission is run.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from ipaddress import IPv4Network
from random import Random
from string import Template
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pyctrl._clock import now
from pyctrl._schemas import load
from pyctrl.apiserver._meta.system_fields import new_uid, timestamp

if TYPE_CHECKING:
    from pyctrl.apiserver._endpoints.backend import RESTStorage
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._storage.storage import WatchCacheEvent

__all__ = ["IDENTITY", "SystemObjectsController"]

#: The server's name and advertised address. They are constants, so that servers with one seed are the same everywhere.
HOSTNAME: Final = "pyctrl"
ADDRESS: Final = "192.168.96.1"  # in the network of simulated nodes; nothing listens there


def _identity(hostname: str) -> str:
    """Return the name of the server's Lease, made as in k8s.io/apiserver (NewConfig)."""
    parts = (hostname.encode(), b"kube-apiserver")
    hashed = sha256(b"".join(len(part).to_bytes(2, "big") + part for part in parts)).digest()[:16]
    return f"apiserver-{b32encode(hashed).decode().rstrip('=').lower()}"


IDENTITY: Final = _identity(HOSTNAME)


class SystemObjectsController:
    """Creates the objects at start, and again after a request has deleted one.

    Args:
        backend: The storage of the server.
        service_cidr: The range of cluster IPs, of which the first is that of the service `kubernetes`.
    """

    def __init__(self, backend: RESTStorage, service_cidr: str) -> None:
        self._backend = backend
        self._values = {
            "service_cidr": service_cidr,
            "service_ip": str(IPv4Network(service_cidr)[1]),
            "address": ADDRESS,
            "hostname": HOSTNAME,
            "identity": IDENTITY,
            "holder": new_uid(backend.random),
        }
        self._is_served = False
        self._was_deleted = False
        self._create_missing()
        for group, resource in {(each.storage_group, each.plural) for each, _ in self._objects()}:
            backend.storage.collection(group, resource).listen(self._observe)

    def sync(self) -> None:
        """Create the objects that a request has deleted."""
        if self._was_deleted:
            self._create_missing()
            self._was_deleted = False

    def publish(self) -> None:
        """Create the ConfigMap of `kube-system`, too.

        A server without clients over TLS has none: tests that reconcile ConfigMaps find no other than their own.
        """
        self._is_served = True
        self._create_missing()

    def _observe(self, event: WatchCacheEvent) -> None:
        self._was_deleted = self._was_deleted or event.current is None

    def _create_missing(self) -> None:
        for resource, obj in self._objects():
            if resource.kind == "ConfigMap" and not self._is_served:
                continue
            metadata = obj["metadata"]
            collection = self._backend.collection(resource)
            if collection.find(metadata.get("namespace", ""), metadata["name"]) is None:
                obj["metadata"] = _with_system_fields(metadata, self._backend.random)
                collection.put(obj, resource)

    def _objects(self) -> Iterator[tuple[ResourceType, dict[str, Any]]]:
        """Yield the objects as of now, in the order of their creation."""
        moment = now()
        times = {
            "time": timestamp(moment),
            "date": f"{moment:%Y-%m-%d}",
            "microtime": f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}",
        }
        text = _template().substitute(self._values, **times)
        for entry in msgspec.json.decode(text)["items"]:
            group, _, version = entry["object"]["apiVersion"].rpartition("/")
            yield self._backend.registry.require(group, version, entry["resource"]), entry["object"]


def _with_system_fields(metadata: dict[str, Any], random: Random) -> dict[str, Any]:
    names: dict[str, Any] = {key: metadata.pop(key) for key in ("name", "namespace") if key in metadata}
    return {**names, "uid": new_uid(random), "resourceVersion": "", **metadata}


@cache
def _template() -> Template:
    return Template(msgspec.json.encode(load("bootstrap_objects")).decode())
