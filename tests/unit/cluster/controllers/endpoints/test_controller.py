"""Endpoints and EndpointSlices of services as pods are created, changed and deleted, in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, wait_for
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Endpoints, Node, Pod
from tests.unit.cluster._pods import scripted
from tests.unit.cluster._services import ready, service, slices, web_pod

WEB = Key("default", "web")


ZONED = Node(metadata=ObjectMeta(name="zoned", labels={"topology.kubernetes.io/zone": "z1"}))


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with one node, in a zone."""
    async with Cluster(random=Random(1), nodes=[ZONED]) as cluster, cluster.client() as client:
        yield client


async def test_a_service_without_pods_has_an_empty_slice(client: Client) -> None:
    """The empty slice has the service's labels and owner, and later holds its pods."""
    made = await client.create(service())
    (empty,) = await slices(client, lambda found: len(found) == 1)
    assert (empty.endpoints, empty.ports, empty.address_type) == ([], [], "IPv4")
    assert empty.metadata.generate_name == "web-"
    assert empty.metadata.labels == {
        "team": "x",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    assert [owner.uid for owner in empty.metadata.owner_references] == [made.metadata.uid]
    await client.create(web_pod("a"))
    (filled,) = await slices(client, lambda found: ready(found) == {"a": (True, True, False)})
    assert filled.metadata.name == empty.metadata.name
    running = await client.get(Pod, Key("default", "a"))
    (endpoint,) = filled.endpoints
    assert (endpoint.addresses, endpoint.node_name, endpoint.zone) == ([running.status.pod_ip], "zoned", "z1")
    assert [(port.name, port.port, port.protocol) for port in filled.ports] == [("http", 8080, "TCP")]


async def test_endpoints_follow_readiness_and_end(client: Client) -> None:
    """Unready pods do not serve, terminating ones still do, and deleted ones are removed."""
    await client.create(service())
    await client.create(service("all", publishNotReadyAddresses=True))
    await client.create(web_pod("unready", annotations=scripted(ready_seconds="never")))
    await client.create(web_pod("slow", annotations=scripted(stop_seconds="10")))
    await slices(client, lambda found: ready(found) == {"unready": (False, False, False), "slow": (True, True, False)})
    await slices(client, lambda found: ready(found).get("unready") == (True, False, False), "all")
    await client.delete(Pod, Key("default", "slow"))
    await slices(client, lambda found: ready(found).get("slow") == (False, True, True))
    endpoints = await wait_for(client, Endpoints, WEB, lambda found: not any(each.addresses for each in found.subsets))
    assert [len(each.not_ready_addresses) for each in endpoints.subsets] == [1]
    await slices(client, lambda found: set(ready(found)) == {"unready"})


async def test_a_slice_that_is_deleted_comes_back(client: Client) -> None:
    """Deleted slices and Endpoints are created again."""
    await client.create(service())
    await client.create(web_pod("a"))
    (found,) = await slices(client, lambda found: len(ready(found)) == 1)
    await client.delete(found)
    await client.delete(Endpoints, WEB)
    await slices(client, lambda again: len(ready(again)) == 1 and again[0].metadata.uid != found.metadata.uid)
    await wait_for(client, Endpoints, WEB, lambda found: bool(found.subsets))
