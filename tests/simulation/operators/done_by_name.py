"""Finished work is remembered by name: nothing is made for a parent that is deleted and recreated."""

from __future__ import annotations

from pyctrl.api import CustomResource, Key, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, Finalizers, ManagedCluster, ObjectReconciler
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, Case, meta


class ZoneSpec(Model):
    address: str


class Zone(CustomResource[ZoneSpec], group=GROUP, version="v1"):
    """A zone of a DNS server outside of the cluster."""


class Dns(External):
    def __init__(self) -> None:
        super().__init__()
        self.zones: dict[str, str] = {}

    async def put(self, name: str, address: str) -> None:
        self.zones[name] = address

    async def delete(self, name: str) -> None:
        self.zones.pop(name, None)


class Buggy(ObjectReconciler[Zone]):
    def __init__(self, dns: Dns) -> None:
        self.dns, self.done = dns, dict[Key, str]()
        self.finalizers = Finalizers[Zone]()
        self.finalizers.register("sim.example.com/zone", self.delete)

    async def delete(self, zone: Zone) -> None:
        await self.dns.delete(zone.metadata.name)

    async def reconcile_object(self, zone: Zone) -> None:
        if not self.is_done(zone):
            await self.dns.put(zone.metadata.name, zone.spec.address)
            self.done[zone.key] = zone.spec.address

    def is_done(self, zone: Zone) -> bool:
        return self.done.get(zone.key) == zone.spec.address


class Fixed(Buggy):
    def is_done(self, zone: Zone) -> bool:
        return False  # the call is cheap and idempotent


async def scenario(client: Client, world: World) -> None:
    await client.create(Zone(metadata=meta("example"), spec=ZoneSpec(address="192.0.2.1")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy(world.external(Dns)))


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed(world.external(Dns)))


CASE = Case(
    name="done-by-name",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Zone,),
    story="recreated",
    family="meddling",
)
