"""Mirroring of Endpoints that users write to EndpointSlices, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from pyctrl.api import Key
from pyctrl.client import Client, MergePatch
from pyctrl.cluster import Cluster, ControllerName
from pyctrl.cluster._controllers.endpointslicemirroring import MAX_ENDPOINTS_PER_SUBSET, mirrored_endpoints
from pyctrl.kinds.core.v1 import Endpoints, EndpointSubset, Event, Service
from pyctrl.kinds.discovery.v1 import EndpointSlice

DB = Key("default", "db")
HTTP = {"name": "http", "port": 80, "protocol": "TCP"}


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster without nodes."""
    async with Cluster(random=Random(1), kubelet=False) as cluster, cluster.client() as client:
        yield client


async def _create(client: Client, *subsets: dict[str, Any], **spec: Any) -> Endpoints:
    meta: dict[str, Any] = {"name": DB.name, "namespace": DB.namespace}
    await client.create(Service.from_wire({"metadata": meta, "spec": {"ports": [{"port": 80}], **spec}}))
    annotations = {"team": "x", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
    meta |= {"labels": {"tier": "data"}, "annotations": annotations}
    return await client.create(Endpoints.from_wire({"metadata": meta, "subsets": list(subsets)}))


def _subset(*ips: str, ports: tuple[dict[str, Any], ...] = (HTTP,)) -> dict[str, Any]:
    return {"addresses": [{"ip": ip} for ip in ips], "ports": list(ports)}


async def _slices(
    client: Client, is_so: Callable[[Sequence[EndpointSlice]], bool] = lambda _: True
) -> Sequence[EndpointSlice]:
    """Wait until the mirrored slices are as expected, and return them."""
    async with asyncio.timeout(60):
        while True:
            await asyncio.sleep(1)
            found = await client.list(EndpointSlice, namespace="default", labels={"kubernetes.io/service-name": "db"})
            if is_so(found):
                return found


def _addresses(found: EndpointSlice) -> list[str]:
    return [address for endpoint in found.endpoints for address in endpoint.addresses]


async def test_endpoints_of_a_service_without_a_selector_are_mirrored(client: Client) -> None:
    """The slice has addresses, ports, labels and annotations of the Endpoints, which own it, and follows them."""
    made = await _create(client, {**_subset("10.1.2.3"), "notReadyAddresses": [{"ip": "10.1.2.4"}]})
    (found,) = await _slices(client, lambda found: len(found) == 1)
    assert found.metadata.labels == {
        "tier": "data",
        "kubernetes.io/service-name": "db",
        "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
    }
    assert (found.metadata.annotations, found.metadata.generate_name) == ({"team": "x"}, "db-")
    assert [(each.kind, each.uid) for each in found.metadata.owner_references] == [("Endpoints", made.metadata.uid)]
    assert [(each.name, each.port, each.protocol) for each in found.ports] == [("http", 80, "TCP")]
    assert [(each.addresses, each.conditions.ready) for each in found.endpoints] == [
        (["10.1.2.3"], True),
        (["10.1.2.4"], False),
    ]
    await client.patch(made, MergePatch({"subsets": [_subset("10.9.9.9")]}))
    (changed,) = await _slices(client, lambda found: [_addresses(each) for each in found] == [["10.9.9.9"]])
    assert changed.metadata.name == found.metadata.name
    await client.patch(made, MergePatch({"subsets": [_subset("10.9.9.9", ports=({**HTTP, "port": 81},))]}))
    (reused,) = await _slices(client, lambda found: [each.ports[0].port for each in found] == [81])
    assert reused.metadata.name == found.metadata.name


async def test_a_change_by_another_client_is_reverted(client: Client) -> None:
    """A mirrored slice that a user changes or deletes is written again."""
    await _create(client, _subset("10.1.2.3"))
    (found,) = await _slices(client, lambda found: len(found) == 1)
    await client.patch(found, MergePatch({"metadata": {"labels": {"tier": "web"}}}))
    await _slices(client, lambda found: [each.metadata.labels["tier"] for each in found] == ["data"])
    await client.delete(found)
    (again,) = await _slices(client, lambda now: bool(now) and now[0].metadata.uid != found.metadata.uid)
    assert _addresses(again) == ["10.1.2.3"]


@pytest.mark.parametrize(
    "change",
    [
        lambda client: client.delete(Endpoints, DB),
        lambda client: client.delete(Service, DB),
        lambda client: client.patch(Service, DB, MergePatch({"spec": {"selector": {"app": "db"}}})),
        lambda client: client.patch(
            Endpoints, DB, MergePatch({"metadata": {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}})
        ),
        lambda client: client.patch(
            Endpoints, DB, MergePatch({"metadata": {"annotations": {"control-plane.alpha.kubernetes.io/leader": "{}"}}})
        ),
    ],
    ids=["endpoints deleted", "service deleted", "selector", "label", "leader election"],
)
async def test_a_mirror_ends(client: Client, change: Callable[[Client], Any]) -> None:
    """The slices are deleted with the Endpoints or the service, with a selector, and when mirroring is switched off."""
    await _create(client, _subset("10.1.2.3"))
    await _slices(client, lambda found: len(found) == 1)
    await change(client)
    await _slices(client, lambda found: not any("10.1.2.3" in _addresses(each) for each in found))


async def test_endpoints_of_a_service_with_a_selector_are_not_mirrored() -> None:
    """Endpoints of a service with a selector have no mirror, also if no other controller writes them."""
    controllers: list[ControllerName] = ["endpointslice-mirroring-controller"]
    async with Cluster(controllers=controllers, kubelet=False) as cluster, cluster.client() as client:
        await _create(client, _subset("10.1.2.3"), selector={"app": "db"})
        await asyncio.sleep(10)
        assert list(await _slices(client)) == []


async def test_families_and_ports_have_slices_of_their_own(client: Client) -> None:
    """IPv4 and IPv6 addresses are in different slices, as are addresses with different ports."""
    await _create(client, _subset("10.1.2.3", "fd00::1"), _subset("10.1.2.4", ports=({**HTTP, "port": 81},)))
    found = await _slices(client, lambda found: len(found) == 3)
    assert sorted((each.address_type, each.ports[0].port, _addresses(each)) for each in found) == [
        ("IPv4", 80, ["10.1.2.3"]),
        ("IPv4", 81, ["10.1.2.4"]),
        ("IPv6", 80, ["fd00::1"]),
    ]


async def test_addresses_beyond_the_limit_are_reported(client: Client) -> None:
    """A slice has 1,000 addresses at most, and an Event says how many were skipped."""
    ips = [f"10.1.{number // 250}.{number % 250 + 1}" for number in range(1003)]
    await _create(client, _subset(*ips))
    (found,) = await _slices(client, lambda found: len(found) == 1)
    assert len(found.endpoints) == MAX_ENDPOINTS_PER_SUBSET
    await asyncio.sleep(1)
    assert [each.message for each in await client.list(Event) if each.reason == "TooManyAddressesToMirror"] == [
        "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 3 addresses were skipped"
    ]


def test_an_address_in_several_subsets_is_mirrored_once_with_all_of_its_ports() -> None:
    """Subsets with the same addresses become one; an address that is unready in one of them is unready."""
    https = {"name": "https", "port": 443, "protocol": "TCP"}
    subsets = [
        EndpointSubset.from_wire(_subset("10.1.2.3")),
        EndpointSubset.from_wire(_subset("10.1.2.3", ports=(https,))),
    ]
    ((key, endpoints),) = mirrored_endpoints(subsets)[0].items()
    assert {port[1] for port in key.ports} == {80, 443}
    assert [each.addresses for each in endpoints] == [["10.1.2.3"]]
    subsets.append(EndpointSubset.from_wire({"notReadyAddresses": [{"ip": "10.1.2.3"}], "ports": [HTTP, https]}))
    ((_, (endpoint,)),) = mirrored_endpoints(subsets)[0].items()
    assert endpoint.conditions.ready is False
