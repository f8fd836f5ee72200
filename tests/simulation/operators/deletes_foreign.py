"""A child that differs is deleted by its name and made again: a foreign object of that name is lost."""

from __future__ import annotations

from contextlib import suppress

from pyctrl.api import CustomResource, Model, is_controlled_by
from pyctrl.client import Client, MergePatch, Preconditions
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.errors import NotFound
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ForeignObject, meta, owned


class BannerSpec(Model):
    text: str


class Banner(CustomResource[BannerSpec], group=GROUP, version="v1"):
    """A text in an immutable object, which cannot be updated."""


class Buggy(ObjectReconciler[Banner]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "delete"),)

    async def reconcile_object(self, banner: Banner) -> None:
        wanted = owned(banner, f"{banner.metadata.name}-text", {"text": banner.spec.text})
        wanted.immutable = True
        found = await self.client.find(ConfigMap, wanted.key)
        if found is not None and found.data != wanted.data:
            with suppress(NotFound):
                await self.remove(banner, found)
            found = None
        if found is None:
            await self.client.create(wanted)

    async def remove(self, banner: Banner, found: ConfigMap) -> None:
        await self.client.delete(ConfigMap, found.key)


class Fixed(Buggy):
    async def remove(self, banner: Banner, found: ConfigMap) -> None:
        if not is_controlled_by(found, banner):
            raise ForeignObject(f"ConfigMap {found.key} is not controlled by Banner {banner.key}")
        await self.client.delete(found, preconditions=Preconditions(uid=found.metadata.uid))


async def scenario(client: Client, world: World) -> None:
    banner = await client.create(Banner(metadata=meta("sale"), spec=BannerSpec(text="now")))
    await world.settle()
    await client.patch(Banner, banner.key, MergePatch({"spec": {"text": "soon"}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="deletes-foreign",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Banner,),
    story="foreign",
    family="meddling",
)
