"""A background task that runs on every replica writes: it belongs to those that the leader runs."""

from __future__ import annotations

import asyncio
from typing import cast

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Group, Manager
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, ensure, meta, owned

PERIOD = 20.0  # seconds


class ShopSpec(Model):
    city: str


class Shop(CustomResource[ShopSpec], group=GROUP, version="v1"):
    """A shop; the ConfigMap ``index`` has the names of all shops."""


class Reconciler(ObjectReconciler[Shop]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"),)

    async def reconcile_object(self, shop: Shop) -> None:
        await ensure(self.client, shop, owned(shop, f"{shop.metadata.name}-shop", {"city": shop.spec.city}))


class Index:
    """Writes the index, and compares it periodically."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def run(self) -> None:
        while True:
            names = sorted(shop.metadata.name for shop in await self.client.list(Shop, namespace=NAMESPACE))
            await self.client.create_or_apply(
                ConfigMap(metadata=meta("index"), data={"names": " ".join(names)}), force=True
            )
            await asyncio.sleep(PERIOD)


def add(host: ManagedCluster, group: Group) -> Controller:
    manager = cast(Manager, host)
    manager.add(Index(manager.client), group=group)
    return Builder(manager).build(Reconciler())


async def scenario(client: Client, world: World) -> None:
    await client.create(Shop(metadata=meta("north"), spec=ShopSpec(city="Kiel")))
    await asyncio.sleep(PERIOD)
    await world.settle()


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return add(manager, Group.OTHERS)


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return add(manager, Group.ELECTED)


CASE = Case(
    name="background-write",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Shop,),
    story="does not lead",
    replicas=2,
)
