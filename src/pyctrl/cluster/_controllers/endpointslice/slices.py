"""Distribution of the pods behind a service over EndpointSlices with the fewest changes. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyctrl.api import ObjectMeta, set_controller_reference
from pyctrl.cluster._controllers.service_endpoints import HEADLESS
from pyctrl.cluster._controllers.service_pods import ServiceEndpoint, TargetPort, is_headless
from pyctrl.kinds.core.v1 import Service
from pyctrl.kinds.discovery.v1 import Endpoint, EndpointConditions, EndpointPort, EndpointSlice

__all__ = ["MAX_ENDPOINTS_PER_SLICE", "SlicePlan", "plan_slices"]

MANAGED_BY, MANAGER = "endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io"
SERVICE_NAME = "kubernetes.io/service-name"
MAX_ENDPOINTS_PER_SLICE = 100  # kube-controller-manager's --max-endpoints-per-slice


@dataclass(slots=True)
class SlicePlan:
    """The EndpointSlices to write."""

    create: list[EndpointSlice] = field(default_factory=list)
    update: list[EndpointSlice] = field(default_factory=list)
    delete: list[EndpointSlice] = field(default_factory=list)


def plan_slices(service: Service, endpoints: Sequence[ServiceEndpoint], present: Sequence[EndpointSlice]) -> SlicePlan:
    """Plan the slices of a service: one or more for each set of ports, and an empty one without pods."""
    groups: dict[tuple[TargetPort, ...], list[ServiceEndpoint]] = {}
    for endpoint in endpoints:
        groups.setdefault(endpoint.ports, []).append(endpoint)
    by_ports: dict[tuple[TargetPort, ...], list[EndpointSlice]] = {}
    for each in present:
        by_ports.setdefault(_ports_of(each), []).append(each)
    plan = SlicePlan()
    for ports, wanted in groups.items():
        _plan_group(plan, service, ports, wanted, by_ports.pop(ports, []))
    left = [each for slices in by_ports.values() for each in slices]
    is_empty = not groups
    if is_empty and left and not left[0].endpoints and not left[0].ports:
        plan.delete += left[1:]
        _relabel(plan, service, left[0])
        return plan
    plan.delete += left
    if is_empty:
        plan.create.append(_slice(service, (), []))
    _reuse(plan)
    return plan


def _plan_group(
    plan: SlicePlan,
    service: Service,
    ports: tuple[TargetPort, ...],
    wanted: list[ServiceEndpoint],
    present: list[EndpointSlice],
) -> None:
    """Keep endpoints in their slices, fill free capacity, and create new slices for the rest."""
    missing = {backend.uid: backend for backend in wanted}
    kept: list[tuple[EndpointSlice, list[Endpoint]]] = []
    for each in present:
        kept_endpoints = []
        for endpoint in each.endpoints:
            backend = missing.pop(endpoint.target_ref.uid or "", None) if endpoint.target_ref else None
            if backend is not None:
                kept_endpoints.append(_endpoint(backend))
        kept.append((each, kept_endpoints))
    rest = [_endpoint(backend) for backend in missing.values()]
    for each, endpoints in kept:
        capacity = MAX_ENDPOINTS_PER_SLICE - len(endpoints)
        endpoints += rest[:capacity]
        rest = rest[capacity:]
        if endpoints:
            _change(plan, service, each, endpoints)
        else:
            plan.delete.append(each)
    while rest:
        plan.create.append(_slice(service, ports, rest[:MAX_ENDPOINTS_PER_SLICE]))
        rest = rest[MAX_ENDPOINTS_PER_SLICE:]


def _change(plan: SlicePlan, service: Service, present: EndpointSlice, endpoints: list[Endpoint]) -> None:
    if endpoints == present.endpoints:
        _relabel(plan, service, present)
        return
    present.endpoints = endpoints
    present.metadata.labels = _labels(service)
    plan.update.append(present)


def _relabel(plan: SlicePlan, service: Service, present: EndpointSlice) -> None:
    if present.metadata.labels != _labels(service):
        present.metadata.labels = _labels(service)
        plan.update.append(present)


def _reuse(plan: SlicePlan) -> None:
    """Update slices that would be deleted in place of slices that would be created."""
    while plan.create and plan.delete:
        made, reused = plan.create.pop(0), plan.delete.pop(0)
        reused.endpoints, reused.ports, reused.metadata.labels = made.endpoints, made.ports, made.metadata.labels
        plan.update.append(reused)


def _slice(service: Service, ports: tuple[TargetPort, ...], endpoints: list[Endpoint]) -> EndpointSlice:
    name = service.metadata.name
    made = EndpointSlice(
        metadata=ObjectMeta(generate_name=f"{name}-", namespace=service.metadata.namespace, labels=_labels(service)),
        address_type="IPv4",
        endpoints=endpoints,
        ports=[
            EndpointPort(name=each.name, port=each.port, protocol=each.protocol, app_protocol=each.app_protocol)
            for each in ports
        ],
    )
    set_controller_reference(service, made)
    return made


def _labels(service: Service) -> dict[str, str]:
    ours = {SERVICE_NAME: service.metadata.name, MANAGED_BY: MANAGER}
    return {**service.metadata.labels, **({HEADLESS: ""} if is_headless(service) else {}), **ours}


def _ports_of(found: EndpointSlice) -> tuple[TargetPort, ...]:
    return tuple(
        TargetPort(each.name or "", each.port or 0, each.protocol or "TCP", each.app_protocol) for each in found.ports
    )


def _endpoint(backend: ServiceEndpoint) -> Endpoint:
    return Endpoint(
        addresses=[backend.ip],
        conditions=EndpointConditions(
            ready=backend.is_ready, serving=backend.is_serving, terminating=backend.is_terminating
        ),
        hostname=backend.hostname,
        node_name=backend.node or None,
        target_ref=backend.reference,
        zone=backend.zone,
    )
