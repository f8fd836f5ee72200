"""AlreadyExists is not expected: after a crash between create and status, each retry fails."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned, report


class QueueSpec(Model):
    size: str


class QueueStatus(Model):
    created: bool = False


class Queue(CustomResource[QueueSpec, QueueStatus], group=GROUP, version="v1"):
    """A queue, whose child is created once."""


class Buggy(ObjectReconciler[Queue]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"), allow(Queue, "patch", subresource="status"))

    async def reconcile_object(self, queue: Queue) -> None:
        wanted = owned(queue, f"{queue.metadata.name}-queue", {"size": queue.spec.size})
        await self.write(queue, wanted)
        await report(self.client, queue, created=True)

    async def write(self, queue: Queue, wanted: ConfigMap) -> None:
        if not queue.status.created:
            await self.client.create(wanted)
        else:
            await ensure(self.client, queue, wanted)


class Fixed(Buggy):
    async def write(self, queue: Queue, wanted: ConfigMap) -> None:
        await ensure(self.client, queue, wanted)  # looks first, whatever the status says


async def scenario(client: Client, world: World) -> None:
    await client.create(Queue(metadata=meta("mail"), spec=QueueSpec(size="10")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="exists-fails",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Queue,),
    story="AlreadyExists",
    family="crash",
)
