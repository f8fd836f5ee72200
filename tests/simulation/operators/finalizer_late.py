"""The finalizer is added after the external create: a parent that is deleted in between leaves the volume behind."""

from __future__ import annotations

import asyncio

from pyctrl.api import CustomResource, Model, add_finalizer, is_deleting, remove_finalizer
from pyctrl.client import Client, merge_from
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request
from pyctrl.rbac import allow
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, Case, meta

FINALIZER = "sim.example.com/share"


class ShareSpec(Model):
    size: str


class Share(CustomResource[ShareSpec], group=GROUP, version="v1"):
    """A share of a file server outside of the cluster."""


class FileServer(External):
    def __init__(self) -> None:
        super().__init__()
        self.shares: dict[str, str] = {}

    async def put(self, name: str, size: str) -> None:
        self.shares[name] = size

    async def delete(self, name: str) -> None:
        self.shares.pop(name, None)


class Buggy(Reconciler[Share]):
    rbac = (allow(Share, "patch"),)

    def __init__(self, server: FileServer) -> None:
        self.server = server

    async def reconcile(self, request: Request) -> None:
        share = await self.client.find(Share, request.key)
        if share is None:
            return
        if not is_deleting(share):
            await self.provide(share)
            return
        await self.server.delete(share.metadata.name)
        patch = merge_from(share, optimistic_lock=True)
        if remove_finalizer(share, FINALIZER):
            await self.client.patch(share, patch)

    async def provide(self, share: Share) -> None:
        await self.server.put(share.metadata.name, share.spec.size)
        await self.protect(share)

    async def protect(self, share: Share) -> None:
        patch = merge_from(share, optimistic_lock=True)
        if add_finalizer(share, FINALIZER):
            await self.client.patch(share, patch)


class Fixed(Buggy):
    async def provide(self, share: Share) -> None:
        await self.protect(share)
        await self.server.put(share.metadata.name, share.spec.size)


async def scenario(client: Client, world: World) -> None:
    share = await client.create(Share(metadata=meta("home"), spec=ShareSpec(size="10Gi")))
    await asyncio.sleep(3)  # a user changes their mind; without faults the share is there within a second
    await client.delete(share)


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy(world.external(FileServer)))


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed(world.external(FileServer)))


CASE = Case(
    name="finalizer-late",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Share,),
    story="added too late",
    family="error",
)
