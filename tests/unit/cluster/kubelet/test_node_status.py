"""Leases and status of simulated nodes, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import Key
from pyctrl.client import Client
from pyctrl.cluster import Cluster
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import Node

ONE = Key("", "node-1")


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with two nodes."""
    async with Cluster(random=Random(1), nodes=2) as cluster, cluster.client() as client:
        yield client


async def test_a_node_renews_its_lease(client: Client) -> None:
    """A healthy node renews its lease every ten seconds, and its Node object is not written."""
    await asyncio.sleep(1)
    key = Key("kube-node-lease", "node-1")
    first = await client.get(Lease, key)
    node = await client.get(Node, ONE)
    await asyncio.sleep(60)
    later = await client.get(Lease, key)
    assert first.spec is not None
    assert later.spec is not None
    assert first.spec.renew_time is not None
    assert later.spec.renew_time is not None
    assert 45 <= (later.spec.renew_time - first.spec.renew_time).total_seconds() <= 65
    assert (await client.get(Node, ONE)).metadata.resource_version == node.metadata.resource_version
