"""Deletion of the pods of deleted nodes, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import Key
from pyctrl.client import Client, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Node, Pod
from tests.unit.cluster._nodes import ONE, on, tell
from tests.unit.cluster._pods import until_phase

P = Key("default", "p")


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with two nodes."""
    async with Cluster(random=Random(1), nodes=2) as cluster, cluster.client() as client:
        yield client


async def test_pods_of_a_node_that_is_gone_are_collected(client: Client) -> None:
    """The pods of a deleted node are deleted after 40 s."""
    await client.create(on("node-1"))
    await until_phase(client, "p", "Running")
    await tell(client, "lost")
    await client.delete(Node, ONE)
    await asyncio.sleep(35)
    assert await client.find(Pod, P) is not None
    await wait_until_gone(client, Pod, P)
    await asyncio.sleep(60)
    assert await client.find(Node, ONE) is None
