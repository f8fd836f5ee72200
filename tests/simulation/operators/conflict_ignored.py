"""A Conflict is ignored, because "somebody wrote, so there will be an event": what was to be written never is."""

from __future__ import annotations

from contextlib import suppress

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.errors import Conflict
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned


class RuleSpec(Model):
    action: str


class Rule(CustomResource[RuleSpec], group=GROUP, version="v1"):
    """A rule of a firewall."""


class Fixed(ObjectReconciler[Rule]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"),)

    async def reconcile_object(self, rule: Rule) -> None:
        await ensure(self.client, rule, owned(rule, f"{rule.metadata.name}-rule", {"action": rule.spec.action}))


class Buggy(Fixed):
    async def reconcile_object(self, rule: Rule) -> None:
        with suppress(Conflict):  # the event may have come before
            await super().reconcile_object(rule)


async def scenario(client: Client, world: World) -> None:
    rule = await client.create(Rule(metadata=meta("ssh"), spec=RuleSpec(action="deny")))
    await world.settle()
    await client.patch(Rule, rule.key, MergePatch({"spec": {"action": "allow"}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="conflict-ignored",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Rule,),
    story="swallowed",
    family="error",
)
