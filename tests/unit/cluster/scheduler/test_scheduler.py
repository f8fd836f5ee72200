"""Where pods go, in virtual time: nodes, what keeps pods off them, and what is said of pods that fit nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from pyctrl.api import Key
from pyctrl.client import Client, MergePatch
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Node, Pod
from tests.unit.cluster._pods import pod, reasons, until, until_phase

UNHELPFUL = "Preemption is not helpful for scheduling"


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


def asking(**requests: str) -> list[dict[str, Any]]:
    """Return containers that ask for resources."""
    return [{"name": "c", "image": "i", "resources": {"requests": requests}}]


async def placed(client: Client, *pods: Pod) -> list[str | None]:
    """Create pods one after the other, and return where they are after a while."""
    for each in pods:
        await client.create(each)
        await asyncio.sleep(1)
    return [(await client.get(Pod, each.key)).spec.node_name for each in pods]


def refusal(found: Pod) -> str:
    """Return what the pod's condition says."""
    return next((each.message or "" for each in found.status.conditions if each.type == "PodScheduled"), "")


async def test_nodes_are_whole() -> None:
    """Nodes have what controllers look at: capacity, addresses, conditions, labels, a range of pod addresses."""
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


async def test_pods_spread_over_nodes() -> None:
    """With nothing else to say, the emptiest node is the best."""
    async with cluster_of(node("a"), node("b")) as client:
        assert sorted(await placed(client, pod("1"), pod("2"), pod("3"), pod("4")), key=str) == ["a", "a", "b", "b"]


async def test_resources_run_out_and_come_back() -> None:
    """A pod that asks for more than is left waits and says so, and is placed when another one ends."""
    async with cluster_of(node("a", capacity={"cpu": "2"})) as client:
        first, second = pod("first", containers=asking(cpu="1500m")), pod("second", containers=asking(cpu="1"))
        assert await placed(client, first, second) == ["a", None]
        waiting = await client.get(Pod, second.key)
        assert refusal(waiting) == (
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are "
            "available: 1 No preemption victims found for incoming pod."
        )
        assert waiting.status.phase == "Pending"
        assert await reasons(client, "second") == ["FailedScheduling"]
        await client.delete(first)
        await until_phase(client, "second", "Running")


async def test_a_node_holds_so_many_pods() -> None:
    """Pods are a resource, too."""
    async with cluster_of(node("a", capacity={"pods": "1"})) as client:
        assert await placed(client, pod("1"), pod("2")) == ["a", None]
        assert "Too many pods" in refusal(await client.get(Pod, Key("default", "2")))


async def test_every_reason_is_counted() -> None:
    """The message names each reason with the number of nodes that have it."""
    tainted = node("a", taints=[{"key": "k", "effect": "NoSchedule"}])
    async with cluster_of(tainted, node("b"), node("c"), node("d", unschedulable=True)) as client:
        await placed(client, pod(nodeSelector={"disk": "fast"}))
        assert refusal(await client.get(Pod, Key("default", "p"))) == (
            "0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 node(s) "
            "didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/4 nodes are "
            f"available: 4 {UNHELPFUL}."
        )


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [
        ({"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, True),
        ({"key": "k", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "k", "operator": "Equal", "value": "other"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
    ],
)
async def test_taints_are_tolerated(toleration: dict[str, str], fits: bool) -> None:
    """A taint keeps pods away that do not tolerate it."""
    async with cluster_of(node("a", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])) as client:
        assert await placed(client, pod(tolerations=[toleration])) == ["a" if fits else None]


async def test_node_affinity() -> None:
    """What is required decides, what is preferred chooses among the rest."""
    nodes = node("a", labels={"zone": "1"}), node("b", labels={"zone": "2"}), node("c", labels={"zone": "2", "ssd": ""})

    def affinity(required: list[dict[str, Any]], preferred: list[dict[str, Any]]) -> dict[str, Any]:
        terms = {"nodeSelectorTerms": [{"matchExpressions": required}]}
        weighted = [{"weight": 1, "preference": {"matchExpressions": preferred}}]
        return {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": terms,
                "preferredDuringSchedulingIgnoredDuringExecution": weighted,
            }
        }

    in_two = [{"key": "zone", "operator": "In", "values": ["2"]}]
    has_ssd = [{"key": "ssd", "operator": "Exists"}]
    async with cluster_of(*nodes) as client:
        wanted = affinity(in_two, has_ssd)
        assert await placed(client, pod("1", affinity=wanted), pod("2", affinity=wanted)) == ["c", "c"]
        nowhere = affinity([{"key": "zone", "operator": "Gt", "values": ["2"]}], has_ssd)
        assert await placed(client, pod("3", affinity=nowhere)) == [None]


async def test_pods_keep_apart_and_together() -> None:
    """Anti-affinity holds against those who come later, too; affinity lets the first of a group in."""
    terms = [{"labelSelector": {"matchLabels": {"app": "lonely"}}, "topologyKey": "kubernetes.io/hostname"}]
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    with_it = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    async with cluster_of(node("a"), node("b")) as client:
        first, other, third = pod("1", affinity=apart), pod("2", affinity=apart), pod("3", affinity=apart)
        for each in (first, other, third):
            each.metadata.labels["app"] = "lonely"
        spots = await placed(client, first, other, third)
        assert (sorted(spots[:2], key=str), spots[2]) == (["a", "b"], None)
        assert "anti-affinity rules" in refusal(await client.get(Pod, third.key))
        await client.delete(third)
        near = pod("near", affinity=with_it)
        assert (await placed(client, near))[0] in ("a", "b")


async def test_pods_spread_as_they_ask() -> None:
    """A topology spread constraint keeps the difference between zones."""
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "s"}},
    }
    pods = [pod(str(number), topologySpreadConstraints=[spread]) for number in range(4)]
    for each in pods:
        each.metadata.labels["app"] = "s"
    small = {"pods": "1"}
    async with cluster_of(node("a", labels={"zone": "1"}), node("b", labels={"zone": "2"}, capacity=small)) as client:
        spots = await placed(client, *pods)
        assert (spots.count("a"), spots.count("b"), spots.count(None)) == (2, 1, 1)


async def test_host_ports_clash() -> None:
    """Two pods that want the same port of the node are on two nodes."""
    containers = [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 8080}]}]
    async with cluster_of(node("a")) as client:
        assert await placed(client, pod("1", containers=containers), pod("2", containers=containers)) == ["a", None]


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


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        (-1, "a number of nodes or a list of Node objects, got -1"),
        ([node("")], "a Node template needs a name"),
        ([node("a"), node("a")], "different names; more than one is called a"),
    ],
)
async def test_nodes_that_cannot_be_are_refused(nodes: Any, why: str) -> None:
    """A cluster of impossible nodes is refused when it starts, with what was expected."""
    with pytest.raises(ValueError, match=why):
        async with Cluster(nodes=nodes):
            pass
