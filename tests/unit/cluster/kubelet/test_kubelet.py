"""Pods on simulated nodes, in virtual time: start, deletion and a restart of the kubelet."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from pyctrl.api import Key
from pyctrl.client import Client, MergePatch, wait_until_gone
from pyctrl.cluster import Cluster, Kubelet
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._pods import conditions, pod, reasons, scripted, until_phase, waits

P = Key("default", "p")


async def test_a_pod_runs_on_the_node(client: Client) -> None:
    """A running pod has node, pod IP, ready containers, all conditions, and the events of its start."""
    await client.create(pod())
    running = await until_phase(client, "p", "Running")
    status = running.status
    assert (running.spec.node_name, status.host_ip, status.pod_ip) == ("node-1", "192.168.96.2", "10.244.0.1")
    assert [(each.ready, each.started, each.restart_count) for each in status.container_statuses] == [(True, True, 0)]
    assert status.container_statuses[0].image == "docker.io/library/busybox:1.36"
    assert {status for status, _ in conditions(running).values()} == {"True"}
    assert list(conditions(running)) == [
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ]
    await asyncio.sleep(1)
    assert await reasons(client, "p") == ["Scheduled", "Pulled", "Created", "Started"]


async def test_starting_takes_the_configured_time() -> None:
    """start_seconds, pull_seconds and ready_seconds pass one after the other."""
    kubelet = Kubelet(start_seconds=2, pull_seconds=10, ready_seconds=5)
    async with Cluster(kubelet=kubelet) as cluster, cluster.client() as client:
        await client.create(pod())
        await asyncio.sleep(1.9)
        untouched = await client.get(Pod, P)
        assert (untouched.spec.node_name, untouched.status.conditions) == (None, [])
        await asyncio.sleep(0.2)
        assert waits(await client.get(Pod, P)) == ["ContainerCreating"]
        await asyncio.sleep(10)
        started = await client.get(Pod, P)
        assert (started.status.phase, conditions(started)["Ready"]) == ("Running", ("False", "ContainersNotReady"))
        await asyncio.sleep(5)
        assert conditions(await client.get(Pod, P))["Ready"] == ("True", None)


@pytest.mark.parametrize(("stop_seconds", "gone_after"), [("0", 0), ("7", 7), ("100", 20)])
async def test_deletion_is_graceful(client: Client, stop_seconds: str, gone_after: int) -> None:
    """A deleted pod stays while its containers stop, at most for its grace period."""
    await client.create(pod(annotations=scripted(stop_seconds=stop_seconds), terminationGracePeriodSeconds=20))
    await until_phase(client, "p", "Running")
    began = asyncio.get_running_loop().time()
    await client.delete(Pod, P)
    await wait_until_gone(client, Pod, P)
    assert asyncio.get_running_loop().time() - began == pytest.approx(gone_after, abs=0.5)
    assert "Killing" in await reasons(client, "p")


@pytest.mark.parametrize(("sleep", "gone_after"), [(7, 7), (15, 10)])
async def test_a_hook_that_sleeps_lengthens_the_stop(client: Client, sleep: int, gone_after: int) -> None:
    """A pod with the hook preStop that sleeps stays for that time, at most for its grace period."""
    lifecycle = {"preStop": {"sleep": {"seconds": sleep}}}
    containers = [{"name": "c", "image": "busybox", "lifecycle": lifecycle}]
    await client.create(pod(containers=containers, terminationGracePeriodSeconds=30))
    await until_phase(client, "p", "Running")
    await client.delete(Pod, P, grace_period_seconds=10)
    began = asyncio.get_running_loop().time()
    await wait_until_gone(client, Pod, P)
    assert round(asyncio.get_running_loop().time() - began) == gone_after


async def test_a_shorter_grace_period_counts(client: Client) -> None:
    """A second deletion with a shorter grace period takes effect."""
    await client.create(pod(annotations=scripted(stop_seconds="forever"), terminationGracePeriodSeconds=3600))
    await until_phase(client, "p", "Running")
    await client.delete(Pod, P)
    await asyncio.sleep(10)
    began = asyncio.get_running_loop().time()
    await client.delete(Pod, P, grace_period_seconds=5)
    await wait_until_gone(client, Pod, P)
    assert asyncio.get_running_loop().time() - began == pytest.approx(5, abs=0.5)


async def test_a_finalizer_holds_a_pod_that_has_ended(client: Client) -> None:
    """A finished pod with a finalizer stays until the finalizer is removed."""
    held = pod()
    held.metadata.finalizers = ["x.io/f"]
    await client.create(held)
    await until_phase(client, "p", "Running")
    await client.delete(Pod, P)
    await asyncio.sleep(60)
    ended = await client.get(Pod, P)
    assert ended.status.phase == "Succeeded"
    await client.patch(ended, MergePatch({"metadata": {"finalizers": None}}))
    await wait_until_gone(client, Pod, P)


async def test_another_kubelet_takes_over() -> None:
    """A new kubelet continues running pods with their restart counts and addresses."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        await client.create(pod(annotations=scripted(exit_code="1,0", run_seconds="5"), restartPolicy="OnFailure"))
        await client.create(pod("web"))
        await asyncio.sleep(6)
        before = await client.get(Pod, Key("default", "web"))
        server = cluster.server
    async with Cluster(server=server) as cluster, cluster.client() as client:
        ended = await until_phase(client, "p", "Succeeded")
        assert ended.status.container_statuses[0].restart_count == 1
        assert (await client.get(Pod, before.key)).status == before.status
        await client.create(pod("new"))
        new = await until_phase(client, "new", "Running")
        assert new.status.pod_ip not in (None, before.status.pod_ip)
