"""Two children are created in one run, and the second one only if the first one was missing."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned


class StackSpec(Model):
    image: str


class Stack(CustomResource[StackSpec], group=GROUP, version="v1"):
    """A server with its settings."""


class Buggy(ObjectReconciler[Stack]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"),)

    async def reconcile_object(self, stack: Stack) -> None:
        server = owned(stack, f"{stack.metadata.name}-server", {"image": stack.spec.image})
        settings = owned(stack, f"{stack.metadata.name}-settings", {"port": "80"})
        if await self.needs_settings(server):
            await ensure(self.client, stack, server)
            await ensure(self.client, stack, settings)
        else:
            await ensure(self.client, stack, server)

    async def needs_settings(self, server: ConfigMap) -> bool:
        return await self.client.find(ConfigMap, server.key) is None


class Fixed(Buggy):
    async def needs_settings(self, server: ConfigMap) -> bool:
        return True  # each object is compared with what it should be, in each run


async def scenario(client: Client, world: World) -> None:
    await client.create(Stack(metadata=meta("web"), spec=StackSpec(image="nginx")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="second-create",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Stack,),
    story="web-settings",
    family="crash",
)
