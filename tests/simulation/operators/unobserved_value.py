"""The operator must see each value of a field: if "drain" is not observed before "off", nothing is drained."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal

from pyctrl.api import CustomResource, Key, Model, is_controlled_by
from pyctrl.client import Client, MergePatch, Preconditions
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.errors import NotFound
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, ensure, meta, owned


class WorkerSpec(Model):
    phase: Literal["on", "drain", "off"]


class Worker(CustomResource[WorkerSpec], group=GROUP, version="v1"):
    """A worker that is drained before it is switched off; the backup is kept."""


class Buggy(ObjectReconciler[Worker]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch", "delete"),)
    drained_in: tuple[str, ...] = ("drain",)

    async def reconcile_object(self, worker: Worker) -> None:
        name, phase = worker.metadata.name, worker.spec.phase
        if phase in self.drained_in:
            await ensure(self.client, worker, owned(worker, f"{name}-backup", {"of": name}))
        if phase != "off":
            await ensure(self.client, worker, owned(worker, f"{name}-data", {"of": name}))
        elif found := await self.client.find(ConfigMap, Key(NAMESPACE, f"{name}-data")):
            await self.remove(worker, found)

    async def remove(self, worker: Worker, found: ConfigMap) -> None:
        if is_controlled_by(found, worker):
            with suppress(NotFound):
                await self.client.delete(found, preconditions=Preconditions(uid=found.metadata.uid))


class Fixed(Buggy):
    drained_in = ("drain", "off")  # "off" includes what "drain" would have done


async def scenario(client: Client, world: World) -> None:
    worker = await client.create(Worker(metadata=meta("one"), spec=WorkerSpec(phase="on")))
    await world.settle()
    await client.patch(Worker, worker.key, MergePatch({"spec": {"phase": "drain"}}))
    await asyncio.sleep(2)  # long enough without faults
    await client.patch(Worker, worker.key, MergePatch({"spec": {"phase": "off"}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="unobserved-value",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Worker,),
    story="state",
    family="event",
)
