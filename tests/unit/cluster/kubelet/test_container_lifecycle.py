"""Containers on simulated nodes, in virtual time: image pulls, crashes, readiness and restarts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.api import Key
from pyctrl.client import Client, MergePatch, StrategicMergePatch
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._pods import conditions, pod, reasons, scripted, until, until_phase, waits

P = Key("default", "p")


async def test_crashes_are_waited_for_longer_each_time(client: Client) -> None:
    """The first restart is immediate, then the backoff is 10, 20, 40 … 300 seconds."""
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
    """The reason is ErrImagePull, then ImagePullBackOff; the pod starts after the annotation is removed."""
    await client.create(pod(annotations=scripted(pull_error="no such image")))
    failed = await until(client, "p", lambda found: waits(found) == ["ErrImagePull"])
    assert failed.status.phase == "Pending"
    await until(client, "p", lambda found: waits(found) == ["ImagePullBackOff"])
    await client.patch(Pod, P, MergePatch({"metadata": {"annotations": {"pyctrl.dev/pull-error": None}}}))
    await until_phase(client, "p", "Running")
    assert (await reasons(client, "p"))[:4] == ["Scheduled", "Pulling", "Failed", "Failed"]


async def test_a_container_runs_out_of_memory(client: Client) -> None:
    """A container with the scripted reason OOMKilled has exit code 137."""
    await client.create(pod(annotations=scripted(termination_reason="OOMKilled"), restartPolicy="Never"))
    ended = (await until_phase(client, "p", "Failed")).status.container_statuses[0].state.terminated
    assert ended is not None
    assert (ended.reason, ended.exit_code) == ("OOMKilled", 137)


async def test_readiness_is_scripted(client: Client) -> None:
    """A container can run without becoming ready, or become unready later."""
    await client.create(pod("never", annotations=scripted(ready_seconds="never")))
    await client.create(pod(annotations=scripted(unready_after_seconds="10")))
    await until(client, "p", lambda found: conditions(found).get("Ready") == ("True", None))
    await asyncio.sleep(11)
    assert conditions(await client.get(Pod, P))["Ready"] == ("False", "ContainersNotReady")
    never = await client.get(Pod, Key("default", "never"))
    assert (never.status.phase, conditions(never)["Ready"][0]) == ("Running", "False")
    assert "Unhealthy" in await reasons(client, "p")


async def test_another_image_restarts_the_container(client: Client) -> None:
    """A changed image restarts the container, as on a real node."""
    await client.create(pod())
    await until_phase(client, "p", "Running")
    change: dict[str, Any] = {"spec": {"containers": [{"name": "c", "image": "busybox:2"}]}}
    await client.patch(Pod, P, StrategicMergePatch(change))
    changed = await until(client, "p", lambda found: found.status.container_statuses[0].restart_count == 1)
    assert changed.status.container_statuses[0].image == "docker.io/library/busybox:2"


@pytest.mark.parametrize(("operator", "codes", "phase"), [("In", "7,0", "Succeeded"), ("NotIn", "7", "Failed")])
async def test_restart_rules_precede_the_policy(client: Client, operator: str, codes: str, phase: str) -> None:
    """A container that exits with a code of its restart rules is restarted, also if its policy is Never."""
    rules = [{"action": "Restart", "exitCodes": {"operator": operator, "values": [7]}}]
    container = {"name": "c", "image": "i", "restartPolicy": "Never", "restartPolicyRules": rules}
    await client.create(pod(annotations=scripted(exit_code=codes), containers=[container], restartPolicy="Never"))
    found = await until_phase(client, "p", phase)
    assert found.status.container_statuses[0].restart_count == codes.count(",")
