"""A stale size differs from the actual one, so that the disk is replaced by a smaller one, and its data is lost."""

from __future__ import annotations

from pyctrl.api import CustomResource, Int32, Model
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, Case, meta


class DiskSpec(Model):
    gigabytes: Int32


class Disk(CustomResource[DiskSpec], group=GROUP, version="v1"):
    """A disk that grows while it is used. Users do not make it smaller."""


class Disks(External):
    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[str, int] = {}
        self.lost: list[str] = []

    async def size(self, name: str) -> int:
        return self.sizes.get(name, 0)

    async def grow(self, name: str, gigabytes: int) -> None:
        self.sizes[name] = max(gigabytes, self.sizes.get(name, 0))

    async def replace(self, name: str, gigabytes: int) -> None:
        self.sizes[name] = gigabytes
        self.lost.append(name)


class Buggy(ObjectReconciler[Disk]):
    def __init__(self, disks: Disks) -> None:
        self.disks = disks

    async def reconcile_object(self, disk: Disk) -> None:
        name, wanted = disk.metadata.name, disk.spec.gigabytes
        actual = await self.disks.size(name)
        if wanted > actual:
            await self.disks.grow(name, wanted)
        elif wanted < actual:
            await self.shrink(name, wanted)

    async def shrink(self, name: str, wanted: int) -> None:
        await self.disks.replace(name, wanted)


class Fixed(Buggy):
    async def shrink(self, name: str, wanted: int) -> None:
        """Leave the disk alone: it only grows, so a smaller size is one that was read from a stale view."""


async def scenario(client: Client, world: World) -> None:
    disk = await client.create(Disk(metadata=meta("data"), spec=DiskSpec(gigabytes=1)))
    await world.settle()
    await client.patch(Disk, disk.key, MergePatch({"spec": {"gigabytes": 2}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy(world.external(Disks)))


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed(world.external(Disks)))


CASE = Case(
    name="stale-resize",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Disk,),
    story="Disks.replace",
    family="stale",
)
