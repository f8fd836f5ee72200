"""Failing nodes in virtual time: their conditions, taints and pods."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Event, Node, Pod
from tests.unit.cluster._nodes import ONE, on, taints, tell
from tests.unit.cluster._pods import conditions, pod, reasons, until, until_phase

P = Key("default", "p")


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with two nodes."""
    async with Cluster(random=Random(1), nodes=2) as cluster, cluster.client() as client:
        yield client


def ready(node: Node) -> tuple[str, str | None]:
    """Return status and reason of a node's condition Ready."""
    return next((each.status, each.reason) for each in node.status.conditions if each.type == "Ready")


async def test_a_silent_node_is_unknown_and_loses_its_pods(client: Client) -> None:
    """After 50 s without a heartbeat a node is Unknown and tainted, its pods are unready and 300 s later evicted."""
    await client.create(on("node-1"))
    await until_phase(client, "p", "Running")
    await tell(client, "lost")
    await asyncio.sleep(45)
    assert ready(await client.get(Node, ONE)) == ("True", "KubeletReady")
    await asyncio.sleep(30)
    lost = await client.get(Node, ONE)
    assert ready(lost) == ("Unknown", "NodeStatusUnknown")
    assert taints(lost) == {("unreachable", "NoSchedule"), ("unreachable", "NoExecute")}
    assert conditions(await client.get(Pod, P))["Ready"][0] == "False"
    await asyncio.sleep(250)
    assert (await client.get(Pod, P)).metadata.deletion_timestamp is None
    await asyncio.sleep(60)
    going = await client.get(Pod, P)
    assert going.metadata.deletion_timestamp is not None
    assert conditions(going)["DisruptionTarget"] == ("True", "DeletionByTaintManager")
    assert {"NodeNotReady", "TaintManagerEviction"} <= set(await reasons(client, "p"))
    await asyncio.sleep(600)
    assert await client.find(Pod, P) is not None, "no kubelet can terminate it"
    await tell(client, None)
    await wait_until_gone(client, Pod, P)


async def test_a_node_that_comes_back_keeps_its_pods(client: Client) -> None:
    """Taints and readiness are restored when a node recovers in time."""
    await client.create(on("node-1"))
    await until_phase(client, "p", "Running")
    await tell(client, "lost")
    await wait_for(client, Node, ONE, lambda node: ready(node)[0] == "Unknown", timeout=90)
    await asyncio.sleep(100)
    await tell(client, None)
    await wait_for(client, Node, ONE, lambda node: not taints(node))
    await until(client, "p", lambda found: conditions(found)["Ready"][0] == "True")
    await asyncio.sleep(600)
    assert (await client.get(Pod, P)).metadata.deletion_timestamp is None


async def test_a_node_says_that_it_is_not_ready(client: Client) -> None:
    """A kubelet that reports NotReady is tainted at once; new pods are scheduled elsewhere."""
    await asyncio.sleep(1)
    await tell(client, "not-ready")
    node = await wait_for(client, Node, ONE, lambda node: bool(node.spec.taints))
    assert ready(node) == ("False", "KubeletNotReady")
    assert taints(node) == {("not-ready", "NoSchedule"), ("not-ready", "NoExecute")}
    await client.create(pod())
    assert (await until_phase(client, "p", "Running")).spec.node_name == "node-2"


async def test_the_kubelet_of_a_node_that_is_not_ready_answers_for_its_pods(client: Client) -> None:
    """The pods of a node that reports NotReady keep the condition Ready that its kubelet set."""
    await client.create(on("node-1"))
    await until_phase(client, "p", "Running")
    await until(client, "p", lambda found: conditions(found)["Ready"][0] == "True")
    await tell(client, "not-ready")
    await wait_for(client, Node, ONE, lambda node: bool(node.spec.taints))
    await asyncio.sleep(60)
    assert conditions(await client.get(Pod, P))["Ready"][0] == "True"
    assert "NodeNotReady" not in await reasons(client, "p")


async def test_a_node_that_never_reported_is_unknown_after_a_minute(client: Client) -> None:
    """A node without a kubelet has 60 s to report; then its conditions have the heartbeat of its creation."""
    await client.create(Node(metadata=ObjectMeta(name="extra")))
    await asyncio.sleep(55)
    assert not (await client.get(Node, Key("", "extra"))).status.conditions
    await client.create(on("extra"))
    ready_now = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    await client.status.patch(Pod, P, MergePatch({"status": {"phase": "Running", "conditions": [ready_now]}}))
    await asyncio.sleep(15)
    extra = await client.get(Node, Key("", "extra"))
    assert ready(extra) == ("Unknown", "NodeStatusNeverUpdated")
    assert {each.last_heartbeat_time for each in extra.status.conditions} == {extra.metadata.creation_timestamp}
    assert conditions(await client.get(Pod, P))["Ready"][0] == "True"


async def test_no_pod_is_evicted_when_all_nodes_are_lost(client: Client) -> None:
    """If all nodes are lost, the network has failed and no pod is evicted."""
    await client.create(on("node-1"))
    await until_phase(client, "p", "Running")
    for name in ("node-1", "node-2"):
        await tell(client, "lost", Key("", name))
    await asyncio.sleep(1000)
    assert taints(await client.get(Node, ONE)) == {("unreachable", "NoSchedule")}
    assert (await client.get(Pod, P)).metadata.deletion_timestamp is None


async def test_a_cordon_is_a_taint(client: Client) -> None:
    """An unschedulable node gets no new pods and keeps its own."""
    await client.create(on("node-1"))
    await until_phase(client, "p", "Running")
    await client.patch(Node, ONE, MergePatch({"spec": {"unschedulable": True}}))
    await wait_for(client, Node, ONE, lambda node: taints(node) == {("unschedulable", "NoSchedule")})
    await client.create(on("node-1", "late"))
    await asyncio.sleep(60)
    assert (await client.get(Pod, Key("default", "late"))).status.phase == "Pending"
    assert (await client.get(Pod, P)).status.phase == "Running"
    await client.patch(Node, ONE, MergePatch({"spec": {"unschedulable": None}}))
    await until_phase(client, "late", "Running")


async def test_events_tell_that_nodes_come_and_go(client: Client) -> None:
    """A node is registered once and removed once, as the Events say, which name the node by its uid."""
    await wait_for(client, Node, ONE, lambda _found: True)
    await client.create(Node(metadata=ObjectMeta(name="extra")))
    await asyncio.sleep(1)
    uid = (await client.get(Node, Key("", "extra"))).metadata.uid
    await client.delete(Node, Key("", "extra"))
    await asyncio.sleep(1)
    found = [each for each in await client.list(Event, namespace="default") if each.involved_object.name == "extra"]
    assert [(each.reason, each.message, each.involved_object.uid) for each in found] == [
        ("RegisteredNode", "Node extra event: Registered Node extra in Controller", uid),
        ("RemovingNode", "Node extra event: Removing Node extra from Controller", uid),
    ]
