"""Pods behind a service and their ports, the input of Endpoints and EndpointSlices. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pyctrl.cache import Record
from pyctrl.cluster._pod_summary import summarize_pod
from pyctrl.kinds.core.v1 import ObjectReference, Service, ServicePort

__all__ = ["PodFacts", "ServiceEndpoint", "TargetPort", "endpoints_of", "is_headless", "pod_facts"]


class TargetPort(NamedTuple):
    """A port of a service with the target port of a pod."""

    name: str
    port: int
    protocol: str
    app_protocol: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceEndpoint:
    """A pod behind a service."""

    pod: str
    uid: str
    namespace: str
    ip: str
    node: str
    zone: str | None
    hostname: str | None
    is_ready: bool  # also if the service publishes pods that are not ready
    is_serving: bool
    is_terminating: bool
    ports: tuple[TargetPort, ...]

    @property
    def reference(self) -> ObjectReference:
        """The pod as an object reference."""
        return ObjectReference(kind="Pod", namespace=self.namespace, name=self.pod, uid=self.uid)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodFacts:
    """The fields of a running pod with an address that services depend on."""

    name: str
    uid: str
    namespace: str
    labels: Mapping[str, str]
    ip: str
    node: str
    hostname: str
    subdomain: str
    is_ready: bool
    ready_since: str | None  # RFC 3339 text, which sorts by time
    is_terminating: bool
    ports: tuple[tuple[str, str, int], ...]  # names, protocols and numbers


def pod_facts(record: Record | None) -> PodFacts | None:
    """Return the facts of a cached pod; None without a pod, an address or running containers."""
    summary = summarize_pod(record) if record is not None else None
    if record is None or summary is None or not summary.status.pod_ip or summary.is_over:
        return None
    sidecars = (each for each in summary.spec.init_containers or () if each.restart_policy == "Always")
    containers = (*sidecars, *(summary.spec.containers or ()))
    return PodFacts(
        name=record.name,
        uid=record.uid,
        namespace=record.namespace,
        labels=summary.metadata.labels or {},
        ip=summary.status.pod_ip,
        node=summary.node,
        hostname=summary.spec.hostname or "",
        subdomain=summary.spec.subdomain or "",
        is_ready=summary.ready is not None and summary.ready.status == "True",
        ready_since=summary.ready.last_transition_time if summary.ready is not None else None,
        is_terminating=summary.metadata.deletion_timestamp is not None,
        ports=tuple((p.name or "", p.protocol or "TCP", p.container_port) for c in containers for p in c.ports or ()),
    )


def endpoints_of(service: Service, pods: Iterable[PodFacts], zones: Mapping[str, str]) -> list[ServiceEndpoint]:
    """Return the pods behind a service, sorted by name."""
    return [_endpoint(service, pod, zones) for pod in sorted(pods, key=lambda pod: pod.name)]


def _endpoint(service: Service, pod: PodFacts, zones: Mapping[str, str]) -> ServiceEndpoint:
    is_named = bool(pod.hostname) and pod.subdomain == service.metadata.name
    return ServiceEndpoint(
        pod=pod.name,
        uid=pod.uid,
        namespace=pod.namespace,
        ip=pod.ip,
        node=pod.node,
        zone=zones.get(pod.node),
        hostname=pod.hostname if is_named else None,
        is_ready=bool(service.spec.publish_not_ready_addresses) or (pod.is_ready and not pod.is_terminating),
        is_serving=pod.is_ready,
        is_terminating=pod.is_terminating,
        ports=_ports(service, pod),
    )


def _ports(service: Service, pod: PodFacts) -> tuple[TargetPort, ...]:
    """Return the service's ports with their target ports, without named ports that the pod does not have."""
    found = []
    for port in service.spec.ports:
        number = _target(port, pod)
        if number is not None:
            found.append(TargetPort(port.name or "", number, port.protocol or "TCP", port.app_protocol))
    return tuple(found)


def _target(port: ServicePort, pod: PodFacts) -> int | None:
    target = port.target_port
    if isinstance(target, int) or target is None:
        return target or port.port
    wanted = target, port.protocol or "TCP"
    return next((number for name, protocol, number in pod.ports if (name, protocol) == wanted), None)


def is_headless(service: Service) -> bool:
    """Return whether a service is headless."""
    return service.spec.cluster_ip == "None"
