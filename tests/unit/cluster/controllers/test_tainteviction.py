"""Eviction of pods from tainted nodes, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import Key
from pyctrl.client import Client, MergePatch, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Node, Pod
from tests.unit.cluster._nodes import ONE
from tests.unit.cluster._pods import pod, until_phase

P = Key("default", "p")


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with two nodes."""
    async with Cluster(random=Random(1), nodes=2) as cluster, cluster.client() as client:
        yield client


async def test_a_taint_drives_pods_away(client: Client) -> None:
    """A NoExecute taint evicts pods without a toleration at once, others after tolerationSeconds."""
    tolerating = [{"key": "gone", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 100}]
    await client.create(pod("patient", nodeName="node-1", tolerations=tolerating))
    await client.create(pod(nodeName="node-1"))
    await until_phase(client, "patient", "Running")
    taint = {"spec": {"taints": [{"key": "gone", "effect": "NoExecute"}]}}
    await client.patch(Node, ONE, MergePatch(taint))
    await wait_until_gone(client, Pod, P)
    await asyncio.sleep(80)
    assert await client.find(Pod, Key("default", "patient")) is not None
    await wait_until_gone(client, Pod, Key("default", "patient"))
