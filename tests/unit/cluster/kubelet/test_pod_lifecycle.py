"""Pods on simulated nodes, in virtual time: order of containers, phases and failures."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.api import Key
from pyctrl.client import Client
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._pods import conditions, pod, scripted, until_phase, waits

P = Key("default", "p")


async def test_init_containers_go_first_one_by_one(client: Client) -> None:
    """Init containers run in sequence, sidecars only start, and the pod is Pending until then."""
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
    """A failing init container is restarted; with restartPolicy Never the pod fails."""
    inits = [{"name": "i", "image": "i", "command": ["false"]}]
    await client.create(pod(initContainers=inits))
    await client.create(pod("never", initContainers=inits, restartPolicy="Never"))
    await until_phase(client, "never", "Failed")
    await asyncio.sleep(25)
    (status,) = (await client.get(Pod, P)).status.init_container_statuses
    assert status.state.waiting is not None
    assert (status.state.waiting.reason, status.restart_count) == ("CrashLoopBackOff", 2)


@pytest.mark.parametrize(
    ("policy", "phase", "code", "restarts"),
    [("Never", "Failed", "1", 0), ("OnFailure", "Succeeded", "1,1,0", 2), ("Never", "Succeeded", "0", 0)],
)
async def test_pods_end(client: Client, policy: str, phase: str, code: str, restarts: int) -> None:
    """A finished pod is Succeeded or Failed, by restart policy and exit codes."""
    await client.create(pod(annotations=scripted(exit_code=code, run_seconds="5"), restartPolicy=policy))
    ended = await until_phase(client, "p", phase)
    assert ended.status.container_statuses[0].restart_count == restarts
    assert conditions(ended)["Ready"] == ("False", "PodCompleted" if phase == "Succeeded" else "PodFailed")


async def test_an_evicted_pod(client: Client) -> None:
    """An evicted pod is Failed with a reason and the condition DisruptionTarget."""
    await client.create(pod(annotations=scripted(evict_after_seconds="5")))
    evicted = await until_phase(client, "p", "Failed")
    assert evicted.status.reason == "Evicted"
    assert conditions(evicted)["DisruptionTarget"] == ("True", "TerminationByKubelet")


async def test_an_active_deadline(client: Client) -> None:
    """A pod fails after activeDeadlineSeconds."""
    await client.create(pod(activeDeadlineSeconds=60))
    await asyncio.sleep(59)
    assert (await client.get(Pod, P)).status.phase == "Running"
    await asyncio.sleep(2)
    failed = await client.get(Pod, P)
    assert (failed.status.phase, failed.status.reason) == ("Failed", "DeadlineExceeded")


async def test_a_container_may_restart_all_containers(client: Client) -> None:
    """After an exit with a code of such a rule, all containers are removed, and start again in their order."""
    rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
    worker = {"name": "worker", "image": "i", "restartPolicy": "Never", "restartPolicyRules": [rule]}
    inits = [
        {"name": "setup", "image": "i", "command": ["sleep", "5"]},
        {"name": "side", "image": "i", "restartPolicy": "Always"},
    ]
    script = {"pyctrl.dev/exit-code.worker": "42,0", "pyctrl.dev/run-seconds.worker": "5"}
    spec: dict[str, Any] = {
        "initContainers": inits,
        "containers": [worker, {"name": "other", "image": "i"}],
        "restartPolicy": "Never",
    }
    await client.create(pod(annotations=script, **spec))
    await asyncio.sleep(6)
    assert conditions(await client.get(Pod, P))["AllContainersRestarting"] == ("False", None)

    await asyncio.sleep(4.5)
    exited = await client.get(Pod, P)
    assert conditions(exited)["AllContainersRestarting"] == ("True", "RestartAllContainersStarted")
    assert {each.name: each.state.terminated is not None for each in exited.status.container_statuses} == {
        "worker": True,
        "other": False,
    }
    await asyncio.sleep(2)
    again = await client.get(Pod, P)
    assert (again.status.phase, conditions(again)["Initialized"]) == ("Running", ("True", None))
    assert conditions(again)["AllContainersRestarting"] == ("False", None)
    shown = {each.name: each for each in (*again.status.init_container_statuses, *again.status.container_statuses)}
    assert {each.restart_count for each in shown.values()} == {1}
    last = [each.last_state.terminated for each in shown.values()]
    assert [(each.reason, each.exit_code) for each in last if each] == [("RestartingAllContainers", 137)] * 4
    assert shown["setup"].state.running is not None
    assert shown["worker"].state.waiting is not None

    await asyncio.sleep(11)
    ended = await client.get(Pod, P)
    worker_status = next(each for each in ended.status.container_statuses if each.name == "worker")
    assert worker_status.state.terminated is not None
    assert (worker_status.state.terminated.exit_code, worker_status.restart_count) == (0, 1)
