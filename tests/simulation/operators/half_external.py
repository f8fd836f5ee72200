"""Two external calls, and the second one only if the first one had something to do: a failure leaves half of it."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, Case, meta


class SchemaSpec(Model):
    reader: str


class Schema(CustomResource[SchemaSpec], group=GROUP, version="v1"):
    """A schema of a database server, and a user that may read it."""


class Server(External):
    def __init__(self) -> None:
        super().__init__()
        self.schemas: dict[str, list[str]] = {}

    async def exists(self, name: str) -> bool:
        return name in self.schemas

    async def create(self, name: str) -> None:
        self.schemas.setdefault(name, [])

    async def grant(self, name: str, reader: str) -> None:
        if reader not in self.schemas[name]:
            self.schemas[name].append(reader)


class Buggy(ObjectReconciler[Schema]):
    def __init__(self, server: Server) -> None:
        self.server = server

    async def reconcile_object(self, schema: Schema) -> None:
        name = schema.metadata.name
        if not await self.is_done(name):
            await self.server.create(name)
            await self.server.grant(name, schema.spec.reader)

    async def is_done(self, name: str) -> bool:
        return await self.server.exists(name)


class Fixed(Buggy):
    async def is_done(self, name: str) -> bool:
        return False  # both calls can be repeated


async def scenario(client: Client, world: World) -> None:
    await client.create(Schema(metadata=meta("sales"), spec=SchemaSpec(reader="ann")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy(world.external(Server)))


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed(world.external(Server)))


CASE = Case(
    name="half-external",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Schema,),
    story="Server.grant",
    family="crash",
)
