"""DaemonSets on simulated nodes, in virtual time.

The expected results were verified against a kube-controller-manager 1.36.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from pyctrl.api import Key, is_deleting
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list
from pyctrl.cluster import Cluster, Kubelet
from pyctrl.kinds.apps.v1 import (
    ControllerRevision,
    DaemonSet,
    DaemonSetUpdateStrategy,
)
from pyctrl.kinds.core.v1 import Node, Pod
from tests.unit.cluster._daemonsets import AGENT, daemon_set, node, rolling
from tests.unit.cluster._workloads import (
    events_of,
    image_of,
    pods_of,
    set_phase,
    template,
    until_pods,
)

NODES = ("a", "b", "c")


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with three nodes, where pods take five seconds until they are ready."""
    nodes = [node(name, disk="ssd" if name != "c" else "hdd") for name in NODES]
    kubelet = Kubelet(ready_seconds=5)
    async with Cluster(random=Random(1), nodes=nodes, kubelet=kubelet) as cluster, cluster.client() as client:
        yield client


async def change(client: Client, **spec: Any) -> None:
    """Patch the set's spec."""
    await client.patch(DaemonSet, AGENT, MergePatch({"spec": spec}))


async def ready(client: Client, number: int) -> DaemonSet:
    """Wait until so many pods are available and of the newest template."""

    def is_done(found: DaemonSet) -> bool:
        status = found.status
        is_seen = status.observed_generation == found.metadata.generation
        return is_seen and status.updated_number_scheduled == status.number_available == number

    return await wait_for(client, DaemonSet, AGENT, is_done, timeout=300)


async def test_each_node_that_fits_gets_a_pod(client: Client) -> None:
    """Each eligible node gets one pod, pinned by affinity and with the tolerations of daemons."""
    await client.create(daemon_set())
    done = await ready(client, 3)
    assert done.status.to_wire() == {
        "currentNumberScheduled": 3,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 3,
        "numberReady": 3,
        "observedGeneration": 1,
        "updatedNumberScheduled": 3,
        "numberAvailable": 3,
    }
    pods = await pods_of(client)
    assert sorted(pod.spec.node_name or "" for pod in pods) == [*NODES]
    assert {t.key for t in pods[0].spec.tolerations if t.effect == "NoSchedule"} == {
        f"node.kubernetes.io/{name}" for name in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
    }
    assert pods[0].metadata.labels["pod-template-generation"] == "1"


async def test_selected_nodes_only_and_those_that_come_to_be(client: Client) -> None:
    """A node that gets the label gets a pod; a node that loses it loses the pod."""
    await client.create(daemon_set(node_selector={"disk": "ssd"}))
    await ready(client, 2)
    await client.patch(Node, Key("", "c"), MergePatch({"metadata": {"labels": {"disk": "ssd"}}}))
    await ready(client, 3)
    await client.patch(Node, Key("", "a"), MergePatch({"metadata": {"labels": {"disk": None}}}))
    await until_pods(client, lambda pods: sorted(pod.spec.node_name or "" for pod in pods) == ["b", "c"])


async def test_taints_keep_pods_away_or_drive_them_out(client: Client) -> None:
    """NoSchedule keeps an existing pod, NoExecute evicts it, and an evicted pod is not created again."""
    await client.create(daemon_set())
    await ready(client, 3)
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    await client.patch(Node, Key("", "a"), MergePatch({"spec": {"taints": [taint]}}))
    await asyncio.sleep(30)
    assert len(await pods_of(client)) == 3
    assert (await client.get(DaemonSet, AGENT)).status.number_misscheduled == 1
    await client.patch(Node, Key("", "a"), MergePatch({"spec": {"taints": [{**taint, "effect": "NoExecute"}]}}))
    await until_pods(client, lambda pods: sorted(pod.spec.node_name or "" for pod in pods) == ["b", "c"])
    await asyncio.sleep(30)
    assert len(await pods_of(client)) == 2


@pytest.mark.parametrize(("unavailable", "least"), [(1, 2), ("50%", 1)])
async def test_an_update_leaves_enough_pods(client: Client, unavailable: int | str, least: int) -> None:
    """A rolling update keeps the minimum of available pods until all pods are updated."""
    await client.create(daemon_set(rolling(unavailable=unavailable)))
    await ready(client, 3)
    await change(client, template=template("other").to_wire())
    fewest = 3

    def look(found: DaemonSet) -> bool:
        nonlocal fewest
        fewest = min(fewest, found.status.number_available or 0)
        is_seen = found.status.observed_generation == 2
        return is_seen and found.status.updated_number_scheduled == found.status.number_available == 3

    await wait_for(client, DaemonSet, AGENT, look, timeout=300)
    assert fewest == least
    assert {image_of(pod) for pod in await pods_of(client)} == {"other"}


async def test_with_surge_the_new_pod_comes_first(client: Client) -> None:
    """With maxSurge, an old pod is deleted only when the new one on its node is available."""
    await client.create(daemon_set(rolling(surge=1, unavailable=0)))
    await ready(client, 3)
    await change(client, template=template("other").to_wire())
    most = Counter[int]()

    def look(pods: list[Pod]) -> bool:
        per_node = Counter(pod.spec.node_name for pod in pods if not is_deleting(pod))
        most[sum(per_node.values())] += 1
        return {image_of(pod) for pod in pods} == {"other"} and len(pods) == 3

    await wait_for_list(client, Pod, look, timeout=300)  # type: ignore[arg-type]
    await ready(client, 3)
    assert max(most) == 4
    assert min(most) == 3


async def test_on_delete_waits_for_the_deletion(client: Client) -> None:
    """With OnDelete no pod is replaced automatically; a deleted pod is recreated from the new template."""
    await client.create(daemon_set(DaemonSetUpdateStrategy(type="OnDelete")))
    await ready(client, 3)
    await change(client, template=template("other").to_wire())
    await asyncio.sleep(60)
    pods = await pods_of(client)
    assert {image_of(pod) for pod in pods} == {"busybox"}
    await client.delete(pods[0])
    await until_pods(client, lambda pods: sum(image_of(pod) == "other" for pod in pods) == 1)


async def test_failed_pods_are_replaced_slower_and_slower() -> None:
    """A failed pod is deleted at once; its failed successors only after a backoff that doubles."""
    async with Cluster(random=Random(1), kubelet=False) as cluster, cluster.client() as client:
        await client.create(node("a"))
        await client.create(daemon_set())
        waits, failed = [], ""
        for _ in range(4):
            (pod,) = await until_pods(client, lambda pods: [p.status.phase for p in pods] == ["Pending"])
            began, failed = asyncio.get_running_loop().time(), pod.metadata.name
            await set_phase(client, pod, "Failed")
            await until_pods(client, lambda pods, name=failed: all(p.metadata.name != name for p in pods))  # type: ignore[misc]
            waits.append(round(asyncio.get_running_loop().time() - began))
        assert waits == [0, 1, 2, 4]
        message = f"Found failed daemon pod default/{failed} on node a, will try to kill it"
        assert f"FailedDaemonPod: {message} x1" in await events_of(client, "agent")


async def test_going_back_finds_the_old_revision_again(client: Client) -> None:
    """An old template reuses its revision with a new number."""
    await client.create(daemon_set())
    await ready(client, 3)
    for image in ("other", "third", "busybox"):
        await change(client, template=template(image).to_wire(), revisionHistoryLimit=2)
        await ready(client, 3)
    assert sorted(found.revision for found in await client.list(ControllerRevision)) == [2, 3, 4]
