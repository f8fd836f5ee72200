"""Replicas that cache their own objects only, on an API server: what each has, and that nothing is created twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from typing import Literal

import pytest

from pyctrl.api import Key, ObjectMeta, set_controller_reference
from pyctrl.cache import SHARD_LABEL, Informer, slot_of_uid
from pyctrl.client import Client, MergePatch, wait_for_list
from pyctrl.controller import Builder, Controller, KindSource, Reconciler, Request
from pyctrl.errors import NotFound
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import Manager, Preflight, Sharding
from pyctrl.testing import ClusterUnderTest

pytestmark = [pytest.mark.slow("waits for Leases of the real clock"), pytest.mark.timeout(120)]

NAMES = tuple(f"map-{number}" for number in range(16))


class Parents(Reconciler[ConfigMap]):
    """Creates a Secret of the name of each ConfigMap, and one with a generated name, if the cache has none."""

    owns = (Secret,)

    async def reconcile(self, request: Request) -> None:
        parent = await self.client.find(ConfigMap, request.key)
        if parent is None or request.name not in NAMES:
            return
        try:
            await self.client.get(Secret, request.key)
        except NotFound:
            await self._create(parent, ObjectMeta(name=request.name, namespace=request.namespace))
        children = await self.client.list(Secret, index=("owner", parent.metadata.uid))
        if len(children) < 2:
            await self._create(parent, ObjectMeta(generate_name=f"{request.name}-", namespace=request.namespace))

    async def _create(self, parent: ConfigMap, meta: ObjectMeta) -> None:
        child = Secret(metadata=meta)
        set_controller_reference(parent, child)
        await self.client.create(child)


def informer_of(controller: Controller, *, is_reconciled: bool) -> Informer:
    """Return the informer of what a controller reconciles, or of what it owns."""
    sources = [each for each in controller.sources if isinstance(each, KindSource)]
    return next(each.informer for each in sources if each.is_reconciled is is_reconciled)


def cached(controller: Controller, *, is_reconciled: bool) -> set[str]:
    """Return the names of the objects of the test in a cache."""
    found = {record.name for record in informer_of(controller, is_reconciled=is_reconciled).lister.store}
    return {name for name in found if name.startswith("map-")}


@asynccontextmanager
async def replica(
    cluster: ClusterUnderTest, namespace: str, name: str, memory: Literal["label"] | bool
) -> AsyncIterator[tuple[Manager, Controller]]:
    """Run a replica."""
    sharding = Sharding(name="ring", namespace=namespace, identity=name, memory=memory)
    manager = Manager(
        cluster.config, sharding=sharding, namespaces=[namespace], preflight=Preflight.OFF, random=Random(name)
    )
    async with manager:
        controller = Builder(manager).reconciles(ConfigMap).build(Parents())
        async with manager.running():
            yield manager, controller


async def divided(*managers: Manager) -> None:
    """Wait until each slot has one of these replicas."""

    def is_so() -> bool:
        rings = [each.shard_member.statistics() for each in managers if each.shard_member is not None]
        know_all = all(each.has_joined and each.members == len(managers) for each in rings)
        return know_all and sum(each.slots for each in rings) == 1024

    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("memory", [True, "label"])
async def test_owned_objects_are_where_their_owner_is(
    cluster: ClusterUnderTest, client: Client, namespace: str, memory: Literal["label"] | bool
) -> None:
    """Each object is in the cache of one replica, owned ones with their owner; the last replica takes all."""
    for name in NAMES:
        await client.create(ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace)))
    async with AsyncExitStack() as stack:
        one, mine = await stack.enter_async_context(replica(cluster, namespace, "one", memory))
        async with replica(cluster, namespace, "two", memory) as (two, its):
            await divided(one, two)
            made = await wait_for_list(client, Secret, lambda all_: len(all_) >= 2 * len(NAMES), namespace=namespace)
            await asyncio.sleep(2)
            for is_reconciled in (True, False):
                shares = [cached(controller, is_reconciled=is_reconciled) for controller in (mine, its)]
                assert shares[0] | shares[1] == ({*NAMES} if is_reconciled else {each.metadata.name for each in made})
                assert not shares[0] & shares[1]
                assert all(shares)
            if memory == "label":
                await labels_are_kept(client, namespace)
        await divided(one)
        await asyncio.sleep(2)
        assert cached(mine, is_reconciled=True) == {*NAMES}
        found = await client.list(Secret, namespace=namespace)
        assert len([each for each in found if each.metadata.owner_references]) == 2 * len(NAMES)


async def labels_are_kept(client: Client, namespace: str) -> None:
    """Check the labels, and that one that is removed comes back."""
    gone = MergePatch({"metadata": {"labels": {SHARD_LABEL: None}}})
    await client.patch(ConfigMap, Key(namespace, NAMES[0]), gone)
    await asyncio.sleep(2)
    for parent in await client.list(ConfigMap, namespace=namespace):
        if parent.metadata.name in NAMES:
            slot = str(slot_of_uid(parent.metadata.uid))
            assert parent.metadata.labels[SHARD_LABEL] == slot
            child = await client.get(Secret, parent.key)
            assert child.metadata.labels[SHARD_LABEL] == slot
