"""A stale view shows the deletion of a parent that was recreated since: what belongs to the new one is dropped."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, Finalizers, ManagedCluster, ObjectReconciler
from pyctrl.rbac import allow
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, Case, meta, report


class DatabaseSpec(Model):
    engine: str


class DatabaseStatus(Model):
    is_ready: bool = False


class Database(CustomResource[DatabaseSpec, DatabaseStatus], group=GROUP, version="v1"):
    """A database of a cloud."""


class Cloud(External):
    def __init__(self) -> None:
        super().__init__()
        self.databases: dict[str, str] = {}
        self._owners: dict[str, str] = {}

    async def create(self, name: str, engine: str, owner: str) -> None:
        self.databases[name], self._owners[name] = engine, owner

    async def drop(self, name: str, owner: str | None) -> None:
        if owner in {None, self._owners.get(name)}:
            self.databases.pop(name, None)


class Buggy(ObjectReconciler[Database]):
    rbac = (allow(Database, "patch", subresource="status"),)

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.finalizers = Finalizers[Database]()
        self.finalizers.register("sim.example.com/database", self.drop)

    async def reconcile_object(self, database: Database) -> None:
        if not database.status.is_ready:
            metadata = database.metadata
            await self.cloud.create(metadata.name, database.spec.engine, metadata.uid)
            await report(self.client, database, is_ready=True)

    async def drop(self, database: Database) -> None:
        await self.cloud.drop(database.metadata.name, None)


class Fixed(Buggy):
    async def drop(self, database: Database) -> None:
        await self.cloud.drop(database.metadata.name, database.metadata.uid)


async def scenario(client: Client, world: World) -> None:
    for engine in ("postgres", "mysql"):
        database = await client.create(Database(metadata=meta("orders"), spec=DatabaseSpec(engine=engine)))
        await world.settle()
        if engine == "postgres":
            await client.delete(database)
            await world.settle()


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy(world.external(Cloud)))


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed(world.external(Cloud)))


CASE = Case(
    name="stale-deletion", buggy=add_buggy, fixed=add_fixed, scenario=scenario, kinds=(Database,), story="stale"
)
