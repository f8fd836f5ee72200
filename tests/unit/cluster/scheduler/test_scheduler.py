"""Where pods go, in virtual time: nodes, what keeps pods off them, and what is said of pods that fit nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from pyctrl.api import Key
from pyctrl.client import Client, MergePatch
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Node, Pod
from tests.unit.cluster._pods import pod, until


def node(
    name: str, *, labels: dict[str, str] | None = None, capacity: dict[str, str] | None = None, **spec: Any
) -> Node:
    """Make a template of a node."""
    status = {"capacity": capacity or {}}
    return Node.from_wire({"metadata": {"name": name, "labels": labels or {}}, "spec": spec, "status": status})


@asynccontextmanager
async def cluster_of(*nodes: Node) -> AsyncIterator[Client]:
    """A client of a cluster with these nodes, which are there."""
    async with Cluster(random=Random(1), nodes=list(nodes)) as cluster, cluster.client() as client:
        await asyncio.sleep(1)
        yield client


async def placed(client: Client, *pods: Pod) -> list[str | None]:
    """Create pods one after the other, and return where they are after a while."""
    for each in pods:
        await client.create(each)
        await asyncio.sleep(1)
    return [(await client.get(Pod, each.key)).spec.node_name for each in pods]


def refusal(found: Pod) -> str:
    """Return what the pod's condition says."""
    return next((each.message or "" for each in found.status.conditions if each.type == "PodScheduled"), "")


async def test_pods_spread_over_nodes() -> None:
    """With nothing else to say, the emptiest node is the best."""
    async with cluster_of(node("a"), node("b")) as client:
        assert sorted(await placed(client, pod("1"), pod("2"), pod("3"), pod("4")), key=str) == ["a", "a", "b", "b"]


async def test_pods_that_are_not_the_schedulers_are_left_alone() -> None:
    """Those with another scheduler, those with gates until these are gone, and those that have a node already."""
    async with cluster_of(node("a"), node("b")) as client:
        mine = pod("mine", nodeName="b")
        others = pod("others", schedulerName="other")
        gated = pod("gated", schedulingGates=[{"name": "x.io/gate"}])
        assert await placed(client, mine, others, gated) == ["b", None, None]
        await client.patch(Pod, gated.key, MergePatch({"spec": {"schedulingGates": []}}))
        await until(client, "gated", lambda found: found.spec.node_name is not None)


async def test_without_nodes_pods_wait() -> None:
    """A cluster of no nodes says so, and a node that comes takes the pods."""
    async with cluster_of() as client:
        assert await placed(client, pod()) == [None]
        assert refusal(await client.get(Pod, Key("default", "p"))) == "no nodes available to schedule pods"
        whole = node("late", capacity={"pods": "1"})
        whole.status.allocatable = whole.status.capacity
        await client.create(whole)
        await until(client, "p", lambda found: found.spec.node_name == "late")
