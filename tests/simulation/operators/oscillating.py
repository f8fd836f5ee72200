"""The next member becomes the primary in each run: the field changes for ever, and so do the reconciles."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned, report


class TeamSpec(Model):
    members: list[str]


class TeamStatus(Model):
    primary: str = ""


class Team(CustomResource[TeamSpec, TeamStatus], group=GROUP, version="v1"):
    """A team with an object for each member, one of which is the primary."""


class Buggy(ObjectReconciler[Team]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"), allow(Team, "patch", subresource="status"))

    async def reconcile_object(self, team: Team) -> None:
        for member in team.spec.members:
            await ensure(self.client, team, owned(team, f"{team.metadata.name}-{member}", {"name": member}))
        await report(self.client, team, primary=self.primary(team))

    def primary(self, team: Team) -> str:
        members = team.spec.members
        if team.status.primary not in members:
            return members[0]
        return members[(members.index(team.status.primary) + 1) % len(members)]


class Fixed(Buggy):
    def primary(self, team: Team) -> str:
        members = team.spec.members
        return team.status.primary if team.status.primary in members else members[0]


async def scenario(client: Client, world: World) -> None:
    await client.create(Team(metadata=meta("red"), spec=TeamSpec(members=["ann", "bob"])))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="oscillating",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Team,),
    story="two values take turns",
)
