"""Successive operator processes write nothing twice and miss nothing."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from examples.podset.podset import PodSet
from pyctrl.api import Key
from pyctrl.client import Client, MergePatch, wait_for_list, wait_until_gone
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Pod
from pyctrl.testing import ClusterUnderTest
from tests.integration._operators import has_nodes, install, podset
from tests.integration._processes import kubeconfig_for, podset_process

pytestmark = [
    pytest.mark.slow("starts processes, which import for a second each"),
    pytest.mark.timeout(120),  # a real garbage collector discovers a new kind within half a minute
]

COLLECTION = 90.0  # seconds; see above


async def written(client: Client, namespace: str, name: str) -> list[object]:
    """Return all that the operator has written of a PodSet, with times, without its controller's writes."""
    key = Key(namespace, name)
    found, made = await client.get(PodSet, key), await client.get(Deployment, key)
    whose = [entry for entry in made.metadata.managed_fields if not entry.get("subresource")]
    return [found, made.metadata.uid, made.metadata.generation, made.spec, whose]


async def test_killed_and_started_again(
    cluster: ClusterUnderTest, client: Client, namespace: str, tmp_path: Path
) -> None:
    """After a kill, the next process does the pending work once, and leaves correct objects alone."""
    await install(client)
    async with kubeconfig_for(cluster, tmp_path) as kubeconfig:
        async with podset_process(kubeconfig) as first:
            for name, size in (("steady", 2), ("resized", 1), ("removed", 1), ("robbed", 2)):
                await client.create(podset(namespace, size, name))
                await has_nodes(client, Key(namespace, name), size)
            assert await first.end(signal.SIGKILL) == -signal.SIGKILL
        steady = await written(client, namespace, "steady")
        resized, robbed = [await client.get(Deployment, Key(namespace, name)) for name in ("resized", "robbed")]

        await client.patch(PodSet, Key(namespace, "resized"), MergePatch({"spec": {"size": 3}}))
        await client.delete(PodSet, Key(namespace, "removed"))
        lost = (await client.get(PodSet, Key(namespace, "robbed"))).status.nodes[0]
        await client.delete(Pod, Key(namespace, lost))
        await client.create(podset(namespace, 1, "new"))

        async with podset_process(kubeconfig) as second:
            await second.has_reconciled(namespace, "steady", "resized", "robbed", "new")
            await has_nodes(client, Key(namespace, "resized"), 3)
            await has_nodes(client, Key(namespace, "new"), 1)
            assert lost not in await has_nodes(client, Key(namespace, "robbed"), 2, without=lost)
            await wait_until_gone(client, Deployment, Key(namespace, "removed"), timeout=COLLECTION)
            assert await second.end(signal.SIGTERM) == 0

    assert await written(client, namespace, "steady") == steady
    now = await client.get(Deployment, Key(namespace, "resized"))
    assert (now.metadata.uid, now.metadata.generation) == (resized.metadata.uid, resized.metadata.generation + 1)
    now = await client.get(Deployment, Key(namespace, "robbed"))
    assert (now.metadata.uid, now.metadata.generation) == (robbed.metadata.uid, robbed.metadata.generation)
    assert (await client.get(Deployment, Key(namespace, "new"))).metadata.generation == 1
    assert await client.find(Deployment, Key(namespace, "removed")) is None


async def test_killed_in_the_middle(cluster: ClusterUnderTest, client: Client, namespace: str, tmp_path: Path) -> None:
    """The next process finishes the work of a killed one, and repeats none of it."""
    await install(client)
    names = [f"p{n}" for n in range(12)]
    async with kubeconfig_for(cluster, tmp_path) as kubeconfig:
        async with podset_process(kubeconfig) as first:
            await first.says("Starting workers")
            for name in names:
                await client.create(podset(namespace, 1, name))
            some = await wait_for_list(client, Deployment, lambda found: len(found) >= 3, namespace=namespace)
            await first.end(signal.SIGKILL)
        made = {obj.key: obj.metadata.uid for obj in some}
        async with podset_process(kubeconfig) as second:
            for name in names:
                await has_nodes(client, Key(namespace, name), 1)
            assert await second.end(signal.SIGTERM) == 0

    found = {obj.key: obj for obj in await client.list(Deployment, namespace=namespace)}
    assert {key.name for key in found} == set(names)
    assert {key: found[key].metadata.uid for key in made} == made
    assert {obj.metadata.generation for obj in found.values()} == {1}


async def test_started_again_without_anything_to_do(
    cluster: ClusterUnderTest, client: Client, namespace: str, tmp_path: Path
) -> None:
    """A restarted process writes nothing when nothing has changed, and still reacts to later changes."""
    await install(client)
    async with kubeconfig_for(cluster, tmp_path) as kubeconfig:
        async with podset_process(kubeconfig) as first:
            await client.create(podset(namespace, 2))
            await has_nodes(client, Key(namespace, "web"), 2)
            assert await first.end(signal.SIGTERM) == 0
        before = await written(client, namespace, "web")
        async with podset_process(kubeconfig) as second:
            await second.has_reconciled(namespace, "web")
            assert await second.end(signal.SIGTERM) == 0
        assert await written(client, namespace, "web") == before

        async with podset_process(kubeconfig) as third:
            key = Key(namespace, "web")
            for size in (4, 0, 1):
                await client.patch(PodSet, key, MergePatch({"spec": {"size": size}}))
                await has_nodes(client, key, size)
            await client.delete(PodSet, key)
            await wait_until_gone(client, Deployment, key, timeout=COLLECTION)
            assert await third.end(signal.SIGTERM) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signals_end_it_in_order(
    cluster: ClusterUnderTest, client: Client, tmp_path: Path, number: signal.Signals
) -> None:
    """A signal stops the operator at once, with exit code 0 and without a traceback."""
    await install(client)
    async with kubeconfig_for(cluster, tmp_path) as kubeconfig, podset_process(kubeconfig) as operator:
        await operator.says("Starting workers")
        started = len(operator.log)
        begun = asyncio.get_running_loop().time()
        assert await operator.end(number) == 0
        assert asyncio.get_running_loop().time() - begun < 5

    stopping = operator.log[started:]
    assert not [line for line in stopping if "Traceback" in line or (" ERROR " in line and "pyctrl.manager" in line)]
