"""The controller runs on every replica, elected or not: replicas that do not lead write."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned


class GatewaySpec(Model):
    port: str


class Gateway(CustomResource[GatewaySpec], group=GROUP, version="v1"):
    """A gateway with its settings."""


class Reconciler(ObjectReconciler[Gateway]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"),)

    async def reconcile_object(self, gateway: Gateway) -> None:
        wanted = owned(gateway, f"{gateway.metadata.name}-gateway", {"port": gateway.spec.port})
        await ensure(self.client, gateway, wanted)


async def scenario(client: Client, world: World) -> None:
    gateway = await client.create(Gateway(metadata=meta("edge"), spec=GatewaySpec(port="80")))
    await world.settle()
    await client.patch(Gateway, gateway.key, MergePatch({"spec": {"port": "443"}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).options(only_leader=False).build(Reconciler())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Reconciler())


CASE = Case(
    name="follower-write",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Gateway,),
    story="does not lead",
    replicas=2,
)
