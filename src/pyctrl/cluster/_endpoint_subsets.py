"""The subsets of an Endpoints object: addresses that have the same ports, ready and not. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl.cluster._endpoint_pods import Backend, Port, is_headless
from pyctrl.kinds.core.v1 import EndpointAddress, EndpointPort, EndpointSubset, Service

__all__ = ["subsets_of"]

LIMIT = 1000  # addresses in one object; more are left out (maxCapacity of the endpoints controller)


def subsets_of(service: Service, backends: Sequence[Backend]) -> list[EndpointSubset]:
    """Return the subsets: ports that lead to the same addresses are together. Pods that end are not in them."""
    counted = [each for each in backends if not each.is_terminating or service.spec.publish_not_ready_addresses]
    by_port: dict[Port | None, list[Backend]] = {}
    for backend in sorted(counted, key=lambda each: each.ip)[:LIMIT]:
        portless = () if service.spec.ports or not is_headless(service) else (None,)
        for port in (*backend.ports, *portless):
            by_port.setdefault(port, []).append(backend)
    by_addresses: dict[tuple[tuple[str, str, bool], ...], list[Port | None]] = {}
    for port, behind in by_port.items():
        identity = tuple((each.ip, each.uid, each.is_ready) for each in behind)
        by_addresses.setdefault(identity, []).append(port)
    return [_subset(ports, by_port[ports[0]]) for ports in by_addresses.values()]


def _subset(ports: list[Port | None], behind: Sequence[Backend]) -> EndpointSubset:
    return EndpointSubset(
        addresses=[_address(each) for each in behind if each.is_ready],
        not_ready_addresses=[_address(each) for each in behind if not each.is_ready],
        ports=[
            EndpointPort(name=port.name or None, port=port.port, protocol=port.protocol, app_protocol=port.app_protocol)
            for port in ports
            if port is not None
        ],
    )


def _address(backend: Backend) -> EndpointAddress:
    return EndpointAddress(
        ip=backend.ip, hostname=backend.hostname, node_name=backend.node or None, target_ref=backend.reference
    )
