"""Filters of the simulated scheduler, in virtual time."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.api import Key
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._pods import pod, reasons, until_phase
from tests.unit.cluster._scheduling import cluster_of, node, placed, refusal

UNHELPFUL = "Preemption is not helpful for scheduling"


def asking(**requests: str) -> list[dict[str, Any]]:
    """Return containers with resource requests."""
    return [{"name": "c", "image": "i", "resources": {"requests": requests}}]


async def test_resources_run_out_and_come_back() -> None:
    """A pod waits for free resources with a reason, and is scheduled when another one finishes."""
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
    """The number of pods is a resource."""
    async with cluster_of(node("a", capacity={"pods": "1"})) as client:
        assert await placed(client, pod("1"), pod("2")) == ["a", None]
        assert "Too many pods" in refusal(await client.get(Pod, Key("default", "2")))


async def test_every_reason_is_counted() -> None:
    """The message lists each reason with its number of nodes."""
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
    """A taint excludes pods without a matching toleration."""
    async with cluster_of(node("a", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])) as client:
        assert await placed(client, pod(tolerations=[toleration])) == ["a" if fits else None]


async def test_node_affinity() -> None:
    """Required affinity filters nodes, preferred affinity ranks them."""
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
    """Anti-affinity also excludes later pods; affinity admits the first pod of a group."""
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
    """A topology spread constraint limits the skew between zones."""
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
    """Two pods with the same host port are scheduled to different nodes."""
    containers = [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 8080}]}]
    async with cluster_of(node("a")) as client:
        assert await placed(client, pod("1", containers=containers), pod("2", containers=containers)) == ["a", None]
