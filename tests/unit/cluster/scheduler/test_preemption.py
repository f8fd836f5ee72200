"""Preemption of the simulated scheduler, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch
from pyctrl.kinds.core.v1 import Event, Lifecycle, LifecycleHandler, Node, Pod, SleepAction
from pyctrl.kinds.policy.v1 import PodDisruptionBudget
from pyctrl.kinds.scheduling.v1 import PriorityClass
from tests.unit.cluster._pods import pod, reasons, until
from tests.unit.cluster._scheduling import cluster_of, node, placed, refusal

PRIORITIES = {"low": -10, "middle": 10, "high": 1000}


def asking(name: str, cpu: str, priority: str, **spec: Any) -> Pod:
    """Return a pod that requests cores and has a priority class."""
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    return pod(name, containers=containers, priorityClassName=priority, **spec)


def slow(name: str, cpu: str) -> Pod:
    """Return a pod of a low priority that takes 20 seconds to stop."""
    made = asking(name, cpu, "low")
    made.spec.containers[0].lifecycle = Lifecycle(pre_stop=LifecycleHandler(sleep=SleepAction(seconds=20)))
    return made


@asynccontextmanager
async def two_cores(*names: str) -> AsyncIterator[Client]:
    """Yield a client of a cluster with priority classes, and nodes of two cores."""
    nodes: list[Node] = [node(each, capacity={"cpu": "2", "pods": "10"}) for each in names]
    async with cluster_of(*nodes) as client:
        for name, value in PRIORITIES.items():
            await client.create(PriorityClass(metadata=ObjectMeta(name=name), value=value))
        yield client


async def pods(client: Client) -> dict[str, str | None]:
    """Return the nodes of the pods that exist."""
    return {each.metadata.name: each.spec.node_name for each in await client.list(Pod)}


async def protect(client: Client, name: str) -> None:
    """Let a disruption budget protect a pod."""
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": name}}}
    budget = {"metadata": {"name": name, "namespace": "default"}, "spec": spec}
    await client.create(PodDisruptionBudget.from_wire(budget))


async def test_a_pod_of_a_higher_priority_takes_the_place_of_another() -> None:
    """The victim is deleted with the reason, the pod is nominated for the node, and runs there once it has room."""
    async with two_cores("a") as client:
        victim = slow("victim", "2")
        assert await placed(client, victim, asking("high", "1", "high")) == ["a", None]

        waiting, leaving = await client.get(Pod, Key("default", "high")), await client.get(Pod, victim.key)
        assert waiting.status.nominated_node_name == "a"
        assert refusal(waiting) == "0/1 nodes are available: 1 Insufficient cpu."
        condition = next(each for each in leaving.status.conditions if each.type == "DisruptionTarget")
        assert (condition.reason, condition.message) == (
            "PreemptionByScheduler",
            "default-scheduler: preempting to accommodate a higher priority pod",
        )
        (event,) = [each for each in await client.list(Event) if each.reason == "Preempted"]
        assert event.involved_object.uid == leaving.metadata.uid
        assert event.message == f"Preempted by pod {waiting.metadata.uid} on node a"
        assert await reasons(client, "high") == ["FailedScheduling"]

        placed_later = await until(client, "high", lambda found: found.spec.node_name is not None)
        assert placed_later.status.nominated_node_name is None
        assert await pods(client) == {"high": "a"}


async def test_a_pod_does_not_preempt_its_equals() -> None:
    """A pod waits if all others have its priority or a higher one, or if its policy is to preempt none."""
    async with two_cores("a") as client:
        patience = PriorityClass(metadata=ObjectMeta(name="patient"), value=1000, preemption_policy="Never")
        await client.create(patience)
        patient = asking("patient", "1", "patient")
        await placed(client, asking("first", "2", "middle"), asking("equal", "1", "middle"), patient)
        failed = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        equal = await client.get(Pod, Key("default", "equal"))
        assert refusal(equal) == f"{failed}0/1 nodes are available: 1 No preemption victims found for incoming pod."
        refused = await client.get(Pod, patient.key)
        assert refusal(refused) == f"{failed}not eligible due to preemptionPolicy=Never."
        assert await pods(client) == {"first": "a", "equal": None, "patient": None}


async def test_pods_that_are_not_in_the_way_are_spared() -> None:
    """Of the pods of a node, only so many are deleted as are necessary: those of the lowest priority."""
    async with two_cores("a") as client:
        await placed(
            client, asking("middle", "1", "middle"), asking("low", "500m", "low"), asking("small", "500m", "low")
        )
        await placed(client, asking("high", "1", "high"))
        await until(client, "high", lambda found: found.spec.node_name is not None)
        assert await pods(client) == {"high": "a", "middle": "a"}


async def test_the_younger_of_two_equal_pods_is_deleted() -> None:
    """Of pods of one priority, the one that started last is the least important."""
    async with two_cores("a") as client:
        young = asking("young", "1", "low", schedulingGates=[{"name": "x.io/gate"}])
        await placed(client, young, asking("old", "1", "low"))
        await client.patch(Pod, young.key, MergePatch({"spec": {"schedulingGates": []}}))
        await until(client, "young", lambda found: found.status.start_time is not None)
        await placed(client, asking("high", "1", "high"))
        await until(client, "high", lambda found: found.spec.node_name is not None)
        assert await pods(client) == {"high": "a", "old": "a"}


async def test_the_node_with_the_least_important_victims_is_chosen() -> None:
    """A node whose victim has a lower priority is preferred to the others."""
    async with two_cores("a", "b") as client:
        await placed(client, asking("middle", "2", "middle"), asking("low", "2", "low"))
        before = await pods(client)
        await placed(client, asking("high", "2", "high"))
        found = await until(client, "high", lambda found: found.spec.node_name is not None)
        assert found.spec.node_name == before["low"]
        assert "middle" in await pods(client)


async def test_disruption_budgets_are_respected_where_possible() -> None:
    """A pod that a budget protects is spared if another node has a victim, even a more important one."""
    async with two_cores("a", "b") as client:
        await protect(client, "low")
        await placed(client, asking("low", "2", "low"), asking("middle", "2", "middle"))
        await placed(client, asking("high", "2", "high"))
        await until(client, "high", lambda found: found.spec.node_name is not None)
        assert sorted(await pods(client)) == ["high", "low"]
        await placed(client, asking("higher", "2", "middle"))
        await until(client, "higher", lambda found: found.spec.node_name is not None)
        assert sorted(await pods(client)) == ["high", "higher"]


async def test_of_the_pods_of_a_node_protected_ones_are_spared_first() -> None:
    """A more important pod is deleted instead of one that a budget protects."""
    async with two_cores("a") as client:
        await protect(client, "low")
        await placed(client, asking("low", "1", "low"), asking("middle", "1", "middle"))
        await placed(client, asking("high", "1", "high"))
        await until(client, "high", lambda found: found.spec.node_name is not None)
        assert await pods(client) == {"high": "a", "low": "a"}


async def test_no_more_pods_are_deleted_while_victims_stop() -> None:
    """A nominated pod waits for its victims, even if another node becomes the better one."""
    async with two_cores("a", "b") as client:
        await placed(client, slow("victim", "2"), asking("middle", "2", "middle"))
        await placed(client, asking("high", "2", "high"))
        await protect(client, "victim")
        await asyncio.sleep(1)
        await client.patch(Node, Key("", "a"), MergePatch({"metadata": {"labels": {"x": "y"}}}))
        await until(client, "high", lambda found: found.spec.node_name is not None)
        assert sorted(await pods(client)) == ["high", "middle"]


async def test_the_room_of_a_nominated_pod_is_kept() -> None:
    """While victims stop, a pod of a lower priority does not get the room, and one of a higher priority does."""
    async with two_cores("a") as client:
        victim = slow("victim", "1")
        rest = asking("rest", "1", "high")
        await placed(client, victim, rest, asking("waiting", "1", "middle"))
        await placed(client, asking("late", "1", "low"))
        await until(client, "waiting", lambda found: found.spec.node_name is not None)
        assert (await pods(client))["late"] is None


async def test_a_pod_of_a_higher_priority_takes_over_the_nomination() -> None:
    """A pod that is nominated loses the node to a pod of a higher priority that needs its room."""
    async with two_cores("a") as client:
        victim = slow("victim", "2")
        await placed(client, victim, asking("middle", "2", "middle"))
        assert (await client.get(Pod, Key("default", "middle"))).status.nominated_node_name == "a"
        await placed(client, asking("high", "2", "high"))
        assert (await client.get(Pod, Key("default", "middle"))).status.nominated_node_name is None
        await until(client, "high", lambda found: found.spec.node_name is not None)
        assert (await pods(client))["middle"] is None


async def test_a_pod_that_another_component_nominates_goes_to_that_node() -> None:
    """The nominated node is preferred if the pod fits there."""
    async with two_cores("a", "b") as client:
        gated = asking("p", "1", "low", schedulingGates=[{"name": "x.io/gate"}])
        await placed(client, gated)
        await client.status.patch(Pod, gated.key, MergePatch({"status": {"nominatedNodeName": "b"}}))
        await client.patch(Pod, gated.key, MergePatch({"spec": {"schedulingGates": []}}))
        assert (await until(client, "p", lambda found: found.spec.node_name is not None)).spec.node_name == "b"


async def test_preemption_does_not_help_on_nodes_with_another_reason() -> None:
    """No pod is deleted where the node itself is the reason, or where the pod is too large."""
    tainted = node("t", taints=[{"key": "k", "effect": "NoSchedule"}])
    async with cluster_of(tainted, node("a", capacity={"cpu": "2"})) as client:
        await client.create(PriorityClass(metadata=ObjectMeta(name="high"), value=1000))
        await placed(client, pod("low"), asking("high", "3", "high"))
        assert refusal(await client.get(Pod, Key("default", "high"))) == (
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). no new claims to "
            "deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
        )
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "none"}}}
        affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        await placed(client, asking("lonely", "1", "high", affinity=affinity))
        message = refusal(await client.get(Pod, Key("default", "lonely")))
        assert message.endswith("2 Preemption is not helpful for scheduling.")
        assert sorted(await pods(client)) == ["high", "lonely", "low"]


async def test_a_waiting_pod_of_a_higher_priority_comes_first() -> None:
    """When room is freed, it goes to the waiting pod of the highest priority, not to the one that waits longest."""
    async with two_cores("a") as client:
        await placed(client, asking("full", "2", "high"), asking("low", "2", "low"), asking("middle", "2", "middle"))
        await client.delete(Pod, Key("default", "full"))
        await until(client, "middle", lambda found: found.spec.node_name is not None)
        assert await pods(client) == {"low": None, "middle": "a"}
