"""A foreign object of the child's name is adopted and overwritten, because nobody looks who owns it."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model, set_controller_reference
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned


class MirrorSpec(Model):
    text: str


class Mirror(CustomResource[MirrorSpec], group=GROUP, version="v1"):
    """A text that is kept in a ConfigMap."""


class Buggy(ObjectReconciler[Mirror]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "update", "patch"),)

    async def reconcile_object(self, mirror: Mirror) -> None:
        await self.write(mirror, owned(mirror, mirror.metadata.name, {"text": mirror.spec.text}))

    async def write(self, mirror: Mirror, wanted: ConfigMap) -> None:
        def mutate(found: ConfigMap) -> None:
            found.data = dict(wanted.data)
            set_controller_reference(mirror, found)

        await self.client.create_or_update(wanted, mutate)


class Fixed(Buggy):
    async def write(self, mirror: Mirror, wanted: ConfigMap) -> None:
        await ensure(self.client, mirror, wanted)  # which leaves an object alone that has another owner, or none


async def scenario(client: Client, world: World) -> None:
    await client.create(Mirror(metadata=meta("greeting"), spec=MirrorSpec(text="hello")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="adopts-foreign",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Mirror,),
    story="foreign",
    family="meddling",
)
