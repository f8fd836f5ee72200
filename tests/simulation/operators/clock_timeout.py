"""A timeout is measured with the wall clock: when it jumps forward, a request counts as expired for ever."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pyctrl import now
from pyctrl.api import CustomResource, Model
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler, Result
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, meta, report

PATIENCE = timedelta(minutes=5)


class ApprovalSpec(Model):
    approved: bool = False


class ApprovalStatus(Model):
    phase: str = ""


class Approval(CustomResource[ApprovalSpec, ApprovalStatus], group=GROUP, version="v1"):
    """A request that expires if nobody approves it."""


class Buggy(ObjectReconciler[Approval]):
    rbac = (allow(Approval, "patch", subresource="status"),)

    async def reconcile_object(self, approval: Approval) -> Result | None:
        age = self.age(approval)
        if approval.status.phase == "Expired":
            return None
        phase = "Approved" if approval.spec.approved else "Pending" if age < PATIENCE else "Expired"
        await report(self.client, approval, phase=phase)
        return Result.after(PATIENCE - age) if phase == "Pending" else None

    def age(self, approval: Approval) -> timedelta:
        current = now()
        return current - (approval.metadata.creation_timestamp or current)


class Fixed(Buggy):
    def __init__(self) -> None:
        self.seen: dict[str, float] = {}

    def age(self, approval: Approval) -> timedelta:
        current = asyncio.get_running_loop().time()  # does not jump; after a restart the time begins again
        return timedelta(seconds=current - self.seen.setdefault(approval.metadata.uid, current))


async def scenario(client: Client, world: World) -> None:
    approval = await client.create(Approval(metadata=meta("budget"), spec=ApprovalSpec()))
    await world.settle()
    await client.patch(Approval, approval.key, MergePatch({"metadata": {"labels": {"by": "ann"}}}))
    await world.settle()
    await client.patch(Approval, approval.key, MergePatch({"spec": {"approved": True}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="clock-timeout",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Approval,),
    story="clock",
    family="clock",
)
