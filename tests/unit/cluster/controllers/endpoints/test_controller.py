"""Endpoints and EndpointSlices of services as pods are created, changed and deleted, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from random import Random
from typing import Any

import pytest_asyncio

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Endpoints, Node, Pod, Service
from pyctrl.kinds.discovery.v1 import EndpointSlice
from tests.unit.cluster._pods import pod, scripted, until_phase
from tests.unit.cluster._services import service

WEB = Key("default", "web")


ZONED = Node(metadata=ObjectMeta(name="zoned", labels={"topology.kubernetes.io/zone": "z1"}))


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with one node, in a zone."""
    async with Cluster(random=Random(1), nodes=[ZONED]) as cluster, cluster.client() as client:
        yield client


def web_pod(name: str, port: int = 8080, *, annotations: dict[str, str] | None = None, **spec: Any) -> Pod:
    """Make a pod that the service selects, with its port by name."""
    containers = [{"name": "c", "image": "i", "ports": [{"name": "http", "containerPort": port}]}]
    made = pod(name, annotations=annotations, containers=containers, **spec)
    made.metadata.labels["tier"] = "web"
    return made


async def slices(
    client: Client, are_so: Callable[[Sequence[EndpointSlice]], bool], name: str = "web"
) -> Sequence[EndpointSlice]:
    """Wait for a condition on the slices of a service."""
    return await wait_for_list(client, EndpointSlice, are_so, labels={"kubernetes.io/service-name": name})


def ready(found: Sequence[EndpointSlice]) -> dict[str, tuple[bool | None, bool | None, bool | None]]:
    """Return the conditions of endpoints by the names of their pods."""
    return {
        endpoint.target_ref.name or "": (
            endpoint.conditions.ready,
            endpoint.conditions.serving,
            endpoint.conditions.terminating,
        )
        for each in found
        for endpoint in each.endpoints
        if endpoint.target_ref is not None
    }


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


async def test_ports_differ_between_pods(client: Client) -> None:
    """Pods with different numbers of a named port are in different slices and subsets."""
    ports = [{"name": "http", "port": 80, "targetPort": "http"}, {"name": "fixed", "port": 9, "targetPort": 9090}]
    await client.create(service(ports=ports))
    for name, port in (("a", 8080), ("b", 8080), ("c", 8081)):
        await client.create(web_pod(name, port))
    found = await slices(client, lambda found: len(found) == 2 and len(ready(found)) == 3)
    assert {tuple(port.port for port in each.ports): len(each.endpoints) for each in found} == {
        (8080, 9090): 2,
        (8081, 9090): 1,
    }
    endpoints = await wait_for(client, Endpoints, WEB, lambda found: len(found.subsets) == 3)
    assert {tuple(p.port for p in each.ports): len(each.addresses) for each in endpoints.subsets} == {
        (8080,): 2,
        (8081,): 1,
        (9090,): 3,
    }


async def test_headless_services_name_their_pods(client: Client) -> None:
    """Pods of a headless service keep their hostname if the subdomain is the service; ports are optional."""
    await client.create(service("db", clusterIP="None", ports=[]))
    await client.create(web_pod("a", hostname="db-0", subdomain="db"))
    (found,) = await slices(client, lambda found: len(ready(found)) == 1, "db")
    assert (found.endpoints[0].hostname, found.ports) == ("db-0", [])
    assert found.metadata.labels["service.kubernetes.io/headless"] == ""
    endpoints = await wait_for(client, Endpoints, Key("default", "db"), lambda found: bool(found.subsets))
    assert [(each.addresses[0].hostname, each.ports) for each in endpoints.subsets] == [("db-0", [])]


async def test_services_that_select_nothing_are_left_alone(client: Client) -> None:
    """Services without a selector and external names get no managed endpoints."""
    await client.create(service("manual", selector={}))
    await client.create(service("outside", type="ExternalName", externalName="example.com"))
    await client.create(web_pod("a"))
    await until_phase(client, "a", "Running")
    await asyncio.sleep(60)
    assert {each.metadata.name for each in await client.list(EndpointSlice, namespace="default")} == {"kubernetes"}


async def test_labels_move_pods_between_services(client: Client) -> None:
    """A pod that loses the label is removed; deleting the service deletes its Endpoints and slices."""
    await client.create(service())
    await client.create(web_pod("a"))
    await slices(client, lambda found: len(ready(found)) == 1)
    await client.patch(Pod, Key("default", "a"), MergePatch({"metadata": {"labels": {"tier": "other"}}}))
    (empty,) = await slices(client, lambda found: not ready(found))
    await client.delete(Service, WEB)
    await wait_until_gone(client, EndpointSlice, empty.key)
    await wait_until_gone(client, Endpoints, WEB)


async def test_a_slice_that_is_deleted_comes_back(client: Client) -> None:
    """Deleted slices and Endpoints are created again."""
    await client.create(service())
    await client.create(web_pod("a"))
    (found,) = await slices(client, lambda found: len(ready(found)) == 1)
    await client.delete(found)
    await client.delete(Endpoints, WEB)
    await slices(client, lambda again: len(ready(again)) == 1 and again[0].metadata.uid != found.metadata.uid)
    await wait_for(client, Endpoints, WEB, lambda found: bool(found.subsets))
