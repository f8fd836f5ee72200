"""Every error is caught and logged, and the reconcile returns: what failed once is never retried."""

from __future__ import annotations

import logging

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned

log = logging.getLogger("operator")


class PolicySpec(Model):
    mode: str


class Policy(CustomResource[PolicySpec], group=GROUP, version="v1"):
    """A policy that is distributed."""


class Fixed(ObjectReconciler[Policy]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"),)

    async def reconcile_object(self, policy: Policy) -> None:
        await ensure(self.client, policy, owned(policy, f"{policy.metadata.name}-policy", {"mode": policy.spec.mode}))


class Buggy(Fixed):
    async def reconcile_object(self, policy: Policy) -> None:
        try:
            await super().reconcile_object(policy)
        except Exception as error:  # noqa: BLE001 - this is the mistake
            log.warning("The policy could not be written", extra={"error": str(error)})


async def scenario(client: Client, world: World) -> None:
    policy = await client.create(Policy(metadata=meta("default"), spec=PolicySpec(mode="warn")))
    await world.settle()
    await client.patch(Policy, policy.key, MergePatch({"spec": {"mode": "deny"}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="swallowed",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Policy,),
    story="swallowed",
    family="error",
)
