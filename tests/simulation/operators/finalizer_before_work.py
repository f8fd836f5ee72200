"""The finalizer is removed before the external work is done: a crash in between leaves the bucket behind."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model, add_finalizer, is_deleting, remove_finalizer
from pyctrl.client import Client, merge_from
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request
from pyctrl.rbac import allow
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, Case, meta

FINALIZER = "sim.example.com/bucket"


class BucketSpec(Model):
    region: str


class Bucket(CustomResource[BucketSpec], group=GROUP, version="v1"):
    """A bucket of an object store."""


class Buckets(External):
    def __init__(self) -> None:
        super().__init__()
        self.buckets: dict[str, str] = {}

    async def put(self, name: str, region: str) -> None:
        self.buckets[name] = region

    async def delete(self, name: str) -> None:
        self.buckets.pop(name, None)


class Buggy(Reconciler[Bucket]):
    rbac = (allow(Bucket, "patch"),)

    def __init__(self, store: Buckets) -> None:
        self.store = store

    async def reconcile(self, request: Request) -> None:
        bucket = await self.client.find(Bucket, request.key)
        if bucket is None:
            return
        if is_deleting(bucket):
            await self.clean_up(bucket)
            return
        patch = merge_from(bucket, optimistic_lock=True)
        if add_finalizer(bucket, FINALIZER):
            await self.client.patch(bucket, patch)
        await self.store.put(request.name, bucket.spec.region)

    async def clean_up(self, bucket: Bucket) -> None:
        await self.release(bucket)
        await self.store.delete(bucket.metadata.name)

    async def release(self, bucket: Bucket) -> None:
        patch = merge_from(bucket, optimistic_lock=True)
        if remove_finalizer(bucket, FINALIZER):
            await self.client.patch(bucket, patch)


class Fixed(Buggy):
    async def clean_up(self, bucket: Bucket) -> None:
        await self.store.delete(bucket.metadata.name)
        await self.release(bucket)


async def scenario(client: Client, world: World) -> None:
    bucket = await client.create(Bucket(metadata=meta("photos"), spec=BucketSpec(region="eu")))
    await world.settle()
    await client.delete(bucket)


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy(world.external(Buckets)))


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed(world.external(Buckets)))


CASE = Case(
    name="finalizer-before-work",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Bucket,),
    story="removed too early",
    family="crash",
)
