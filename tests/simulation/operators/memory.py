"""The reconciler remembers the old child in a dict: after a restart the old child is never deleted."""

from __future__ import annotations

from contextlib import suppress

from pyctrl.api import CustomResource, Key, Model, is_controlled_by
from pyctrl.client import Client, MergePatch, Preconditions
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.errors import NotFound
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, ensure, meta, owned


class AliasSpec(Model):
    points_to: str


class Alias(CustomResource[AliasSpec], group=GROUP, version="v1"):
    """An alias of a host; the child has the name of the host."""


class Buggy(ObjectReconciler[Alias]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch", "delete"),)

    def __init__(self) -> None:
        self.hosts: dict[Key, str] = {}

    async def reconcile_object(self, alias: Alias) -> None:
        host = alias.spec.points_to
        await ensure(self.client, alias, owned(alias, host, {"alias": alias.metadata.name}))
        for child in await self.outdated(alias):
            with suppress(NotFound):
                await self.client.delete(child, preconditions=Preconditions(uid=child.metadata.uid))
        self.hosts[alias.key] = host

    async def outdated(self, alias: Alias) -> list[ConfigMap]:
        previous = self.hosts.get(alias.key, alias.spec.points_to)
        if previous == alias.spec.points_to:
            return []
        found = await self.client.find(ConfigMap, Key(NAMESPACE, previous))
        return [found] if found and is_controlled_by(found, alias) else []


class Fixed(Buggy):
    async def outdated(self, alias: Alias) -> list[ConfigMap]:
        children = await self.client.list(ConfigMap, namespace=NAMESPACE)
        return [
            child
            for child in children
            if is_controlled_by(child, alias) and child.metadata.name != alias.spec.points_to
        ]


async def scenario(client: Client, world: World) -> None:
    alias = await client.create(Alias(metadata=meta("www"), spec=AliasSpec(points_to="host-a")))
    await world.settle()
    await client.patch(Alias, alias.key, MergePatch({"spec": {"pointsTo": "host-b"}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="memory",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Alias,),
    story="host-a",
    family="crash",
)
