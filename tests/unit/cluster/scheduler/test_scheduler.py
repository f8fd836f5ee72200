"""Scheduling in virtual time."""

from __future__ import annotations

from pyctrl.api import Key
from pyctrl.client import MergePatch
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._pods import pod, until
from tests.unit.cluster._scheduling import cluster_of, node, placed, refusal


async def test_pods_spread_over_nodes() -> None:
    """By default, pods go to the node with the fewest pods."""
    async with cluster_of(node("a"), node("b")) as client:
        assert sorted(await placed(client, pod("1"), pod("2"), pod("3"), pod("4")), key=str) == ["a", "a", "b", "b"]


async def test_pods_that_are_not_the_schedulers_are_left_alone() -> None:
    """Pods with another scheduler, with gates, or with a node already are not scheduled."""
    async with cluster_of(node("a"), node("b")) as client:
        mine = pod("mine", nodeName="b")
        others = pod("others", schedulerName="other")
        gated = pod("gated", schedulingGates=[{"name": "x.io/gate"}])
        assert await placed(client, mine, others, gated) == ["b", None, None]
        await client.patch(Pod, gated.key, MergePatch({"spec": {"schedulingGates": []}}))
        await until(client, "gated", lambda found: found.spec.node_name is not None)


async def test_without_nodes_pods_wait() -> None:
    """Without nodes pods wait with a reason, until a node is added."""
    async with cluster_of() as client:
        assert await placed(client, pod()) == [None]
        assert refusal(await client.get(Pod, Key("default", "p"))) == "no nodes available to schedule pods"
        whole = node("late", capacity={"pods": "1"})
        whole.status.allocatable = whole.status.capacity
        await client.create(whole)
        await until(client, "p", lambda found: found.spec.node_name == "late")
