"""The operator does not watch its children: one that is deleted or changed is not repaired."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned


class CacheSpec(Model):
    size: str


class Cache(CustomResource[CacheSpec], group=GROUP, version="v1"):
    """A cache with its settings."""


class Buggy(ObjectReconciler[Cache]):
    rbac = (allow(ConfigMap, "get", "create", "patch"), allow(Cache, "update", subresource="finalizers"))

    async def reconcile_object(self, cache: Cache) -> None:
        wanted = owned(cache, f"{cache.metadata.name}-cache", {"size": cache.spec.size})
        await ensure(self.client.live, cache, wanted)  # ConfigMaps are not in the cache


class Fixed(Buggy):
    owns = (ConfigMap,)


async def scenario(client: Client, world: World) -> None:
    cache = await client.create(Cache(metadata=meta("sessions"), spec=CacheSpec(size="1")))
    await world.settle()
    await client.patch(Cache, cache.key, MergePatch({"spec": {"size": "2"}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="no-child-watch",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Cache,),
    story="drift",
    family="meddling",
)
