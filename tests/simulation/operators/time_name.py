"""The child is named by the time: a create whose answer is lost is repeated a moment later, under another name."""

from __future__ import annotations

from pyctrl import now
from pyctrl.api import CustomResource, Key, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, ensure, meta, owned, report


class BackupSpec(Model):
    number: str


class BackupStatus(Model):
    number: str = ""
    job: str = ""


class Backup(CustomResource[BackupSpec, BackupStatus], group=GROUP, version="v1"):
    """A backup, which is taken when its number changes."""


class Buggy(ObjectReconciler[Backup]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"), allow(Backup, "patch", subresource="status"))

    async def reconcile_object(self, backup: Backup) -> None:
        name, number = self.name_of(backup), backup.spec.number
        if await self.is_made(backup):
            return
        await ensure(self.client, backup, owned(backup, name, {"number": number}))
        await report(self.client, backup, number=number, job=name)

    async def is_made(self, backup: Backup) -> bool:
        job = await self.client.find(ConfigMap, Key(NAMESPACE, backup.status.job)) if backup.status.job else None
        return job is not None and backup.status.number == backup.spec.number

    def name_of(self, backup: Backup) -> str:
        return f"{backup.metadata.name}-{now():%H%M%S}"


class Fixed(Buggy):
    async def is_made(self, backup: Backup) -> bool:
        return False  # the name is always the same: look at the object, and repair it

    def name_of(self, backup: Backup) -> str:
        return f"{backup.metadata.name}-{backup.spec.number}"


async def scenario(client: Client, world: World) -> None:
    await client.create(Backup(metadata=meta("daily"), spec=BackupSpec(number="1")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="time-name",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Backup,),
    story="create",
    family="crash",
)
