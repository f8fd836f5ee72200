"""The external delete is not idempotent: when the bucket is gone already, the finalizer is never removed."""

from __future__ import annotations

from contextlib import suppress

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, Finalizers, ManagedCluster, ObjectReconciler
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, Case, meta


class VaultSpec(Model):
    region: str


class Vault(CustomResource[VaultSpec], group=GROUP, version="v1"):
    """A place for secrets outside of the cluster."""


class NoSuchVault(Exception):
    """Answer of the service: there is no vault of this name."""


class Vaults(External):
    def __init__(self) -> None:
        super().__init__()
        self.vaults: dict[str, str] = {}

    async def put(self, name: str, region: str) -> None:
        self.vaults[name] = region

    async def delete(self, name: str) -> None:
        if name not in self.vaults:
            raise NoSuchVault(name)
        del self.vaults[name]


class Buggy(ObjectReconciler[Vault]):
    def __init__(self, service: Vaults) -> None:
        self.service = service
        self.finalizers = Finalizers[Vault]()
        self.finalizers.register("sim.example.com/vault", self.delete)

    async def reconcile_object(self, vault: Vault) -> None:
        await self.service.put(vault.metadata.name, vault.spec.region)

    async def delete(self, vault: Vault) -> None:
        await self.service.delete(vault.metadata.name)


class Fixed(Buggy):
    async def delete(self, vault: Vault) -> None:
        with suppress(NoSuchVault):
            await self.service.delete(vault.metadata.name)


async def scenario(client: Client, world: World) -> None:
    vault = await client.create(Vault(metadata=meta("keys"), spec=VaultSpec(region="eu")))
    await world.settle()
    await client.delete(vault)


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy(world.external(Vaults)))


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed(world.external(Vaults)))


CASE = Case(
    name="finalizer-stuck",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Vault,),
    story="never",
    family="crash",
)
