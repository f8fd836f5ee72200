"""EndpointSlice mirroring controller: the EndpointSlices of Endpoints that users write for services without a selector.

The rules are those of kube-controller-manager's controller (pkg/controller/endpointslicemirroring).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pyctrl.api import ObjectMeta, is_deleting, set_controller_reference
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._namespace_termination import ignore_outdated
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result, for_object, mapped
from pyctrl.kinds.core.v1 import EndpointAddress, Endpoints, EndpointSubset, Service
from pyctrl.kinds.discovery.v1 import Endpoint, EndpointConditions, EndpointPort, EndpointSlice

__all__ = ["EndpointSliceMirroringReconciler", "add_endpointslice_mirroring", "mirrored_endpoints"]

MANAGED_BY, MANAGER = "endpointslice.kubernetes.io/managed-by", "endpointslicemirroring-controller.k8s.io"
SERVICE_NAME = "kubernetes.io/service-name"
SKIP_MIRROR = "endpointslice.kubernetes.io/skip-mirror"
LEADER = "control-plane.alpha.kubernetes.io/leader"  # Endpoints that an old client uses for leader election
MIRRORED = "mirrored-endpoints"  # the index of EndpointSlices by namespace and name of their Endpoints
#: Annotations of Endpoints that their EndpointSlices do not have.
OMITTED = ("endpoints.kubernetes.io/last-change-trigger-time", "kubectl.kubernetes.io/last-applied-configuration")
MAX_ENDPOINTS_PER_SUBSET = 1000  # kube-controller-manager's --mirroring-max-endpoints-per-subset

_Port: TypeAlias = tuple[str, int, str, str | None]  # name, number, protocol, application protocol


@dataclass(frozen=True, slots=True)
class _SliceKey:
    """The part of an EndpointSlice that cannot change without another slice."""

    address_type: str
    ports: frozenset[_Port]


def add_endpointslice_mirroring(host: ManagedCluster) -> Controller:
    """Run the EndpointSlice mirroring controller in a manager."""
    host.cache.add_index(EndpointSlice, MIRRORED, _mirrored_names)
    recorder = LegacyEventRecorder(host.live_client, "endpoint-slice-mirroring-controller")
    return (
        Builder(host)
        .reconciles(Endpoints)
        .watches(Service, for_object)
        .watches(EndpointSlice, mapped(_endpoints_of))
        .options(name="endpointslice-mirroring", workers=4)
        .build(EndpointSliceMirroringReconciler(recorder))
    )


def _mirrored_names(found: EndpointSlice) -> list[str]:
    labels, namespace = found.metadata.labels, found.metadata.namespace
    return [f"{namespace}/{labels[SERVICE_NAME]}"] if _is_mirrored(found) and labels.get(SERVICE_NAME) else []


def _endpoints_of(found: EndpointSlice) -> list[Request]:
    return [Request(*name.split("/")) for name in _mirrored_names(found)]


def _is_mirrored(found: EndpointSlice) -> bool:
    return found.metadata.labels.get(MANAGED_BY) == MANAGER


class EndpointSliceMirroringReconciler(Reconciler[Endpoints]):
    """Writes the EndpointSlices of Endpoints, one for each set of ports and family of addresses."""

    def __init__(self, recorder: LegacyEventRecorder) -> None:
        self._recorder = recorder

    async def reconcile(self, request: Request) -> Result | None:
        present = await self.client.list(EndpointSlice, index=(MIRRORED, f"{request.namespace}/{request.name}"))
        endpoints = await self.client.find(Endpoints, request.key)
        service = await self.client.find(Service, request.key)
        is_mirrored = endpoints is not None and service is not None and _is_to_mirror(endpoints, service)
        with ignore_outdated():
            if endpoints is None or not is_mirrored:
                await self._delete(present)
            elif not is_deleting(endpoints):
                await self._mirror(endpoints, present)
        return None

    async def _mirror(self, endpoints: Endpoints, present: Iterable[EndpointSlice]) -> None:
        wanted, skipped = mirrored_endpoints(endpoints.subsets)
        if skipped:
            await self._recorder.warning(endpoints, "TooManyAddressesToMirror", _too_many(skipped))
        spare: list[EndpointSlice] = []
        for found in present:
            key = _key_of(found)
            if key not in wanted:
                spare.append(found)
                continue
            changed = _slice(endpoints, key, wanted.pop(key))
            if _differs(changed, found):
                await self._update(changed, found)
        for key, each in wanted.items():
            await self._place(_slice(endpoints, key, each), spare)
        await self._delete(spare)

    async def _place(self, made: EndpointSlice, spare: list[EndpointSlice]) -> None:
        """Create a slice, or update one that would be deleted."""
        reused = next((each for each in spare if each.address_type == made.address_type), None)
        if reused is None:
            await self.client.create(made)
        else:
            spare.remove(reused)
            await self._update(made, reused)

    async def _update(self, changed: EndpointSlice, found: EndpointSlice) -> None:
        changed.metadata.name, changed.metadata.generate_name = found.metadata.name, ""
        changed.metadata.resource_version = found.metadata.resource_version
        await self.client.update(changed)

    async def _delete(self, slices: Iterable[EndpointSlice]) -> None:
        for each in slices:
            await self.client.delete(each)


def _is_to_mirror(endpoints: Endpoints, service: Service) -> bool:
    meta = endpoints.metadata
    is_opted_out = meta.labels.get(SKIP_MIRROR) == "true" or LEADER in meta.annotations
    return not is_opted_out and not service.spec.selector


def mirrored_endpoints(subsets: Iterable[EndpointSubset]) -> tuple[dict[_SliceKey, list[Endpoint]], int]:
    """Return the endpoints of each slice that mirrors the subsets, and how many addresses are too many."""
    found: dict[_SliceKey, list[Endpoint]] = {}
    skipped = 0
    for ports, addresses in _repacked(subsets):
        skipped += max(0, len(addresses) - MAX_ENDPOINTS_PER_SUBSET)
        for address, is_ready in addresses[:MAX_ENDPOINTS_PER_SUBSET]:
            number = ipaddress.ip_address(address.ip)
            found.setdefault(_SliceKey(f"IPv{number.version}", ports), []).append(
                Endpoint(
                    addresses=[str(number)],
                    conditions=EndpointConditions(ready=is_ready),
                    hostname=address.hostname or None,
                    node_name=address.node_name,
                    target_ref=address.target_ref,
                )
            )
    return found, skipped


def _repacked(
    subsets: Iterable[EndpointSubset],
) -> list[tuple[frozenset[_Port], list[tuple[EndpointAddress, bool]]]]:
    """Return the subsets with each set of addresses once, with all of its ports; an unready address stays unready."""
    by_port: dict[_Port | None, dict[tuple[str, str], tuple[EndpointAddress, bool]]] = {}
    for subset in subsets:
        ports: list[_Port | None] = [
            (each.name or "", each.port, each.protocol or "TCP", each.app_protocol) for each in subset.ports
        ]
        addresses = [
            *((each, True) for each in subset.addresses),
            *((each, False) for each in subset.not_ready_addresses),
        ]
        for port in ports or [None]:
            known = by_port.setdefault(port, {})
            for address, is_ready in addresses:
                identity = address.ip, (address.target_ref.uid or "") if address.target_ref else ""
                before = known.get(identity, (address, True))
                known[identity] = before[0], before[1] and is_ready
    groups: dict[frozenset[tuple[tuple[str, str], bool]], list[_Port | None]] = {}
    for port, addresses_of_port in by_port.items():
        identities = frozenset((identity, is_ready) for identity, (_, is_ready) in addresses_of_port.items())
        groups.setdefault(identities, []).append(port)
    return [
        (frozenset(port for port in group if port is not None), list(by_port[group[0]].values()))
        for group in groups.values()
    ]


def _key_of(found: EndpointSlice) -> _SliceKey:
    ports = ((each.name or "", each.port or 0, each.protocol or "TCP", each.app_protocol) for each in found.ports)
    return _SliceKey(found.address_type, frozenset(ports))


def _slice(endpoints: Endpoints, key: _SliceKey, wanted: list[Endpoint]) -> EndpointSlice:
    meta = endpoints.metadata
    made = EndpointSlice(
        metadata=ObjectMeta(
            generate_name=f"{meta.name}-",
            namespace=meta.namespace,
            labels={**meta.labels, SERVICE_NAME: meta.name, MANAGED_BY: MANAGER},
            annotations=_without_omitted(meta.annotations),
        ),
        address_type=key.address_type,
        endpoints=wanted,
        ports=[
            EndpointPort(name=name, port=port, protocol=protocol, app_protocol=application)
            for name, port, protocol, application in sorted(key.ports, key=lambda each: each[:3])
        ],
    )
    set_controller_reference(endpoints, made)
    return made


def _without_omitted(annotations: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in annotations.items() if name not in OMITTED}


def _differs(wanted: EndpointSlice, found: EndpointSlice) -> bool:
    ours, theirs = wanted.metadata, found.metadata
    is_same_owner = [each.uid for each in ours.owner_references] == [each.uid for each in theirs.owner_references]
    is_same_meta = (ours.labels, ours.annotations) == (theirs.labels, theirs.annotations)
    return not (is_same_owner and is_same_meta and wanted.endpoints == found.endpoints)


def _too_many(skipped: int) -> str:
    most = MAX_ENDPOINTS_PER_SUBSET
    return (
        f"A max of {most} addresses can be mirrored to EndpointSlices per Endpoints subset. "
        f"{skipped} addresses were skipped"
    )
