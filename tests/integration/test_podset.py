"""PodSet end to end, on any cluster."""

from __future__ import annotations

import pytest

from examples.podset.podset import PodSet, labels_for
from pyctrl.api import Key, controller_of, is_controlled_by
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list
from pyctrl.kinds.apps.v1 import Deployment, ReplicaSet
from pyctrl.kinds.core.v1 import Pod
from pyctrl.testing import ClusterUnderTest
from tests.integration._operators import has_nodes, install, podset, podset_operator


async def test_a_podset_gets_its_deployment(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """The Deployment has the PodSet's name, size and labels, and the PodSet as controller."""
    await install(client)
    async with podset_operator(cluster, namespace):
        created = await client.create(podset(namespace, 2))
        found = await wait_for(client, Deployment, created.key)
    assert is_controlled_by(found, created)
    assert found.spec.replicas == 2
    assert found.spec.selector.match_labels == {"app": "podSet", "podSet_cr": "web"}
    container = found.spec.template.spec.containers[0]
    assert (container.image, container.command) == ("busybox", ["sleep", "3600"])
    assert [(port.name, port.container_port) for port in container.ports] == [("podset", 1234)]


async def test_the_status_follows_the_pods(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """After scaling up, scaling to zero or losing a pod, the status has the sorted names of the pods."""
    await install(client)
    async with podset_operator(cluster, namespace):
        key = (await client.create(podset(namespace, 3))).key
        names = await has_nodes(client, key, 3)
        assert names == sorted(names)
        await client.patch(PodSet, key, MergePatch({"spec": {"size": 5}}))
        names = await has_nodes(client, key, 5)
        await client.delete(Pod, Key(namespace, names[0]))
        assert names[0] not in await has_nodes(client, key, 5, without=names[0])
        await client.patch(PodSet, key, MergePatch({"spec": {"size": 0}}))
        assert await has_nodes(client, key, 0) == []


@pytest.mark.slow("a real garbage collector looks for new kinds every 30 seconds")
@pytest.mark.timeout(120)
async def test_what_a_podset_owned_goes_with_it(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """Deleting the PodSet deletes its Deployment, ReplicaSet and pods."""
    await install(client)
    async with podset_operator(cluster, namespace):
        key = (await client.create(podset(namespace, 2))).key
        await has_nodes(client, key, 2)
        await client.delete(PodSet, key)
        for kind in (Deployment, ReplicaSet, Pod):
            await wait_for_list(client, kind, lambda left: not left, namespace=namespace, timeout=90)


async def test_a_deployment_that_somebody_scaled_is_scaled_back(
    cluster: ClusterUnderTest, client: Client, namespace: str
) -> None:
    """A changed Deployment is scaled back to the PodSet's size."""
    await install(client)
    async with podset_operator(cluster, namespace):
        key = (await client.create(podset(namespace, 1))).key
        await has_nodes(client, key, 1)
        changed = await client.patch(Deployment, key, MergePatch({"spec": {"replicas": 4}}))
        await wait_for(
            client,
            Deployment,
            key,
            lambda found: (
                found.spec.replicas == 1
                and int(found.metadata.resource_version) > int(changed.metadata.resource_version)
            ),
        )


async def test_two_podsets_keep_to_themselves(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """Each status has only the pods of its own PodSet."""
    await install(client)
    async with podset_operator(cluster, namespace):
        for name, size in (("a", 1), ("b", 2)):
            await client.create(podset(namespace, size, name))
        names = {name: await has_nodes(client, Key(namespace, name), size) for name, size in (("a", 1), ("b", 2))}
        pods = await client.list(Pod, namespace=namespace, labels=labels_for("b"))
    assert sorted(pod.metadata.name for pod in pods) == names["b"]
    assert not set(names["a"]) & set(names["b"])
    assert all(ref is not None and ref.kind == "ReplicaSet" for ref in map(controller_of, pods))
