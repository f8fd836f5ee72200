"""Deleting through the client, on any cluster; test_collecting.py covers garbage collection."""

from __future__ import annotations

import pytest

from pyctrl.api import Key, Metadata, ObjectMeta, is_deleting
from pyctrl.client import Client, MergePatch, Preconditions, wait_until_gone
from pyctrl.errors import Conflict, Invalid, NotFound
from pyctrl.kinds.core.v1 import ConfigMap, Pod, Secret
from tests.integration._objects import CONFIG_MAP, config_map, pod

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded

FINALIZER = "pyctrl.test/hold"


async def test_delete(client: Client, namespace: str) -> None:
    """Objects are deleted by instance, by kind and key, untyped or by metadata; a second delete is NotFound."""
    made = [await client.create(config_map(namespace, name)) for name in ("a", "b", "c", "d")]

    await client.delete(made[0])
    await client.delete(ConfigMap, made[1].key)
    await client.delete(await client.get(CONFIG_MAP, made[2].key))
    await client.delete(await client.get(Metadata[ConfigMap], made[3].key))

    for obj in made:
        assert await client.find(ConfigMap, obj.key) is None
        with pytest.raises(NotFound):
            await client.delete(obj)


async def test_preconditions(client: Client, namespace: str) -> None:
    """A delete with a wrong uid or an outdated version is a Conflict, and the object remains."""
    made = await client.create(config_map(namespace, k="1"))
    changed = await client.patch(made, MergePatch({"data": {"k": "2"}}))

    for refused in (
        Preconditions(uid="00000000-0000-0000-0000-000000000000"),
        Preconditions(resource_version=made.metadata.resource_version),
    ):
        with pytest.raises(Conflict):
            await client.delete(made, preconditions=refused)
    assert await client.get(ConfigMap, made.key) == changed
    exact = Preconditions(uid=made.metadata.uid, resource_version=changed.metadata.resource_version)
    await client.delete(made, preconditions=exact)
    assert await client.find(ConfigMap, made.key) is None


async def test_finalizers_hold_an_object(client: Client, namespace: str) -> None:
    """A delete only marks an object with finalizers, refuses new ones, and ends when the last is removed."""
    held = config_map(namespace)
    held.metadata.finalizers = [FINALIZER]
    made = await client.create(held)

    await client.delete(made)
    marked = await client.get(ConfigMap, made.key)
    await client.delete(made)  # a second delete is no error

    assert is_deleting(marked)
    with pytest.raises(Invalid, match="no new finalizers can be added"):
        await client.patch(made, MergePatch({"metadata": {"finalizers": [FINALIZER, "pyctrl.test/another"]}}))
    await client.patch(made, MergePatch({"metadata": {"finalizers": None}}))
    assert await client.find(ConfigMap, made.key) is None


async def test_a_pod_is_given_time(client: Client, namespace: str) -> None:
    """A pod on a node ends within its grace period, or at once if that is 0."""
    made = await client.create(pod(namespace))

    await client.delete(made, grace_period_seconds=0)

    await wait_until_gone(client, Pod, made.key)


async def test_the_grace_that_was_asked_for(client: Client, namespace: str) -> None:
    """The grace period of the delete replaces that of the pod, and sets the deletion time."""
    wanted = pod(namespace)
    wanted.spec.node_name = "no-such-node"  # no kubelet, simulated or real, ends the pod
    wanted.metadata.finalizers = [FINALIZER]  # nor does pod garbage collection, which follows deleted nodes
    made = await client.create(wanted)

    await client.delete(made, grace_period_seconds=7)

    marked = await client.get(Pod, made.key)
    assert is_deleting(marked)
    assert marked.metadata.deletion_grace_period_seconds == 7
    await client.patch(Pod, made.key, MergePatch({"metadata": {"finalizers": None}}))
    await client.delete(made, grace_period_seconds=0)
    await wait_until_gone(client, Pod, made.key)


async def test_delete_all_of(client: Client, namespace: str) -> None:
    """All matching objects of a namespace are deleted, and none of other namespaces."""
    for name, tier in (("a", "web"), ("b", "web"), ("c", "db"), ("d", "db")):
        await client.create(Secret(metadata=ObjectMeta(name=name, namespace=namespace, labels={"tier": tier})))

    async def left() -> list[str]:
        return [obj.metadata.name for obj in await client.list(Secret, namespace=namespace)]

    await client.delete_all_of(Secret, namespace=namespace, labels={"tier": "web"}, dry_run=True)
    assert await left() == ["a", "b", "c", "d"]
    await client.delete_all_of(Secret, namespace=namespace, labels={"tier": "web"})
    assert await left() == ["c", "d"]
    await client.delete_all_of(Secret, namespace=namespace, fields="metadata.name=c")
    assert await left() == ["d"]
    await client.delete_all_of(Secret, namespace=namespace)
    assert await left() == []


async def test_delete_all_of_everything(client: Client) -> None:
    """Deleting a namespaced kind in all namespaces at once is rejected before any request."""
    with pytest.raises(ValueError, match="pass its namespace"):
        await client.delete_all_of(Secret)
    with pytest.raises(ValueError, match="must have a name"):
        await client.delete(Secret, Key("default", ""))
