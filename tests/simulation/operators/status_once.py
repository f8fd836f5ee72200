"""The status is written in the run that creates the child, and in no other: a crash in between leaves it empty."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned, report


class MemberSpec(Model):
    role: str


class MemberStatus(Model):
    state: str = ""


class Member(CustomResource[MemberSpec, MemberStatus], group=GROUP, version="v1"):
    """A member of a database, as an operator of a NoSQL database keeps it."""


class Buggy(ObjectReconciler[Member]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"), allow(Member, "patch", subresource="status"))

    async def reconcile_object(self, member: Member) -> None:
        pod = owned(member, f"{member.metadata.name}-pod", {"role": member.spec.role})
        is_new = await self.client.find(ConfigMap, pod.key) is None
        await ensure(self.client, member, pod)
        if self.is_to_be_reported(is_new):
            await report(self.client, member, state="UpscaleSucceeded")

    def is_to_be_reported(self, is_new: bool) -> bool:
        return is_new


class Fixed(Buggy):
    def is_to_be_reported(self, is_new: bool) -> bool:
        return True  # `report` writes only what differs


async def scenario(client: Client, world: World) -> None:
    member = await client.create(Member(metadata=meta("one"), spec=MemberSpec(role="data")))
    await world.settle()
    await client.patch(Member, member.key, MergePatch({"spec": {"role": "ingest"}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="status-once",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Member,),
    story="status",
    family="crash",
)
