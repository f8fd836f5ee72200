"""A child is deleted by its name, without a look at its owner: a foreign object of that name is lost."""

from __future__ import annotations

from contextlib import suppress

from pyctrl.api import CustomResource, Key, Model, is_controlled_by
from pyctrl.client import Client, MergePatch, Preconditions
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.errors import NotFound
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, ensure, meta, owned


class BannerSpec(Model):
    text: str
    enabled: bool = True


class Banner(CustomResource[BannerSpec], group=GROUP, version="v1"):
    """A text that is shown while it is enabled."""


class Buggy(ObjectReconciler[Banner]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch", "delete"),)

    async def reconcile_object(self, banner: Banner) -> None:
        key = Key(NAMESPACE, f"{banner.metadata.name}-text")
        if banner.spec.enabled:
            await ensure(self.client, banner, owned(banner, key.name, {"text": banner.spec.text}))
        elif found := await self.client.find(ConfigMap, key):
            with suppress(NotFound):
                await self.remove(banner, found)

    async def remove(self, banner: Banner, found: ConfigMap) -> None:
        await self.client.delete(ConfigMap, found.key)


class Fixed(Buggy):
    async def remove(self, banner: Banner, found: ConfigMap) -> None:
        if is_controlled_by(found, banner):
            await self.client.delete(found, preconditions=Preconditions(uid=found.metadata.uid))


async def scenario(client: Client, world: World) -> None:
    banner = await client.create(Banner(metadata=meta("sale"), spec=BannerSpec(text="now")))
    for enabled in (False, True, False):
        await world.settle()
        await client.patch(Banner, banner.key, MergePatch({"spec": {"enabled": enabled}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="deletes-foreign", buggy=add_buggy, fixed=add_fixed, scenario=scenario, kinds=(Banner,), story="foreign"
)
