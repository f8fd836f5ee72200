"""Endpoints controller: the Endpoints of services.

The rules are those of kube-controller-manager's endpoints controller (pkg/controller/endpoint).
"""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl.api import Key, ObjectMeta
from pyctrl.cluster._controllers.pod_template_hash import fnv_128a
from pyctrl.cluster._controllers.service_endpoints import HEADLESS, ServiceIndex, ServiceReconciler, set_trigger_time
from pyctrl.cluster._controllers.service_pods import ServiceEndpoint, TargetPort, is_headless
from pyctrl.controller import Builder, Controller, ManagedCluster, for_object, reading
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.core.v1 import EndpointAddress, EndpointPort, Endpoints, EndpointSubset, Node, Pod, Service

__all__ = ["EndpointsReconciler", "add_endpoints", "subsets_of"]

MANAGED_BY, MANAGER = "endpoints.kubernetes.io/managed-by", "endpoint-controller"
MAX_CAPACITY = 1000  # addresses in one object; further ones are dropped (maxCapacity of the endpoints controller)


def add_endpoints(host: ManagedCluster, services: ServiceIndex) -> Controller:
    """Run the endpoints controller in a manager. The endpointslice controller may share the index."""
    return (
        Builder(host)
        .reconciles(Service)
        .options(name="endpoint", workers=4)
        .watches(Endpoints, for_object)
        .watches(Service, services.on_service)
        .watches(Pod, services.on_pod)
        .reads(reading(Node, triggers=False))
        .build(EndpointsReconciler(services))
    )


class EndpointsReconciler(ServiceReconciler):
    """Writes the Endpoints of services, which have the names of the services."""

    async def _sync(self, service: Service, endpoints: Sequence[ServiceEndpoint], triggered: str | None) -> None:
        headless = {HEADLESS: ""} if is_headless(service) else {}
        labels = {**service.metadata.labels, **headless, MANAGED_BY: MANAGER}
        subsets = subsets_of(service, endpoints)
        present = await self.client.find(Endpoints, service.key)
        if present is None:
            meta = ObjectMeta(name=service.key.name, namespace=service.key.namespace, labels=labels)
            set_trigger_time(meta, triggered)
            await self.client.create(Endpoints(metadata=meta, subsets=subsets))
        elif (present.subsets, present.metadata.labels) != (subsets, labels):
            present.subsets, present.metadata.labels = subsets, labels
            set_trigger_time(present.metadata, triggered)
            await self.client.update(present)

    async def _delete(self, key: Key) -> None:
        found = await self.client.find(Endpoints, key)
        if found is not None and found.metadata.labels.get(MANAGED_BY) == MANAGER:
            try:
                await self.client.delete(found)
            except (NotFound, Conflict):
                return


def subsets_of(service: Service, endpoints: Sequence[ServiceEndpoint]) -> list[EndpointSubset]:
    """Return the subsets, each with the ports of the same addresses; without terminating pods."""
    included = [each for each in endpoints if not each.is_terminating or service.spec.publish_not_ready_addresses]
    by_port: dict[TargetPort | None, list[ServiceEndpoint]] = {}
    for endpoint in sorted(included, key=lambda each: each.ip)[:MAX_CAPACITY]:
        portless = () if service.spec.ports or not is_headless(service) else (None,)
        for port in (*endpoint.ports, *portless):
            by_port.setdefault(port, []).append(endpoint)
    by_addresses: dict[tuple[tuple[str, str, bool], ...], list[TargetPort | None]] = {}
    for port, addresses in by_port.items():
        identity = tuple((each.ip, each.uid, each.is_ready) for each in addresses)
        by_addresses.setdefault(identity, []).append(port)
    return [_subset(ports, by_port[ports[0]]) for ports in by_addresses.values()]


def _subset(ports: list[TargetPort | None], addresses: Sequence[ServiceEndpoint]) -> EndpointSubset:
    return EndpointSubset(
        addresses=[_address(each) for each in addresses if each.is_ready],
        not_ready_addresses=[_address(each) for each in addresses if not each.is_ready],
        ports=[
            EndpointPort(name=port.name or None, port=port.port, protocol=port.protocol, app_protocol=port.app_protocol)
            for port in sorted(filter(None, ports), key=_hash_of)
        ],
    )


def _hash_of(port: TargetPort) -> int:
    """Return the hash by which upstream sorts the ports of a subset: that of the port as Go's spew prints it."""
    protocols = f"Protocol:(v1.Protocol){port.protocol} AppProtocol:(*string){port.app_protocol or '<nil>'}"
    return fnv_128a(f"(v1.EndpointPort){{Name:(string){port.name} Port:(int32){port.port} {protocols}}}".encode())


def _address(endpoint: ServiceEndpoint) -> EndpointAddress:
    return EndpointAddress(
        ip=endpoint.ip, hostname=endpoint.hostname, node_name=endpoint.node or None, target_ref=endpoint.reference
    )
