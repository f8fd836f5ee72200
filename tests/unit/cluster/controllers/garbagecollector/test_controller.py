"""The garbage collector in all propagation modes, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import (
    GroupVersionKind,
    Key,
    ObjectMeta,
    Unstructured,
    owner_reference,
    set_controller_reference,
)
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import (
    ConfigMap,
)


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        yield client


def configmap(name: str, owner: Unstructured | ConfigMap | None = None) -> ConfigMap:
    """Make a ConfigMap, owned or not."""
    made = ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))
    if owner is not None:
        set_controller_reference(owner, made)
    return made


async def gone(client: Client, *names: str) -> None:
    """Wait until ConfigMaps are gone."""
    for name in names:
        await wait_until_gone(client, ConfigMap, Key("default", name))


async def test_background_deletion_collects_in_a_chain(client: Client) -> None:
    """Dependents of a deleted object are deleted, and their dependents."""
    a = await client.create(configmap("a"))
    b = await client.create(configmap("b", a))
    await client.create(configmap("c", b))
    await client.delete(a)
    await gone(client, "a", "b", "c")


async def test_foreground_deletion_ends_with_the_owner(client: Client) -> None:
    """The owner is deleted after the dependents that block it."""
    a = await client.create(configmap("a"))
    held = configmap("b", a)
    held.metadata.finalizers = ["x.io/f"]
    held = await client.create(held)
    await client.delete(a, propagation="Foreground")
    await wait_for(client, ConfigMap, held.key, lambda found: found.metadata.deletion_timestamp is not None)
    await asyncio.sleep(60)
    assert (await client.get(ConfigMap, a.key)).metadata.finalizers == ["foregroundDeletion"]
    await client.patch(held, MergePatch({"metadata": {"finalizers": None}}))
    await gone(client, "b", "a")


async def test_orphans_are_left_behind(client: Client) -> None:
    """Orphan propagation removes the reference and keeps the object."""
    a = await client.create(configmap("a"))
    b = await client.create(configmap("b", a))
    await client.delete(a, propagation="Orphan")
    await gone(client, "a")
    await wait_for(client, ConfigMap, b.key, lambda found: not found.metadata.owner_references)
    await asyncio.sleep(60)
    assert await client.find(ConfigMap, b.key) is not None


async def test_one_owner_left_is_enough(client: Client) -> None:
    """If one of two owners is deleted, only its reference is removed."""
    a, b = await client.create(configmap("a")), await client.create(configmap("b"))
    child = configmap("child")
    child.metadata.owner_references = [owner_reference(a), owner_reference(b)]
    await client.create(child)
    await client.delete(a)
    left = await wait_for(client, ConfigMap, child.key, lambda found: len(found.metadata.owner_references) == 1)
    assert left.metadata.owner_references[0].uid == b.metadata.uid


async def test_an_owner_that_never_was_does_not_keep_anything(client: Client) -> None:
    """A reference to a uid that does not exist counts as a deleted owner."""
    ghost = Unstructured.new(GroupVersionKind("", "v1", "ConfigMap"), name="ghost", namespace="default")
    ghost.metadata.uid = "33333333-3333-3333-3333-333333333333"
    await client.create(configmap("child", ghost))
    await gone(client, "child")
