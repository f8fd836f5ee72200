"""Node objects of the simulated kubelet."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Node
from tests.unit.cluster._scheduling import node


async def test_nodes_are_whole() -> None:
    """Nodes have capacity, addresses, conditions, labels and a pod CIDR."""
    async with Cluster(nodes=2) as cluster, cluster.client() as client:
        await asyncio.sleep(1)
        first, second = sorted(await client.list(Node), key=lambda each: each.metadata.name)
        assert (first.metadata.name, second.metadata.name) == ("node-1", "node-2")
        assert first.metadata.labels["kubernetes.io/hostname"] == "node-1"
        assert (first.spec.pod_cidr, second.spec.pod_cidr) == ("10.244.0.0/24", "10.244.1.0/24")
        assert str(first.status.allocatable["pods"]) == "110"
        assert {each.type: each.status for each in first.status.conditions} == {
            "MemoryPressure": "False",
            "DiskPressure": "False",
            "PIDPressure": "False",
            "Ready": "True",
        }
        assert first.status.node_info.kubelet_version.startswith("v1.")


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        (-1, "a number of nodes or a list of Node objects, got -1"),
        ([node("")], "a Node template needs a name"),
        ([node("a"), node("a")], "different names; more than one is called a"),
    ],
)
async def test_invalid_nodes_are_refused(nodes: Any, why: str) -> None:
    """Invalid nodes are refused when the cluster starts, with the expected value."""
    with pytest.raises(ValueError, match=why):
        async with Cluster(nodes=nodes):
            pass
