"""Create is not idempotent: the child has a generated name, and the only memory of it is written afterwards."""

from __future__ import annotations

from pyctrl.api import CustomResource, Key, Model, set_controller_reference
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, ensure, meta, owned, report


class RunSpec(Model):
    command: str


class RunStatus(Model):
    worker: str = ""


class Run(CustomResource[RunSpec, RunStatus], group=GROUP, version="v1"):
    """A command, and the worker that runs it."""


class Buggy(ObjectReconciler[Run]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"), allow(Run, "patch", subresource="status"))

    async def reconcile_object(self, run: Run) -> None:
        await report(self.client, run, worker=await self.worker_of(run))

    async def worker_of(self, run: Run) -> str:
        name = run.status.worker
        if name and await self.client.find(ConfigMap, Key(NAMESPACE, name)):
            return name
        worker = ConfigMap(metadata=meta("", generate_name="worker-"), data={"command": run.spec.command})
        set_controller_reference(run, worker)
        return (await self.client.create(worker)).metadata.name


class Fixed(Buggy):
    async def worker_of(self, run: Run) -> str:
        name = f"worker-{run.metadata.name}"  # follows from the parent: a second create fails
        await ensure(self.client, run, owned(run, name, {"command": run.spec.command}))
        return name


async def scenario(client: Client, world: World) -> None:
    await client.create(Run(metadata=meta("nightly"), spec=RunSpec(command="true")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="generate-name",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Run,),
    story="idempotent",
    family="crash",
)
