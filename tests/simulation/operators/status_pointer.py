"""The status is the only memory of the old child: it is overwritten before the old child is deleted."""

from __future__ import annotations

from contextlib import suppress

from pyctrl.api import CustomResource, Key, Model, is_controlled_by
from pyctrl.client import Client, MergePatch, Preconditions
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.errors import NotFound
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, ensure, meta, owned, report


class RouteSpec(Model):
    target: str


class RouteStatus(Model):
    target: str = ""


class Route(CustomResource[RouteSpec, RouteStatus], group=GROUP, version="v1"):
    """A name for a target; the child has the name of the target."""


class Buggy(ObjectReconciler[Route]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch", "delete"), allow(Route, "patch", subresource="status"))

    async def reconcile_object(self, route: Route) -> None:
        target = route.spec.target
        await ensure(self.client, route, owned(route, target, {"route": route.metadata.name}))
        outdated = await self.outdated(route)
        await report(self.client, route, target=target)
        for child in outdated:
            with suppress(NotFound):
                await self.client.delete(child, preconditions=Preconditions(uid=child.metadata.uid))

    async def outdated(self, route: Route) -> list[ConfigMap]:
        previous = route.status.target
        if previous in {"", route.spec.target}:
            return []
        found = await self.client.find(ConfigMap, Key(NAMESPACE, previous))
        return [found] if found and is_controlled_by(found, route) else []


class Fixed(Buggy):
    async def outdated(self, route: Route) -> list[ConfigMap]:
        children = await self.client.list(ConfigMap, namespace=NAMESPACE)
        return [
            child for child in children if is_controlled_by(child, route) and child.metadata.name != route.spec.target
        ]


async def scenario(client: Client, world: World) -> None:
    route = await client.create(Route(metadata=meta("shop"), spec=RouteSpec(target="blue")))
    await world.settle()
    await client.patch(Route, route.key, MergePatch({"spec": {"target": "green"}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="status-pointer",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Route,),
    story="blue",
    family="crash",
)
