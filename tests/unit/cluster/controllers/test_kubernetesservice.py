"""Endpoints of the service `kubernetes`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, wait_for
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Endpoints, Node
from pyctrl.kinds.discovery.v1 import EndpointSlice

ZONED = Node(metadata=ObjectMeta(name="zoned", labels={"topology.kubernetes.io/zone": "z1"}))


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with one node, in a zone."""
    async with Cluster(random=Random(1), nodes=[ZONED]) as cluster, cluster.client() as client:
        yield client


async def test_the_api_server_has_endpoints(client: Client) -> None:
    """The service `kubernetes` has endpoints."""
    found = await wait_for(client, Endpoints, Key("default", "kubernetes"))
    assert [port.port for subset in found.subsets for port in subset.ports] == [6443]
    await wait_for(client, EndpointSlice, Key("default", "kubernetes"))
