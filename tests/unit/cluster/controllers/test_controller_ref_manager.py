"""Adoption and release of pods."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
import pytest_asyncio

from pyctrl.api import LabelSelector, ObjectMeta, OwnerReference, owner_reference
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.cluster import Cluster
from pyctrl.cluster._controllers.controller_ref_manager import ControllerRefManager, index_orphans
from pyctrl.kinds.core.v1 import ConfigMap, Pod
from tests.unit.cluster._replicasets import create_set
from tests.unit.cluster._workloads import (
    until_pods,
)

SELECTOR = LabelSelector.parse("app=web")


async def test_pods_that_fit_no_more_are_released_and_replaced(client: Client) -> None:
    """A pod that no longer matches is released and replaced."""
    await create_set(client, 1)
    (pod,) = await until_pods(client, lambda pods: len(pods) == 1)
    await client.patch(Pod, pod.key, MergePatch({"metadata": {"labels": {"app": "debug"}}}))
    await until_pods(client, lambda pods: len(pods) == 2)
    freed = await wait_for(client, Pod, pod.key, lambda found: not found.metadata.owner_references)
    assert freed.metadata.labels["app"] == "debug"


@dataclass
class Claiming:
    """Claims of ConfigMaps by ConfigMaps, on a server without controllers."""

    live: Client
    cache: Cache

    async def create(self, name: str, *owners: OwnerReference, **metadata: Any) -> ConfigMap:
        """Create a ConfigMap, and wait until the cache has it."""
        meta = ObjectMeta(name=name, namespace="default", owner_references=list(owners), **metadata)
        made = await self.live.create(ConfigMap(metadata=meta))
        await self.cache.informer(ConfigMap).wait_for_version(made.metadata.resource_version)
        return made

    async def claim(self, owner: ConfigMap) -> list[str]:
        """Claim for an owner; return the names that it got."""
        found = await self.manager.claim(owner, SELECTOR)
        return sorted(each.metadata.name for each in found)

    @property
    def manager(self) -> ControllerRefManager[ConfigMap]:
        """The manager of the claims."""
        return ControllerRefManager(CachedClient(self.cache, self.live), ConfigMap)

    async def owners(self, name: str) -> list[tuple[str, bool]]:
        """Return the owners of a ConfigMap, each with whether it controls it."""
        found = await self.live.get(ConfigMap, ConfigMap(metadata=ObjectMeta(name=name, namespace="default")).key)
        return [(ref.name, bool(ref.controller)) for ref in found.metadata.owner_references]


@pytest_asyncio.fixture
async def claiming() -> AsyncIterator[Claiming]:
    """Claims with a running cache."""
    async with Cluster(random=Random(1), controllers=False, kubelet=False) as cluster, cluster.client() as client:
        cache = Cache(client)
        index_orphans(cast(Any, SimpleNamespace(cache=cache)), ConfigMap)
        running = asyncio.create_task(cache.run())
        await cache.wait_for_sync()
        yield Claiming(client, cache)
        running.cancel()
        await asyncio.wait([running])


FITS = {"app": "web"}


async def test_an_orphan_is_adopted_and_keeps_its_other_owners(claiming: Claiming) -> None:
    """Adoption adds a controller beside the owners that do not control the object."""
    owner, other = await claiming.create("owner"), await claiming.create("other")
    await claiming.create("orphan", owner_reference(other), labels=FITS)
    await claiming.create("stranger", labels={"app": "db"})

    assert await claiming.claim(owner) == ["orphan"]
    assert await claiming.owners("orphan") == [("other", False), ("owner", True)]
    assert await claiming.owners("stranger") == []


async def test_what_another_controller_has_is_not_claimed(claiming: Claiming) -> None:
    """A reference that does not control is no claim: two controllers would fight over the object."""
    owner, other = await claiming.create("owner"), await claiming.create("other")
    references = owner_reference(other, controller=True), owner_reference(owner)
    await claiming.create("theirs", *references, labels=FITS)
    await claiming.create("misfit", *references, labels={"app": "db"})

    assert await claiming.claim(owner) == []
    assert await claiming.owners("theirs") == [("other", True), ("owner", False)]
    assert await claiming.owners("misfit") == [("other", True), ("owner", False)]


async def test_an_owner_that_goes_neither_adopts_nor_releases(claiming: Claiming) -> None:
    """The dependents of an owner that is being deleted are the garbage collector's."""
    owner = await claiming.create("owner", finalizers=["x.io/f"])
    await claiming.create("misfit", owner_reference(owner, controller=True), labels={"app": "db"})
    await claiming.create("mine", owner_reference(owner, controller=True), labels=FITS)
    await claiming.create("orphan", labels=FITS)
    await claiming.live.delete(owner)
    going = await claiming.live.get(ConfigMap, owner.key)

    assert await claiming.claim(going) == ["mine"]
    assert await claiming.owners("misfit") == [("owner", True)]
    assert await claiming.owners("orphan") == []


@pytest.mark.parametrize("is_recreated", [False, True])
async def test_an_owner_that_goes_unseen_does_not_adopt(claiming: Claiming, is_recreated: bool) -> None:
    """A stale view of the owner adopts nothing: that would undo what its orphan deletion has just done."""
    owner = await claiming.create("owner", finalizers=[] if is_recreated else ["x.io/f"])
    await claiming.create("orphan", labels=FITS)
    await claiming.live.delete(owner)
    if is_recreated:
        await claiming.create("owner")

    assert await claiming.claim(owner) == []
    assert await claiming.owners("orphan") == []


async def test_an_object_that_goes_is_not_adopted(claiming: Claiming) -> None:
    """An orphan that is being deleted stays without an owner."""
    owner = await claiming.create("owner")
    orphan = await claiming.create("orphan", labels=FITS, finalizers=["x.io/f"])
    await claiming.live.delete(orphan)
    going = await claiming.live.get(ConfigMap, orphan.key)
    await claiming.cache.informer(ConfigMap).wait_for_version(going.metadata.resource_version)

    assert await claiming.claim(owner) == []
    assert await claiming.owners("orphan") == []


async def test_an_object_that_changed_unseen_is_not_adopted(claiming: Claiming) -> None:
    """Adoption fails, and is tried again later, when the object is no longer the one that was read."""
    owner = await claiming.create("owner")
    orphan = await claiming.create("orphan", labels=FITS)
    await claiming.live.patch(orphan, MergePatch({"metadata": {"labels": {"app": "debug"}}}))

    assert await claiming.manager._adopt(owner, orphan) is None
    assert await claiming.owners("orphan") == []
