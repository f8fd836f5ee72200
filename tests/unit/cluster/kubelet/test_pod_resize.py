"""Resizes of pods in place on simulated nodes."""

from __future__ import annotations

import asyncio
from typing import Any

from pyctrl.api import Key
from pyctrl.client import Client, MergePatch, StrategicMergePatch
from pyctrl.kinds.core.v1 import Event, Pod
from tests.unit.cluster._pods import pod, scripted, until, until_phase

P = Key("default", "p")


async def running(client: Client, name: str = "p", cpu: str = "1", **script: str) -> None:
    """Run a pod whose container restarts for other memory."""
    resources = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    policy = [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]
    container = {"name": "c", "image": "i", "resources": resources, "resizePolicy": policy}
    await client.create(pod(name, annotations=scripted(**script), containers=[container]))
    await until_phase(client, name, "Running")


async def resize(client: Client, **requests: str) -> None:
    patch = StrategicMergePatch({"spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]}})
    await client.subresource("resize").patch(Pod, P, patch, answer=Pod)


async def state(client: Client) -> tuple[Any, ...]:
    """Return what the status shows: CPU in use and allocated, restarts, and the conditions of resizes."""
    status = (await client.get(Pod, P)).status
    (found,) = status.container_statuses
    assert found.resources is not None
    conditions = [(each.type, each.reason) for each in status.conditions if "Resize" in each.type]
    return str(found.resources.requests["cpu"]), str(found.allocated_resources["cpu"]), found.restart_count, conditions


async def messages(client: Client, reason: str) -> list[str | None]:
    return [event.message for event in await client.list(Event) if event.reason == reason]


async def test_a_resize_takes_its_time(client: Client) -> None:
    """The new resources are allocated at once and used at the end; until then the resize is in progress."""
    await running(client, resize_seconds="10")
    assert await state(client) == ("1", "1", 0, [])
    await resize(client, cpu="2")
    await asyncio.sleep(5)
    assert await state(client) == ("1", "2", 0, [("PodResizeInProgress", None)])
    await asyncio.sleep(6)
    assert await state(client) == ("2", "2", 0, [])
    assert (await client.get(Pod, P)).status.observed_generation == 2
    (message,) = await messages(client, "ResizeCompleted")
    resources = '{"requests":{"cpu":"2","memory":"1Gi"}}'
    shown = f'Pod resize completed: {{"containers":[{{"name":"c","resources":{resources}}}],"generation":2}}'
    assert message == shown


async def test_a_resize_policy_restarts_the_container(client: Client) -> None:
    """Other memory restarts the container, by its policy; other CPU does not."""
    await running(client)
    await resize(client, memory="2Gi")
    await asyncio.sleep(1)
    assert await state(client) == ("1", "1", 1, [])
    await resize(client, cpu="2")
    await asyncio.sleep(1)
    assert await state(client) == ("2", "2", 1, [])


async def test_a_resize_waits_for_room(client: Client) -> None:
    """A resize for which the node has no room is deferred until another pod has ended."""
    await running(client)
    await running(client, "q", cpu="10")
    await resize(client, cpu="8")
    await asyncio.sleep(1)
    assert await state(client) == ("1", "1", 0, [("PodResizePending", "Deferred")])
    found = await client.get(Pod, P)
    (pending,) = [each for each in found.status.conditions if each.type == "PodResizePending"]
    assert pending.message == "Node didn't have enough resource: cpu, requested: 8000, used: 10000, capacity: 16000"
    assert len(await messages(client, "ResizeDeferred")) == 1
    await client.delete(Pod, Key("default", "q"))
    await asyncio.sleep(200)
    assert await state(client) == ("8", "8", 0, [])


async def test_a_resize_is_taken_back(client: Client) -> None:
    """A pending resize ends when the pod wants what it has."""
    await running(client)
    await running(client, "q", cpu="10")
    await resize(client, cpu="8")
    await asyncio.sleep(1)
    await resize(client, cpu="1")
    await asyncio.sleep(1)
    assert await state(client) == ("1", "1", 0, [])


async def test_a_resize_fails(client: Client) -> None:
    """With a scripted error the resize stays in progress; the next one ends it."""
    await running(client, resize_error="cgroup is busy")
    await resize(client, cpu="2")
    await until(client, "p", lambda found: any(each.reason == "Error" for each in found.status.conditions))
    assert await state(client) == ("1", "2", 0, [("PodResizeInProgress", "Error")])
    await client.patch(Pod, P, MergePatch({"metadata": {"annotations": {"pyctrl.dev/resize-error": None}}}))
    await resize(client, cpu="3")
    await asyncio.sleep(1)
    assert await state(client) == ("3", "3", 0, [])
