"""The resource version is taken from the server, the rest from the cache: the update overwrites what a user changed."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, meta


class SiteSpec(Model):
    host: str
    url: str = ""


class Site(CustomResource[SiteSpec], group=GROUP, version="v1"):
    """A site whose URL is set by the operator, from the host that the user sets."""


class Buggy(ObjectReconciler[Site]):
    rbac = (allow(Site, "update"),)

    async def reconcile_object(self, site: Site) -> None:
        url = f"https://{site.spec.host}/"
        if site.spec.url != url:
            site.spec.url = url
            site.metadata.resource_version = await self.version_to_write(site)
            await self.client.update(site)

    async def version_to_write(self, site: Site) -> str:
        return (await self.client.live.get(Site, site.key)).metadata.resource_version  # so that there is no Conflict


class Fixed(Buggy):
    async def version_to_write(self, site: Site) -> str:
        return site.metadata.resource_version  # a Conflict is retried, with the newer object


async def scenario(client: Client, world: World) -> None:
    site = await client.create(Site(metadata=meta("shop"), spec=SiteSpec(host="a.example.com")))
    for host in ("b.example.com", "c.example.com"):
        await world.settle()
        await client.patch(Site, site.key, MergePatch({"spec": {"host": host}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(name="blind-update", buggy=add_buggy, fixed=add_fixed, scenario=scenario, kinds=(Site,), story="update")
