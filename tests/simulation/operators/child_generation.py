"""Children are watched with a predicate on the generation, which a ConfigMap does not have: changes are missed."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler, generation_changed
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned


class ProxySpec(Model):
    backend: str


class Proxy(CustomResource[ProxySpec], group=GROUP, version="v1"):
    """A proxy with its settings."""


class Reconciler(ObjectReconciler[Proxy]):
    rbac = (allow(ConfigMap, "create", "patch"),)

    async def reconcile_object(self, proxy: Proxy) -> None:
        await ensure(self.client, proxy, owned(proxy, f"{proxy.metadata.name}-proxy", {"to": proxy.spec.backend}))


async def scenario(client: Client, world: World) -> None:
    await client.create(Proxy(metadata=meta("edge"), spec=ProxySpec(backend="web")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).reconciles(Proxy).owns(ConfigMap, predicates=[generation_changed]).build(Reconciler())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).reconciles(Proxy).owns(ConfigMap).build(Reconciler())


CASE = Case(
    name="child-generation",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Proxy,),
    story="drift",
    family="meddling",
)
