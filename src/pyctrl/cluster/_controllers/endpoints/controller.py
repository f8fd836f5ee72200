"""Endpoints and EndpointSlice controllers: the addresses of the pods addresses a service."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pyctrl.api import Key, LabelSelector, ObjectMeta, format_time, is_controlled_by, is_deleting
from pyctrl.cluster._controllers.endpoints.pods import (
    PodFacts,
    ServiceEndpoint,
    TargetPort,
    endpoints_of,
    is_headless,
    pod_facts,
)
from pyctrl.cluster._controllers.endpoints.slices import HEADLESS, SlicePlan, plan_slices
from pyctrl.cluster._controllers.namespace import ignore_outdated
from pyctrl.controller import Builder, ManagedCluster, ObjectChange, Reconciler, Request, Result, for_object
from pyctrl.errors import AlreadyExists, Conflict, NotFound
from pyctrl.kinds.core.v1 import EndpointAddress, EndpointPort, Endpoints, EndpointSubset, Node, Pod, Service
from pyctrl.kinds.discovery.v1 import EndpointSlice

__all__ = ["add_endpoints", "subsets_of"]


ZONE = "topology.kubernetes.io/zone"
LAST_CHANGE_TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
MANAGED_BY, MANAGER = "endpoints.kubernetes.io/managed-by", "endpoint-controller"


def add_endpoints(host: ManagedCluster) -> None:
    """Run the endpoints and endpointslice controllers in a manager."""
    services = ServiceIndex()
    keepers: tuple[tuple[str, Any, ServiceReconciler], ...] = (
        ("endpointslice", EndpointSlice, EndpointSliceReconciler(services)),
        ("endpoint", Endpoints, EndpointsReconciler(services)),
    )
    for name, kind, keeper in keepers:
        builder = Builder(host).reconciles(Service).options(name=name, workers=4)
        builder = builder.owns(kind) if kind is EndpointSlice else builder.watches(kind, for_object)
        builder.watches(Service, services.on_service).watches(Pod, services.on_pod).watches(Node, _no_requests).build(
            keeper
        )


def _no_requests(observed: ObjectChange[Node]) -> list[Request]:
    """Enqueue nothing: the watch keeps nodes cached for lookups, and their zones do not change."""
    return []


class ServiceIndex:
    """Services by selector and pods by labels, so that each finds the other.

    Both are updated by watch events. A service with many pods is reconciled often, and decoding its pods each time
    would dominate the cost.
    """

    def __init__(self) -> None:
        self._selectors: dict[str, dict[Request, LabelSelector]] = {}
        self._pods: dict[str, dict[str, PodFacts]] = {}

    def pods_of(self, namespace: str, selector: Mapping[str, str]) -> list[PodFacts]:
        """Return the pods that a selector matches."""
        wanted = selector.items()
        return [pod for pod in self._pods.get(namespace, {}).values() if wanted <= pod.labels.items()]

    def on_service(self, observed: ObjectChange[Service]) -> list[Request]:
        """Update the selector of a service; enqueue nothing, since the service has its own source."""
        request, service = Request(*observed.current.key), observed.new
        known = self._selectors.setdefault(request.namespace, {})
        known.pop(request, None)
        if service is not None and service.spec.selector:
            known[request] = LabelSelector.from_dict(service.spec.selector)
        return []

    def on_pod(self, observed: ObjectChange[Pod]) -> list[Request]:
        """Update a pod; enqueue the services that select it, or did, if the pod has changed for them."""
        namespace, name = observed.current.key
        old, new = pod_facts(observed.before), pod_facts(observed.after)
        known = self._pods.setdefault(namespace, {})
        known.pop(name, None)
        if new is not None:
            known[name] = new
        if old == new:
            return []
        labels = [facts.labels for facts in (old, new) if facts is not None]
        selectors = self._selectors.get(namespace, {})
        return [request for request, selector in selectors.items() if any(map(selector.matches, labels))]


class TriggerTimeTracker:
    """Trigger times of endpoint changes, for the annotation that measures programming latency."""

    def __init__(self) -> None:
        self._services: dict[Request, str | None] = {}
        self._pods: dict[Request, dict[str, str]] = {}

    def time(self, request: Request, service: Service, pods: Sequence[PodFacts]) -> str | None:
        """Return the earliest change since the last call; for a new service its creation time."""
        creation, is_known = service.metadata.creation_timestamp, request in self._services
        created = None if creation is None else format_time(creation)
        now = {pod.name: pod.ready_since for pod in pods if pod.ready_since is not None}
        before = self._pods.get(request, {})
        changed = [at for name, at in now.items() if name not in before or at > before[name]]
        if is_known and created is not None and created != self._services[request]:
            changed.append(created)
        self._services[request], self._pods[request] = created, now
        return min(changed, default=None) if is_known else created

    def forget(self, request: Request) -> None:
        """Forget a deleted service."""
        self._services.pop(request, None)
        self._pods.pop(request, None)


class ServiceReconciler(Reconciler[Service]):
    """Base of both controllers: finds the pods addresses a service."""

    def __init__(self, services: ServiceIndex) -> None:
        self._services = services
        self._triggers = TriggerTimeTracker()

    async def reconcile(self, request: Request) -> Result | None:
        service = await self.client.find(Service, request.key)
        if service is None:
            self._triggers.forget(request)
            await self._delete(request.key)
            return None
        spec = service.spec
        if not spec.selector or spec.type == "ExternalName" or is_deleting(service):
            return None  # the endpoints of such a service are not managed here
        pods = self._services.pods_of(request.namespace, spec.selector)
        zones = {node: zone for node in {pod.node for pod in pods} if (zone := await self._zone(node))}
        triggered = self._triggers.time(request, service, pods)
        with ignore_outdated(), suppress(AlreadyExists):
            await self._sync(service, endpoints_of(service, pods, zones), triggered)
        return None

    async def _zone(self, node: str) -> str | None:
        found = await self.client.find(Node, Key("", node)) if node else None
        return found.metadata.labels.get(ZONE) if found is not None else None

    @abstractmethod
    async def _sync(self, service: Service, endpoints: Sequence[ServiceEndpoint], triggered: str | None) -> None:
        """Write the endpoints of a service."""

    async def _delete(self, key: Key) -> None:
        """Clean up after a deleted service."""


class EndpointSliceReconciler(ServiceReconciler):
    """Writes the EndpointSlices of services; the garbage collector deletes them."""

    async def _sync(self, service: Service, endpoints: Sequence[ServiceEndpoint], triggered: str | None) -> None:
        owned = await self.client.list(EndpointSlice, index=("owner", service.metadata.uid))
        present = [each for each in owned if is_controlled_by(each, service) and not is_deleting(each)]
        await self._write(plan_slices(service, endpoints, present), triggered)

    async def _write(self, plan: SlicePlan, triggered: str | None) -> None:
        for each in plan.create:
            _set_trigger_time(each.metadata, triggered)
            await self.client.create(each)
        for each in plan.update:
            _set_trigger_time(each.metadata, triggered)
            await self.client.update(each)
        for each in plan.delete:
            await self.client.delete(each)


class EndpointsReconciler(ServiceReconciler):
    """Writes the Endpoints of services, which have the names of the services."""

    async def _sync(self, service: Service, endpoints: Sequence[ServiceEndpoint], triggered: str | None) -> None:
        headless = {HEADLESS: ""} if is_headless(service) else {}
        labels = {**service.metadata.labels, **headless, MANAGED_BY: MANAGER}
        subsets = subsets_of(service, endpoints)
        present = await self.client.find(Endpoints, service.key)
        if present is None:
            meta = ObjectMeta(name=service.key.name, namespace=service.key.namespace, labels=labels)
            _set_trigger_time(meta, triggered)
            await self.client.create(Endpoints(metadata=meta, subsets=subsets))
        elif (present.subsets, present.metadata.labels) != (subsets, labels):
            present.subsets, present.metadata.labels = subsets, labels
            _set_trigger_time(present.metadata, triggered)
            await self.client.update(present)

    async def _delete(self, key: Key) -> None:
        found = await self.client.find(Endpoints, key)
        if found is not None and found.metadata.labels.get(MANAGED_BY) == MANAGER:
            try:
                await self.client.delete(found)
            except (NotFound, Conflict):
                return


def _set_trigger_time(meta: ObjectMeta, triggered: str | None) -> None:
    if triggered is not None:
        meta.annotations[LAST_CHANGE_TRIGGER_TIME] = triggered
    else:
        meta.annotations.pop(LAST_CHANGE_TRIGGER_TIME, None)


MAX_CAPACITY = 1000  # addresses in one object; further ones are dropped (maxCapacity of the endpoints controller)


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
            for port in ports
            if port is not None
        ],
    )


def _address(endpoint: ServiceEndpoint) -> EndpointAddress:
    return EndpointAddress(
        ip=endpoint.ip, hostname=endpoint.hostname, node_name=endpoint.node or None, target_ref=endpoint.reference
    )
