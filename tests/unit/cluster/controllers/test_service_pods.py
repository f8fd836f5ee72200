"""Pods behind a service, their ports and hostnames, in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, wait_for
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Endpoints, Node
from tests.unit.cluster._services import ready, service, slices, web_pod

WEB = Key("default", "web")


ZONED = Node(metadata=ObjectMeta(name="zoned", labels={"topology.kubernetes.io/zone": "z1"}))


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with one node, in a zone."""
    async with Cluster(random=Random(1), nodes=[ZONED]) as cluster, cluster.client() as client:
        yield client


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
