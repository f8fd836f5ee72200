"""Garbage collection of owned objects and namespaces, on any cluster."""

from __future__ import annotations

import pytest

from pyctrl.api import Key, ObjectMeta, is_deleting, set_controller_reference, set_owner_reference
from pyctrl.client import Client, MergePatch, Propagation, wait_for, wait_for_list, wait_until_gone
from pyctrl.errors import Forbidden
from pyctrl.kinds.apps.v1 import Deployment, ReplicaSet
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, Pod, ServiceAccount
from tests.integration._objects import config_map, deployment

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded

FINALIZER = "pyctrl.test/hold"
NAMESPACE_PATIENCE = 90.0  # seconds; kube-controller-manager retries a namespace after some 5, then 15


async def family(client: Client, namespace: str, *children: str) -> ConfigMap:
    """Make an owner and the objects that it owns."""
    owner = await client.create(config_map(namespace, "owner"))
    for name in children:
        child = config_map(namespace, name)
        set_controller_reference(owner, child)
        await client.create(child)
    return owner


async def gone(client: Client, namespace: str, *names: str) -> None:
    """Wait until the ConfigMaps are gone."""
    for name in names:
        await wait_until_gone(client, ConfigMap, Key(namespace, name))


async def test_in_the_background(client: Client, namespace: str) -> None:
    """Background deletion removes the owner at once, and then its dependents on all levels."""
    owner = await family(client, namespace, "a", "b")
    grandchild = config_map(namespace, "c")
    set_owner_reference(await client.get(ConfigMap, Key(namespace, "a")), grandchild)
    await client.create(grandchild)

    await client.delete(owner, propagation="Background")

    assert await client.find(ConfigMap, owner.key) is None
    await gone(client, namespace, "a", "b", "c")


async def test_in_the_foreground(client: Client, namespace: str) -> None:
    """Foreground deletion keeps the owner, marked, until its dependents are gone."""
    owner = await family(client, namespace, "a")
    held = Key(namespace, "a")
    await client.patch(ConfigMap, held, MergePatch({"metadata": {"finalizers": [FINALIZER]}}))

    await client.delete(owner, propagation="Foreground")
    await wait_for(client, ConfigMap, held, is_deleting)
    waiting = await client.get(ConfigMap, owner.key)
    await client.patch(ConfigMap, held, MergePatch({"metadata": {"finalizers": None}}))

    assert is_deleting(waiting)
    assert waiting.metadata.finalizers == ["foregroundDeletion"]
    await gone(client, namespace, "owner")
    assert await client.find(ConfigMap, held) is None


async def test_orphans(client: Client, namespace: str) -> None:
    """Orphaned dependents remain without an owner reference."""
    owner = await family(client, namespace, "a", "b")

    await client.delete(owner, propagation="Orphan")

    await gone(client, namespace, "owner")
    for name in ("a", "b"):
        assert (await client.get(ConfigMap, Key(namespace, name))).metadata.owner_references == []


async def test_two_owners(client: Client, namespace: str) -> None:
    """An object with two owners remains while one exists, and loses the reference to the other."""
    first, second = [await client.create(config_map(namespace, name)) for name in ("first", "second")]
    child = config_map(namespace, "child")
    for owner in (first, second):
        set_owner_reference(owner, child)
    made = await client.create(child)

    await client.delete(first)
    left = await wait_for(client, ConfigMap, made.key, lambda found: len(found.metadata.owner_references) == 1)
    await client.delete(second)

    assert left.metadata.owner_references[0].uid == second.metadata.uid
    await gone(client, namespace, "child")


async def test_an_owner_that_never_was(client: Client, namespace: str) -> None:
    """An object is collected if its owner does not exist, or has another uid."""
    owner = await client.create(config_map(namespace, "owner"))
    child = config_map(namespace, "child")
    set_owner_reference(owner, child)
    child.metadata.owner_references[0].uid = "00000000-0000-0000-0000-000000000000"

    await client.create(child)

    await gone(client, namespace, "child")
    assert await client.find(ConfigMap, owner.key) is not None


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
async def test_all_of_a_deployment(client: Client, namespace: str, propagation: Propagation) -> None:
    """Deleting a Deployment deletes its ReplicaSets and their pods."""
    made = await client.create(deployment(namespace, 2))
    await wait_for_list(client, Pod, lambda pods: len(pods) == 2, namespace=namespace)

    await client.delete(made, propagation=propagation)

    for kind in (Deployment, ReplicaSet, Pod):
        await wait_for_list(client, kind, lambda left: not left, namespace=namespace)


async def test_an_orphaned_replicaset_goes_on(client: Client, namespace: str) -> None:
    """A ReplicaSet that its Deployment orphans keeps its pods."""
    made = await client.create(deployment(namespace, 2))
    pods = await wait_for_list(client, Pod, lambda pods: len(pods) == 2, namespace=namespace)

    await client.delete(made, propagation="Orphan")

    await wait_until_gone(client, Deployment, made.key)
    (left,) = await client.list(ReplicaSet, namespace=namespace)
    assert left.metadata.owner_references == []
    assert [pod.key for pod in await client.list(Pod, namespace=namespace)] == [pod.key for pod in pods]


@pytest.mark.slow("kube-controller-manager empties a namespace in some seconds")
@pytest.mark.timeout(120)
async def test_a_namespace_goes_with_all_that_is_in_it(client: Client) -> None:
    """A deleted namespace rejects new objects, is emptied, waits for finalizers, and is gone."""
    made = await client.create(Namespace(metadata=ObjectMeta(generate_name="test-")))
    name = made.metadata.name
    await wait_for(client, ServiceAccount, Key(name, "default"))
    held = config_map(name, "held")
    held.metadata.finalizers = [FINALIZER]
    for obj in (config_map(name, "a"), held):
        await client.create(obj)
    await client.create(deployment(name, 1))
    await wait_for_list(client, Pod, lambda pods: len(pods) == 1, namespace=name)

    await client.delete(made)
    await wait_for_list(
        client,
        ConfigMap,
        lambda left: [obj.metadata.name for obj in left] == ["held"] and is_deleting(left[0]),
        namespace=name,
        timeout=NAMESPACE_PATIENCE,
    )
    going = await client.get(Namespace, made.key)
    with pytest.raises(Forbidden, match="because it is being terminated"):
        await client.create(config_map(name, "late"))
    await client.patch(held, MergePatch({"metadata": {"finalizers": None}}))

    assert going.status is not None
    assert going.status.phase == "Terminating"
    await wait_until_gone(client, Namespace, made.key, timeout=NAMESPACE_PATIENCE)
    for kind in (Deployment, ReplicaSet, Pod, ConfigMap, ServiceAccount):
        assert list(await client.list(kind, namespace=name)) == []
