"""The fixtures that pyctrl provides for tests, on any cluster."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, wait_for, wait_for_list, wait_until_gone
from pyctrl.controller import Builder, Reconciler, Request, Result
from pyctrl.errors import NotFound
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.core.v1 import ConfigMap, Container, Namespace, Pod, PodSpec, PodTemplateSpec
from pyctrl.kinds.meta.v1 import LabelSelector
from pyctrl.manager import Manager
from pyctrl.testing import ClusterUnderTest

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded


def _deployment(namespace: str, replicas: int) -> Deployment:
    labels = {"app": "web"}
    pods = PodTemplateSpec(
        metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="web", image="busybox")])
    )
    return Deployment(
        metadata=ObjectMeta(name="web", namespace=namespace),
        spec=DeploymentSpec(replicas=replicas, selector=LabelSelector(match_labels=labels), template=pods),
    )


async def test_namespace_is_ready(client: Client, namespace: str) -> None:
    """The namespace of a test exists, and accepts objects."""
    created = await client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace=namespace), data={"key": "value"}))

    assert (await client.get(Namespace, Key("", namespace))).metadata.name == namespace
    assert created.data == {"key": "value"}


async def test_virtual_time_gives_way(cluster: ClusterUnderTest, client: Client) -> None:
    """A virtual-time test can call any cluster, but runs in real time unless the cluster is embedded."""
    before = asyncio.get_running_loop().time()

    assert len(await client.list(Namespace)) >= 4

    if cluster.is_embedded:
        await asyncio.sleep(3600)
        assert asyncio.get_running_loop().time() - before >= 3600


async def test_pods_run(client: Client, namespace: str, running_pods: None) -> None:
    """With running_pods the pods of a Deployment run, even without nodes."""
    await client.create(_deployment(namespace, 3))

    pods = await wait_for_list(
        client,
        Pod,
        lambda pods: len(pods) == 3 and all(pod.status.phase == "Running" for pod in pods),
        namespace=namespace,
    )
    await client.delete(Deployment, Key(namespace, "web"), propagation="Foreground")
    await wait_until_gone(client, Deployment, Key(namespace, "web"))

    assert len({pod.metadata.name for pod in pods}) == 3
    with pytest.raises(NotFound):
        await client.get(Pod, pods[0].key)


class _Greeter(Reconciler[ConfigMap]):
    async def reconcile(self, request: Request) -> Result | None:
        found = await self.client.find(ConfigMap, request.key)
        if found is not None and "greeting" not in found.data:
            found.data["greeting"] = "hello"
            await self.client.update(found)
        return None


async def test_manager_runs_beside_the_test(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """Controllers run inside `manager.running()`, and have stopped after it."""
    key = Key(namespace, "greeted")

    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(ConfigMap).build(_Greeter())
        async with manager.running():
            await client.create(ConfigMap(metadata=ObjectMeta(name=key.name, namespace=namespace)))
            await wait_for(client, ConfigMap, key, lambda found: "greeting" in found.data)

    await client.create(ConfigMap(metadata=ObjectMeta(name="ignored", namespace=namespace)))
    await asyncio.sleep(1)
    assert (await client.get(ConfigMap, Key(namespace, "ignored"))).data == {}


async def test_manager_that_fails_ends_the_block(cluster: ClusterUnderTest) -> None:
    """A failing runnable ends `manager.running()` at once with the original exception."""

    async def fail() -> None:
        raise RuntimeError("the disk is full")

    async with Manager(cluster.config) as manager:
        manager.add(fail)
        with pytest.raises(RuntimeError, match="the disk is full"):
            async with manager.running():
                await asyncio.Event().wait()
