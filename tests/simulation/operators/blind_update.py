"""The resource version is taken from the server, the rest from the cache: the update overwrites what a user changed."""

from __future__ import annotations

from pyctrl.api import CustomResource, Key, Model, ObjectLike
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler, Request, mapped
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, meta

DOMAIN = Key(NAMESPACE, "domain")


class SiteSpec(Model):
    host: str
    url: str = ""


class Site(CustomResource[SiteSpec], group=GROUP, version="v1"):
    """A site whose URL is set by the operator, from the host and the domain that the user sets."""


class Buggy(ObjectReconciler[Site]):
    rbac = (allow(Site, "get", "update"),)

    async def reconcile_object(self, site: Site) -> None:
        domain = await self.client.find(ConfigMap, DOMAIN)
        url = f"https://{site.spec.host}.{domain.data['name'] if domain else 'localhost'}/"
        if site.spec.url != url:
            site.spec.url = url
            site.metadata.resource_version = await self.version_to_write(site)
            await self.client.update(site)

    async def version_to_write(self, site: Site) -> str:
        return (await self.client.live.get(Site, site.key)).metadata.resource_version  # so that there is no Conflict


class Fixed(Buggy):
    async def version_to_write(self, site: Site) -> str:
        return site.metadata.resource_version  # a Conflict is retried, with the newer object


def site_of(domain: ObjectLike) -> list[Request]:
    return [Request(NAMESPACE, "shop")] if domain.metadata.name == DOMAIN.name else []


async def scenario(client: Client, world: World) -> None:
    await client.create(ConfigMap(metadata=meta(DOMAIN.name), data={"name": "example.com"}))
    site = await client.create(Site(metadata=meta("shop"), spec=SiteSpec(host="www")))
    await world.settle()
    await client.patch(Site, site.key, MergePatch({"spec": {"host": "shop"}}))
    await client.patch(ConfigMap, DOMAIN, MergePatch({"data": {"name": "example.org"}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).reconciles(Site).watches(ConfigMap, mapped(site_of)).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).reconciles(Site).watches(ConfigMap, mapped(site_of)).build(Fixed())


CASE = Case(
    name="blind-update",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Site,),
    story="an update of someone else is lost",
    family="event",
)
