"""The status shows the observed generation before the work is done, and the work is skipped because of it."""

from __future__ import annotations

from pyctrl.api import CustomResource, Int64, Model
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned, report


class ReleaseSpec(Model):
    chart: str


class ReleaseStatus(Model):
    observed_generation: Int64 = 0


class Release(CustomResource[ReleaseSpec, ReleaseStatus], group=GROUP, version="v1"):
    """A chart that is installed."""


class Buggy(ObjectReconciler[Release]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"), allow(Release, "patch", subresource="status"))

    async def reconcile_object(self, release: Release) -> None:
        generation = release.metadata.generation
        child = owned(release, f"{release.metadata.name}-release", {"chart": release.spec.chart})
        if release.status.observed_generation != generation or await self.client.find(ConfigMap, child.key) is None:
            await report(self.client, release, observed_generation=generation)
            await ensure(self.client, release, child)


class Fixed(Buggy):
    async def reconcile_object(self, release: Release) -> None:
        child = owned(release, f"{release.metadata.name}-release", {"chart": release.spec.chart})
        await ensure(self.client, release, child)
        await report(self.client, release, observed_generation=release.metadata.generation)


async def scenario(client: Client, world: World) -> None:
    release = await client.create(Release(metadata=meta("shop"), spec=ReleaseSpec(chart="shop-1.0")))
    await world.settle()
    await client.patch(Release, release.key, MergePatch({"spec": {"chart": "shop-2.0"}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="observed-generation",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Release,),
    story="Release default/shop in the same reconcile",
    family="crash",
)
