"""Which pods stand behind a service, at which ports: what Endpoints and EndpointSlices are made of. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pyctrl.cache import Record
from pyctrl.cluster._pod_summary import summarize_pod
from pyctrl.kinds.core.v1 import ObjectReference, Service, ServicePort

__all__ = ["PodFacts", "ServiceEndpoint", "TargetPort", "endpoints_of", "is_headless", "pod_facts"]


class TargetPort(NamedTuple):
    """A port of a service as its pods have it."""

    name: str
    port: int
    protocol: str
    app_protocol: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceEndpoint:
    """One pod behind a service."""

    pod: str
    uid: str
    namespace: str
    ip: str
    node: str
    zone: str | None
    hostname: str | None
    is_ready: bool  # in the eyes of the service, which may publish pods that are not
    is_serving: bool
    is_terminating: bool
    ports: tuple[TargetPort, ...]

    @property
    def reference(self) -> ObjectReference:
        """The pod, as endpoints refer to it."""
        return ObjectReference(kind="Pod", namespace=self.namespace, name=self.pod, uid=self.uid)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodFacts:
    """What services see of a pod that has an address and has not ended."""

    name: str
    uid: str
    namespace: str
    labels: Mapping[str, str]
    ip: str
    node: str
    hostname: str
    subdomain: str
    is_ready: bool
    ready_since: str | None  # as it is written, which sorts by time
    is_terminating: bool
    ports: tuple[tuple[str, str, int], ...]  # names, protocols and numbers


def pod_facts(record: Record | None) -> PodFacts | None:
    """Return what services see of a pod; None for nothing."""
    seen = summarize_pod(record) if record is not None else None
    if record is None or seen is None or not seen.status.pod_ip or seen.is_over:
        return None
    sidecars = (each for each in seen.spec.init_containers or () if each.restart_policy == "Always")
    containers = (*sidecars, *(seen.spec.containers or ()))
    return PodFacts(
        name=record.name,
        uid=record.uid,
        namespace=record.namespace,
        labels=seen.metadata.labels or {},
        ip=seen.status.pod_ip,
        node=seen.node,
        hostname=seen.spec.hostname or "",
        subdomain=seen.spec.subdomain or "",
        is_ready=seen.ready is not None and seen.ready.status == "True",
        ready_since=seen.ready.last_transition_time if seen.ready is not None else None,
        is_terminating=seen.metadata.deletion_timestamp is not None,
        ports=tuple((p.name or "", p.protocol or "TCP", p.container_port) for c in containers for p in c.ports or ()),
    )


def endpoints_of(service: Service, pods: Iterable[PodFacts], zones: Mapping[str, str]) -> list[ServiceEndpoint]:
    """Return the pods behind a service, in the order of their names."""
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
    """Return the service's ports where the pod has them; a port that the pod does not name is left out."""
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
    """Whether a service has no address of its own."""
    return service.spec.cluster_ip == "None"
