"""Registry of the resources of a server, with the built-in ones loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from pyctrl.apiserver._apiextensions.custom_type import served_types
from pyctrl.apiserver._registry._services.allocation import (
    SERVICE_CLUSTER_IP_RANGE,
    SERVICE_NODE_PORT_RANGE,
    ServiceAllocator,
)
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource, builtin_resources
from pyctrl.apiserver._registry.builtin_type import BuiltinResourceType, Described
from pyctrl.apiserver._registry.strategy import Strategy
from pyctrl.apiserver._resources.served_resources import ServedResources
from pyctrl.apiserver._schema.components import OpenAPIComponents
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._storage.storage import Storage

__all__ = ["ResourceRegistry", "builtin_components"]


class ResourceRegistry(ServedResources):
    """The resources of a server: all built-in ones, and those of definitions that are installed.

    Args:
        load: Loads a document of the API by its name; by default those of pyctrl.
        service_cluster_ip_range: The IPv4 network of the cluster IPs of services.
        service_node_port_range: The node ports of services.

    Raises:
        ValueError: The range of cluster IPs is not an IPv4 network.
    """

    def __init__(
        self,
        load: Callable[[str], Mapping[str, JSON]] | None = None,
        *,
        service_cluster_ip_range: str = SERVICE_CLUSTER_IP_RANGE,
        service_node_port_range: range = SERVICE_NODE_PORT_RANGE,
    ) -> None:
        super().__init__(OpenAPIComponents(load) if load else builtin_components())
        declared, strategies = builtin_resources(), dict[tuple[str, str], Strategy]()
        for group, version, described in _described((load or _load)("discovery")):
            kind = described["responseKind"]["kind"]
            resource = declared.get((group, kind)) or BuiltinResource(group=group, kind=kind)
            if (group, kind) not in strategies:
                strategies[group, kind] = resource.new_strategy()
            strategy = strategies[group, kind]
            self.add_builtin(BuiltinResourceType(resource, version, described, self.components, strategy))
        self._connect_versions()
        self.service_cluster_ip_range: str = service_cluster_ip_range
        allocator = strategies["", "Service"].allocator
        assert isinstance(allocator, ServiceAllocator)
        self._service_allocator = allocator
        self._service_allocator.use_ranges(service_cluster_ip_range, service_node_port_range)

    def _connect_versions(self) -> None:
        """Give each type that is converted the types of its other versions.

        As upstream, an event has none: managers of the other group's events lose their fields.
        """
        for each in self:
            if isinstance(each, BuiltinResourceType) and each.resource.conversions:
                others = (other for other in self if (other.group, other.plural) == (each.group, each.plural))
                each.other_versions = {
                    other.api_version: other
                    for other in others
                    if other is not each and isinstance(other, BuiltinResourceType)
                }

    def observe(self, storage: Storage) -> None:
        """Let strategies that keep state follow the stored objects, such as the allocator of service IPs."""
        for each in self:
            if isinstance(each, BuiltinResourceType) and each.strategy.observes is not None:
                storage.collection(each.storage_group, each.plural).listen(each.strategy.observes)
            if isinstance(each, BuiltinResourceType) and each.strategy.uses is not None:
                each.strategy.uses(storage)
        storage.collection("networking.k8s.io", "ipaddresses").listen(self._service_allocator.observe_address)
        storage.collection("networking.k8s.io", "servicecidrs").listen(self._service_allocator.observe_range)

    def install(self, definition: Mapping[str, JSON]) -> None:
        """Serve the versions of an established definition in place of those that it had before."""
        self.replace(definition["metadata"]["name"], served_types(definition, self.components))


def _described(discovery: Mapping[str, JSON]) -> Iterator[tuple[str, str, Described]]:
    """Yield group, version and description of each built-in resource."""
    for documents in discovery.values():
        for group in documents:
            name = (group.get("metadata") or {}).get("name", "")
            for version in group["versions"]:
                for resource in version["resources"]:
                    yield name, version["version"], resource


@cache  # shared by all servers of the process: compiling schemas is most of a server's start
def builtin_components() -> OpenAPIComponents:
    """Return the components of Kubernetes' OpenAPI documents."""
    return OpenAPIComponents(_load)


@cache
def _load(name: str) -> Mapping[str, JSON]:
    from pyctrl._schemas import load  # read with the first registry, not on import

    found: Mapping[str, JSON] = load(name)
    return found
