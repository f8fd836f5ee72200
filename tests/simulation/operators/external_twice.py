"""An external create is repeated with a new token each time: after a lost answer there are two addresses."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, Finalizers, ManagedCluster, ObjectReconciler, reconcile_id
from pyctrl.rbac import allow
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, Case, meta, report


class AddressSpec(Model):
    pool: str


class AddressStatus(Model):
    ip: str = ""


class Address(CustomResource[AddressSpec, AddressStatus], group=GROUP, version="v1"):
    """An address of an address service outside of the cluster."""


class AddressService(External):
    """Gives the lowest free address. A request with the token of an earlier one gets the same address again."""

    def __init__(self) -> None:
        super().__init__()
        self.reserved: dict[str, str] = {}
        self._owners: dict[str, tuple[str, str]] = {}

    async def reserve(self, token: str, owner: str, name: str) -> str:
        for ip, request in self._owners.items():
            if request == (token, owner):
                return ip
        ip = next(ip for ip in (f"192.0.2.{number}" for number in range(1, 255)) if ip not in self.reserved)
        self.reserved[ip], self._owners[ip] = name, (token, owner)
        return ip

    async def release(self, owner: str) -> None:
        for ip in [ip for ip, request in self._owners.items() if request[1] == owner]:
            del self.reserved[ip], self._owners[ip]


class Buggy(ObjectReconciler[Address]):
    rbac = (allow(Address, "patch", subresource="status"),)

    def __init__(self, service: AddressService) -> None:
        self.service = service
        self.finalizers = Finalizers[Address]()
        self.finalizers.register("sim.example.com/address", self.release)

    async def release(self, address: Address) -> None:
        await self.service.release(address.metadata.uid)

    async def reconcile_object(self, address: Address) -> None:
        if not address.status.ip:
            uid, name = address.metadata.uid, address.metadata.name
            await report(self.client, address, ip=await self.service.reserve(self.token(address), uid, name))

    def token(self, address: Address) -> str:
        return reconcile_id() or ""


class Fixed(Buggy):
    def token(self, address: Address) -> str:
        return address.metadata.uid


async def scenario(client: Client, world: World) -> None:
    await client.create(Address(metadata=meta("gateway"), spec=AddressSpec(pool="public")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy(world.external(AddressService)))


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed(world.external(AddressService)))


CASE = Case(
    name="external-twice",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Address,),
    story="not idempotent",
    family="crash",
)
