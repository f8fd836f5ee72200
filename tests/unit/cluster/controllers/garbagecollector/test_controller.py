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
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.cluster._controllers.garbagecollector.controller import UNKNOWN_KIND_RETRY, GarbageCollector
from pyctrl.cluster._controllers.garbagecollector.graph import Graph, GraphNode
from pyctrl.controller import Request, Result
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


async def test_an_owner_waits_only_for_dependents_that_block_it(client: Client) -> None:
    """A dependent without blockOwnerDeletion does not hold back an owner that is deleted in the foreground."""
    a = await client.create(configmap("a"))
    child = configmap("b")
    child.metadata.owner_references = [owner_reference(a)]
    child.metadata.finalizers = ["x.io/f"]
    await client.create(child)
    await client.delete(a, propagation="Foreground")
    await gone(client, "a")
    await wait_for(client, ConfigMap, child.key, lambda found: found.metadata.deletion_timestamp is not None)


async def test_foreground_deletion_deletes_dependents_that_do_not_block_it(client: Client) -> None:
    """While a blocking dependent holds back the owner, the other dependents are deleted already."""
    a = await client.create(configmap("a"))
    held = configmap("held", a)
    held.metadata.finalizers = ["x.io/f"]
    await client.create(held)
    free = configmap("free")
    free.metadata.owner_references = [owner_reference(a)]
    await client.create(free)
    await client.delete(a, propagation="Foreground")
    await gone(client, "free")
    assert (await client.get(ConfigMap, a.key)).metadata.finalizers == ["foregroundDeletion"]


async def test_foreground_deletion_waits_for_the_dependents_of_dependents(client: Client) -> None:
    """A chain that is deleted in the foreground goes from its end."""
    a = await client.create(configmap("a"))
    b = await client.create(configmap("b", a))
    last = configmap("c", b)
    last.metadata.finalizers = ["x.io/f"]
    last = await client.create(last)
    await client.delete(a, propagation="Foreground")
    await wait_for(client, ConfigMap, last.key, lambda found: found.metadata.deletion_timestamp is not None)
    await asyncio.sleep(60)
    assert (await client.get(ConfigMap, b.key)).metadata.finalizers == ["foregroundDeletion"]
    await client.patch(last, MergePatch({"metadata": {"finalizers": None}}))
    await gone(client, "c", "b", "a")


async def test_objects_that_own_each_other_are_deleted_in_the_foreground(client: Client) -> None:
    """A cycle of owners that all wait for their dependents does not block the deletion of any of them."""
    names = ("a", "b", "c")
    made = [await client.create(configmap(name)) for name in names]
    for index, child in enumerate(made):
        owner = owner_reference(made[index - 1], controller=True, block_owner_deletion=True)
        change = {"metadata": {"ownerReferences": [owner.to_wire()]}}
        await client.patch(child, MergePatch(change))
    await client.delete(made[0], propagation="Foreground")
    await gone(client, *names)


async def test_an_orphan_keeps_its_other_owners(client: Client) -> None:
    """Orphan propagation removes the reference to the deleted owner only."""
    a, b = await client.create(configmap("a")), await client.create(configmap("b"))
    child = configmap("child")
    child.metadata.owner_references = [owner_reference(a), owner_reference(b)]
    await client.create(child)
    await client.delete(a, propagation="Orphan")
    await gone(client, "a")
    left = await client.get(ConfigMap, child.key)
    assert [ref.uid for ref in left.metadata.owner_references] == [b.metadata.uid]


async def test_an_owner_of_another_namespace_is_none(client: Client) -> None:
    """An object whose owner lives in another namespace is collected: owners have the namespace of their dependents."""
    elsewhere = await client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="kube-system")))
    child = configmap("child")
    reference = owner_reference(elsewhere)
    child.metadata.owner_references = [reference]
    await client.create(child)
    await gone(client, "child")


async def test_a_new_object_of_an_owners_name_is_another_owner(client: Client) -> None:
    """The dependents of a deleted object do not belong to the next object of its name."""
    a = await client.create(configmap("a"))
    ghost = a.deep_copy()
    ghost.metadata.uid = "33333333-3333-3333-3333-333333333333"
    await client.create(configmap("child", ghost))
    await gone(client, "child")
    assert await client.find(ConfigMap, a.key) is not None


class Collecting:
    """A garbage collector whose graph has only what a test puts into it, as one that lags behind the server."""

    def __init__(self, client: Client) -> None:
        self.graph = Graph()
        self._collector = GarbageCollector(self.graph)
        self._collector.client = CachedClient(Cache(client), client)

    async def process(self, obj: ConfigMap) -> Result | None:
        """Put an object into the graph and process it."""
        self.graph.put(GraphNode.of(ConfigMap.gvk, obj))
        return await self._collector.reconcile(Request("", obj.metadata.uid))


@pytest_asyncio.fixture
async def quiet() -> AsyncIterator[Client]:
    """A client of a new cluster without controllers."""
    async with Cluster(random=Random(1), controllers=False, kubelet=False) as cluster, cluster.client() as client:
        yield client


async def test_an_owner_that_the_graph_lacks_is_looked_up(quiet: Client) -> None:
    """A dependent whose owner was created a moment ago stays, although the graph does not have the owner yet."""
    owner = await quiet.create(configmap("a"))
    child = await quiet.create(configmap("child", owner))

    await Collecting(quiet).process(child)

    assert await quiet.find(ConfigMap, child.key) is not None


async def test_a_dependent_that_has_got_another_owner_stays(quiet: Client) -> None:
    """An owner reference that the graph does not have yet keeps an object whose other owner is gone."""
    gone, owner = await quiet.create(configmap("a")), await quiet.create(configmap("b"))
    stale = await quiet.create(configmap("child", gone))
    references = [owner_reference(gone).to_wire(), owner_reference(owner).to_wire()]
    present = await quiet.patch(stale, MergePatch({"metadata": {"ownerReferences": references}}))
    await quiet.delete(gone)
    collecting = Collecting(quiet)

    await collecting.process(stale)
    assert await quiet.get(ConfigMap, present.key) == present

    await collecting.process(present)
    left = await quiet.get(ConfigMap, present.key)
    assert [ref.uid for ref in left.metadata.owner_references] == [owner.metadata.uid]


async def test_references_that_the_graph_lacks_are_kept(quiet: Client) -> None:
    """The reference to an owner that is gone is removed, and one that the graph does not have yet stays."""
    gone, one, other = [await quiet.create(configmap(name)) for name in ("a", "b", "c")]
    child = configmap("child")
    child.metadata.owner_references = [owner_reference(gone), owner_reference(one)]
    stale = await quiet.create(child)
    references = [*stale.metadata.owner_references, owner_reference(other)]
    await quiet.patch(stale, MergePatch({"metadata": {"ownerReferences": [each.to_wire() for each in references]}}))
    await quiet.delete(gone)

    await Collecting(quiet).process(stale)

    left = await quiet.get(ConfigMap, stale.key)
    assert [ref.uid for ref in left.metadata.owner_references] == [one.metadata.uid, other.metadata.uid]


async def test_what_took_the_name_of_a_dependent_is_left_alone(quiet: Client) -> None:
    """A stale node neither deletes the new object of its name nor changes the owners of that object."""
    owner = await quiet.create(configmap("a"))
    other = await quiet.create(configmap("b"))
    stale = await quiet.create(configmap("child", other))
    await quiet.delete(stale)
    with_two = configmap("child")
    with_two.metadata.owner_references = [owner_reference(owner), owner_reference(other)]
    present = await quiet.create(with_two)
    stale_with_two = stale.deep_copy()
    stale_with_two.metadata.owner_references = [owner_reference(owner), owner_reference(other)]
    collecting = Collecting(quiet)
    await quiet.delete(other)

    await collecting.process(stale_with_two)  # one owner is gone: its reference would be removed
    await collecting.process(stale)  # its only owner is gone: it would be deleted

    assert await quiet.get(ConfigMap, present.key) == present


async def test_a_dependent_that_the_graph_gets_late_is_an_orphan_too(quiet: Client) -> None:
    """An object that reaches the graph after its owner was deleted with orphan propagation loses its reference only."""
    owner = await quiet.create(configmap("a"))
    child = await quiet.create(configmap("child", owner))
    await quiet.delete(owner, propagation="Orphan")
    collecting = Collecting(quiet)

    await collecting.process(await quiet.get(ConfigMap, owner.key))
    collecting.graph.remove(owner.metadata.uid)
    await collecting.process(child)

    assert await quiet.find(ConfigMap, owner.key) is None
    assert (await quiet.get(ConfigMap, child.key)).metadata.owner_references == []


async def test_an_owner_of_a_kind_that_is_not_served_is_looked_up_again(quiet: Client) -> None:
    """While the kind of an owner is unknown its dependents stay, and are processed again later."""
    unknown = Unstructured.new(GroupVersionKind("example.com", "v1", "Thing"), name="t", namespace="default")
    unknown.metadata.uid = "33333333-3333-3333-3333-333333333333"
    child = await quiet.create(configmap("child", unknown))

    assert await Collecting(quiet).process(child) == Result(requeue_after=UNKNOWN_KIND_RETRY)
    assert await quiet.find(ConfigMap, child.key) is not None
