"""A size is set to "current + 1" and the request is marked as done afterwards: after a crash it grows twice."""

from __future__ import annotations

from pyctrl.api import CustomResource, Int32, Model, is_controlled_by
from pyctrl.client import Client, MergePatch, merge_from
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned, report


class PoolSpec(Model):
    upscales: Int32 = 0


class PoolStatus(Model):
    upscales: Int32 = 0


class Pool(CustomResource[PoolSpec, PoolStatus], group=GROUP, version="v1"):
    """A pool of one machine, and one more for each upscale that a user has requested."""


class Buggy(ObjectReconciler[Pool]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"), allow(Pool, "patch", subresource="status"))

    async def reconcile_object(self, pool: Pool) -> None:
        machines = owned(pool, f"{pool.metadata.name}-machines", {"count": "1"})
        found = await self.client.find(ConfigMap, machines.key)
        if found is None or not is_controlled_by(found, pool):
            await ensure(self.client, pool, machines)
        elif pool.status.upscales < pool.spec.upscales:
            patch = merge_from(found)
            found.data["count"] = str(int(found.data["count"]) + 1)
            await self.client.patch(found, patch)
            await report(self.client, pool, upscales=pool.status.upscales + 1)


class Fixed(Buggy):
    async def reconcile_object(self, pool: Pool) -> None:
        count = 1 + pool.spec.upscales  # not "one more than there are"
        await ensure(self.client, pool, owned(pool, f"{pool.metadata.name}-machines", {"count": str(count)}))
        await report(self.client, pool, upscales=pool.spec.upscales)


async def scenario(client: Client, world: World) -> None:
    pool = await client.create(Pool(metadata=meta("build"), spec=PoolSpec()))
    for upscales in (1, 2):
        await world.settle()
        await client.patch(Pool, pool.key, MergePatch({"spec": {"upscales": upscales}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="current-plus-one",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Pool,),
    story="build-machines",
    family="crash",
)
