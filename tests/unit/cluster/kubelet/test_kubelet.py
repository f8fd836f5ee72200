"""Pods on pretend nodes, in virtual time: how they start, fail, end and go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch, StrategicMergePatch, wait_until_gone
from pyctrl.cluster import Cluster, Kubelet, Script
from pyctrl.cluster._kubelet.scripts import script_of
from pyctrl.kinds.core.v1 import ConfigMap, Container, Event, Pod, PodSpec
from tests.unit.cluster._pods import conditions, pod, reasons, scripted, until, until_phase, waits

P = Key("default", "p")


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with one node."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        yield client


async def test_a_pod_runs_on_the_node(client: Client) -> None:
    """It gets the node, an address of its range, ready containers, all conditions, and the Events of its start."""
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


async def test_starting_takes_the_time_it_is_told_to() -> None:
    """Nothing happens to a pod before start_seconds, then the image takes its time, then readiness."""
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


async def test_init_containers_go_first_one_by_one(client: Client) -> None:
    """An init container ends before the next begins, a sidecar only starts, and the pod is Pending until then."""
    inits = [
        {"name": "first", "image": "i", "command": ["sleep", "5"]},
        {"name": "side", "image": "i", "restartPolicy": "Always"},
        {"name": "last", "image": "i", "command": ["sleep", "5"]},
    ]
    await client.create(pod(initContainers=inits))
    await asyncio.sleep(1)
    early = await client.get(Pod, P)
    assert (early.status.phase, conditions(early)["Initialized"]) == ("Pending", ("False", "ContainersNotInitialized"))
    assert waits(early) == ["PodInitializing"]
    await asyncio.sleep(5)
    middle = await client.get(Pod, P)
    shown = {each.name: each for each in middle.status.init_container_statuses}
    assert shown["first"].state.terminated is not None
    assert shown["side"].state.running is not None
    assert shown["last"].state.running is not None
    await asyncio.sleep(5)
    assert conditions(await client.get(Pod, P))["Ready"] == ("True", None)


async def test_a_failing_init_container_keeps_a_pod_from_running(client: Client) -> None:
    """It is tried again and again; with restartPolicy Never the pod has failed."""
    inits = [{"name": "i", "image": "i", "command": ["false"]}]
    await client.create(pod(initContainers=inits))
    await client.create(pod("never", initContainers=inits, restartPolicy="Never"))
    await until_phase(client, "never", "Failed")
    await asyncio.sleep(25)
    (status,) = (await client.get(Pod, P)).status.init_container_statuses
    assert status.state.waiting is not None
    assert (status.state.waiting.reason, status.restart_count) == ("CrashLoopBackOff", 2)


async def test_crashes_are_waited_for_longer_each_time(client: Client) -> None:
    """The first restart is at once, then after 10, 20, 40 … 300 seconds."""
    await client.create(pod(annotations=scripted(exit_code="3")))
    counts = []
    for _ in range(8):
        await asyncio.sleep(20)
        counts.append((await client.get(Pod, P)).status.container_statuses[0].restart_count)
    assert counts == [2, 3, 3, 4, 4, 4, 4, 5]
    crashed = await client.get(Pod, P)
    (status,) = crashed.status.container_statuses
    assert waits(crashed) == ["CrashLoopBackOff"]
    assert status.state.waiting is not None
    message = f"back-off 2m40s restarting failed container=c pod=p_default({crashed.metadata.uid})"
    assert status.state.waiting.message == message
    assert status.last_state.terminated is not None
    assert (status.last_state.terminated.exit_code, status.last_state.terminated.reason) == (3, "Error")
    assert (crashed.status.phase, conditions(crashed)["Ready"][0]) == ("Running", "False")


async def test_an_image_that_cannot_be_pulled(client: Client) -> None:
    """ErrImagePull, then ImagePullBackOff; once the annotation is gone the pod starts."""
    await client.create(pod(annotations=scripted(pull_error="no such image")))
    failed = await until(client, "p", lambda found: waits(found) == ["ErrImagePull"])
    assert failed.status.phase == "Pending"
    await until(client, "p", lambda found: waits(found) == ["ImagePullBackOff"])
    await client.patch(Pod, P, MergePatch({"metadata": {"annotations": {"pyctrl.dev/pull-error": None}}}))
    await until_phase(client, "p", "Running")
    assert (await reasons(client, "p"))[:4] == ["Scheduled", "Pulling", "Failed", "Failed"]


@pytest.mark.parametrize(
    ("policy", "phase", "code", "restarts"),
    [("Never", "Failed", "1", 0), ("OnFailure", "Succeeded", "1,1,0", 2), ("Never", "Succeeded", "0", 0)],
)
async def test_pods_end(client: Client, policy: str, phase: str, code: str, restarts: int) -> None:
    """A pod whose containers have ended for good has Succeeded or Failed, by its restart policy and their codes."""
    await client.create(pod(annotations=scripted(exit_code=code, run_seconds="5"), restartPolicy=policy))
    ended = await until_phase(client, "p", phase)
    assert ended.status.container_statuses[0].restart_count == restarts
    assert conditions(ended)["Ready"] == ("False", "PodCompleted" if phase == "Succeeded" else "PodFailed")


async def test_a_container_runs_out_of_memory(client: Client) -> None:
    """The reason is what the script says, with the code of a killed process."""
    await client.create(pod(annotations=scripted(termination_reason="OOMKilled"), restartPolicy="Never"))
    ended = (await until_phase(client, "p", "Failed")).status.container_statuses[0].state.terminated
    assert ended is not None
    assert (ended.reason, ended.exit_code) == ("OOMKilled", 137)


async def test_readiness_is_scripted(client: Client) -> None:
    """A pod that is never ready runs all the same; another one stops being ready after a while."""
    await client.create(pod("never", annotations=scripted(ready_seconds="never")))
    await client.create(pod(annotations=scripted(unready_after_seconds="10")))
    await until(client, "p", lambda found: conditions(found).get("Ready") == ("True", None))
    await asyncio.sleep(11)
    assert conditions(await client.get(Pod, P))["Ready"] == ("False", "ContainersNotReady")
    never = await client.get(Pod, Key("default", "never"))
    assert (never.status.phase, conditions(never)["Ready"][0]) == ("Running", "False")
    assert "Unhealthy" in await reasons(client, "p")


async def test_readiness_gates_are_waited_for(client: Client) -> None:
    """A pod with a gate is ready when somebody has set the gate's condition, which the kubelet leaves alone."""
    await client.create(pod(readinessGates=[{"conditionType": "x.io/gate"}]))
    gated = await until_phase(client, "p", "Running")
    assert conditions(gated)["Ready"] == ("False", "ReadinessGatesNotReady")
    gate = {"status": {"conditions": [{"type": "x.io/gate", "status": "True"}]}}
    await client.status.patch(Pod, P, StrategicMergePatch(gate))
    ready = await until(client, "p", lambda found: conditions(found)["Ready"][0] == "True")
    assert conditions(ready)["x.io/gate"] == ("True", None)


async def test_an_evicted_pod(client: Client) -> None:
    """It has failed for a reason, and says that the node has ended it."""
    await client.create(pod(annotations=scripted(evict_after_seconds="5")))
    evicted = await until_phase(client, "p", "Failed")
    assert evicted.status.reason == "Evicted"
    assert conditions(evicted)["DisruptionTarget"] == ("True", "TerminationByKubelet")


async def test_an_active_deadline(client: Client) -> None:
    """A pod that is active for longer than it may has failed."""
    await client.create(pod(activeDeadlineSeconds=60))
    await asyncio.sleep(59)
    assert (await client.get(Pod, P)).status.phase == "Running"
    await asyncio.sleep(2)
    failed = await client.get(Pod, P)
    assert (failed.status.phase, failed.status.reason) == ("Failed", "DeadlineExceeded")


@pytest.mark.parametrize(("stop_seconds", "gone_after"), [("0", 0), ("7", 7), ("100", 20)])
async def test_deletion_is_graceful(client: Client, stop_seconds: str, gone_after: int) -> None:
    """A deleted pod stays while its containers stop, and no longer than its grace period."""
    await client.create(pod(annotations=scripted(stop_seconds=stop_seconds), terminationGracePeriodSeconds=20))
    await until_phase(client, "p", "Running")
    began = asyncio.get_running_loop().time()
    await client.delete(Pod, P)
    await wait_until_gone(client, Pod, P)
    assert asyncio.get_running_loop().time() - began == pytest.approx(gone_after, abs=0.5)
    assert "Killing" in await reasons(client, "p")


async def test_a_shorter_grace_period_counts(client: Client) -> None:
    """Deleting again with less grace ends the pod earlier."""
    await client.create(pod(annotations=scripted(stop_seconds="forever"), terminationGracePeriodSeconds=3600))
    await until_phase(client, "p", "Running")
    await client.delete(Pod, P)
    await asyncio.sleep(10)
    began = asyncio.get_running_loop().time()
    await client.delete(Pod, P, grace_period_seconds=5)
    await wait_until_gone(client, Pod, P)
    assert asyncio.get_running_loop().time() - began == pytest.approx(5, abs=0.5)


async def test_a_finalizer_holds_a_pod_that_has_ended(client: Client) -> None:
    """Its containers have ended, and it goes when the finalizer does."""
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


async def test_another_image_restarts_the_container(client: Client) -> None:
    """The one field of a container that may change does what it does on a node."""
    await client.create(pod())
    await until_phase(client, "p", "Running")
    change: dict[str, Any] = {"spec": {"containers": [{"name": "c", "image": "busybox:2"}]}}
    await client.patch(Pod, P, StrategicMergePatch(change))
    changed = await until(client, "p", lambda found: found.status.container_statuses[0].restart_count == 1)
    assert changed.status.container_statuses[0].image == "docker.io/library/busybox:2"


async def test_configuration_that_is_missing_is_waited_for(client: Client) -> None:
    """A pod whose ConfigMap is not there does not start, says why, and starts when it is there."""
    env = [{"configMapRef": {"name": "settings"}}]
    await client.create(pod(containers=[{"name": "c", "image": "i", "envFrom": env}]))
    await client.create(pod("mounts", volumes=[{"name": "v", "configMap": {"name": "settings"}}]))
    await until(client, "p", lambda found: waits(found) == ["CreateContainerConfigError"])
    await until(client, "mounts", lambda found: waits(found) == ["ContainerCreating"])
    assert "FailedMount" in await reasons(client, "mounts")
    await client.create(ConfigMap.from_wire({"metadata": {"name": "settings", "namespace": "default"}}))
    await until_phase(client, "p", "Running")
    await until_phase(client, "mounts", "Running")


async def test_a_function_scripts_containers() -> None:
    """Tests in Python can say what containers do without touching the pods; annotations win over them."""

    def script(found: Pod, container: object) -> Script | None:
        return Script(exit_code=1) if found.metadata.labels["app"].startswith("p") else None

    async with Cluster(kubelet=Kubelet(script=script)) as cluster, cluster.client() as client:
        for name, said in (("p", {}), ("other", {}), ("p2", scripted(exit_code="0"))):
            await client.create(pod(name, annotations=said, restartPolicy="Never"))
        await until_phase(client, "p", "Failed")
        await until_phase(client, "other", "Running")
        await until_phase(client, "p2", "Succeeded")


async def test_an_annotation_that_makes_no_sense_is_told(client: Client) -> None:
    """A pod whose script cannot be read runs as if nothing was said, and an Event says what was expected."""
    await client.create(pod(annotations=scripted(exit_code="one")))
    await until_phase(client, "p", "Running")
    await asyncio.sleep(1)
    (event,) = [each for each in await client.list(Event) if each.reason == "InvalidScript"]
    assert event.message == (
        "annotation pyctrl.dev/exit-code is ignored: expected whole numbers, such as 1 or 1,1,0, got 'one'"
    )


async def test_another_kubelet_takes_over() -> None:
    """Pods that run when a kubelet starts go on running, with the restarts and addresses they had."""
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


def test_times_are_not_negative() -> None:
    """A kubelet that should work backwards in time is refused, naming the option."""
    with pytest.raises(ValueError, match="pull_seconds must be a number of seconds, at least 0; got -1"):
        Kubelet(pull_seconds=-1)


def test_a_long_command_is_read_in_linear_time() -> None:
    """A shell command of many spaces, which is no script, does not stop the pretend node."""
    container = Container(name="c", image="i", command=["sh", "-c", " " * 100_000 + "!"])
    long = Pod(metadata=ObjectMeta(name="a"), spec=PodSpec(containers=[container]))
    assert script_of(long, lambda _container: Script(), None).containers["c"] == Script()
