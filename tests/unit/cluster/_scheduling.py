"""Helpers of the tests of the scheduler."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from pyctrl.client import Client
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Node, Pod


def node(
    name: str, *, labels: dict[str, str] | None = None, capacity: dict[str, str] | None = None, **spec: Any
) -> Node:
    """Make a template of a node."""
    status = {"capacity": capacity or {}}
    return Node.from_wire({"metadata": {"name": name, "labels": labels or {}}, "spec": spec, "status": status})


@asynccontextmanager
async def cluster_of(*nodes: Node) -> AsyncIterator[Client]:
    """Yield a client of a cluster with these nodes, once they are registered."""
    async with Cluster(random=Random(1), nodes=list(nodes)) as cluster, cluster.client() as client:
        await asyncio.sleep(1)
        yield client


async def placed(client: Client, *pods: Pod) -> list[str | None]:
    """Create pods one after the other, and return their nodes after a while."""
    for each in pods:
        await client.create(each)
        await asyncio.sleep(1)
    return [(await client.get(Pod, each.key)).spec.node_name for each in pods]


def refusal(found: Pod) -> str:
    """Return the message of the pod's condition PodScheduled."""
    return next((each.message or "" for each in found.status.conditions if each.type == "PodScheduled"), "")
