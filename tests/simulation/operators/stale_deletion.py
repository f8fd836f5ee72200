"""A stale view shows the deletion of a parent that was recreated since: what belongs to the new one is dropped."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model, add_finalizer, is_deleting, remove_finalizer
from pyctrl.client import Client, MergePatch, merge_from
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request
from pyctrl.rbac import allow
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, Case, meta, report

FINALIZER, HOLD = "sim.example.com/database", "user.example.com/hold"


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


class Buggy(Reconciler[Database]):
    rbac = (allow(Database, "patch"), allow(Database, "patch", subresource="status"))

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud

    async def reconcile(self, request: Request) -> None:
        database = await self.client.find(Database, request.key)
        if database is None:
            return
        patch, metadata = merge_from(database, optimistic_lock=True), database.metadata
        if is_deleting(database):
            await self.cloud.drop(metadata.name, self.owner_of(database))
            if remove_finalizer(database, FINALIZER):
                await self.client.patch(database, patch)
            return
        if add_finalizer(database, FINALIZER):
            database = await self.client.patch(database, patch)
        if not database.status.is_ready:
            await self.cloud.create(metadata.name, database.spec.engine, metadata.uid)
            await report(self.client, database, is_ready=True)

    def owner_of(self, database: Database) -> str | None:
        return None  # the names of databases are unique


class Fixed(Buggy):
    def owner_of(self, database: Database) -> str | None:
        return database.metadata.uid  # of a name there may be several databases, one after the other


async def scenario(client: Client, world: World) -> None:
    spec = DatabaseSpec(engine="postgres")
    old = await client.create(Database(metadata=meta("orders", finalizers=[HOLD]), spec=spec))
    await world.settle()
    await client.delete(old)
    await world.settle()
    await client.patch(Database, old.key, MergePatch({"metadata": {"finalizers": None}}))
    await client.create(Database(metadata=meta("orders"), spec=spec))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy(world.external(Cloud)))


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed(world.external(Cloud)))


CASE = Case(
    name="stale-deletion",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Database,),
    story="Cloud.drop",
    family="stale",
)
