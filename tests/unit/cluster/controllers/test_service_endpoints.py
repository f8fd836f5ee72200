"""Services and the pods that they select, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Endpoints, Node, Pod, Service
from pyctrl.kinds.discovery.v1 import EndpointSlice
from tests.unit.cluster._pods import until_phase
from tests.unit.cluster._services import ready, service, slices, web_pod

WEB = Key("default", "web")


ZONED = Node(metadata=ObjectMeta(name="zoned", labels={"topology.kubernetes.io/zone": "z1"}))


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with one node, in a zone."""
    async with Cluster(random=Random(1), nodes=[ZONED]) as cluster, cluster.client() as client:
        yield client


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
