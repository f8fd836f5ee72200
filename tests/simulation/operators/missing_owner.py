"""The child has no owner reference: it is deleted when the parent is seen missing, which a stopped operator misses."""

from __future__ import annotations

from contextlib import suppress

from pyctrl.api import CustomResource, Key, Model, is_deleting
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, mapped, on_create
from pyctrl.errors import NotFound
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, ensure, meta, owned

PARENT = "sim.example.com/user"  # label


class UserSpec(Model):
    mail: str


class User(CustomResource[UserSpec], group=GROUP, version="v1"):
    """A user with an account, which is a ConfigMap of the same name."""


class Buggy(Reconciler[User]):
    rbac = (allow(ConfigMap, "create", "update", "patch", "delete"),)

    async def reconcile(self, request: Request) -> None:
        user = await self.client.find(User, request.key)
        if user is None:
            with suppress(NotFound):
                await self.client.delete(ConfigMap, request.key)
        elif not is_deleting(user):
            await self.write(user)

    async def write(self, user: User) -> None:
        account = ConfigMap(metadata=meta(user.metadata.name, labels={PARENT: user.metadata.name}))
        account.data = {"mail": user.spec.mail}
        found = await self.client.find(ConfigMap, user.key)
        if found is None:
            await self.client.create(account)
        elif found.data != account.data and PARENT in found.metadata.labels:
            found.data = account.data
            await self.client.update(found)


class Fixed(Buggy):
    async def reconcile(self, request: Request) -> None:
        user = await self.client.find(User, request.key)
        if user is not None and not is_deleting(user):
            await ensure(self.client, user, owned(user, user.metadata.name, {"mail": user.spec.mail}))


def user_of(account: ConfigMap) -> list[Request]:
    return [Request.of(account)] if PARENT in account.metadata.labels else []


async def scenario(client: Client, world: World) -> None:
    for name in ("ann", "bob"):
        await client.create(User(metadata=meta(name), spec=UserSpec(mail=f"{name}@example.com")))
    await world.settle()
    await client.delete(User, Key(NAMESPACE, "ann"))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    watched = (
        Builder(manager).reconciles(User).watches(ConfigMap, mapped(user_of), predicates=[~on_create])
    )  # it makes them itself
    return watched.build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).reconciles(User).owns(ConfigMap).build(Fixed())


CASE = Case(
    name="missing-owner",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(User,),
    story="ann",
    family="crash",
)
