"""What a manager has because it is one of several replicas, by its options."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.controller import Builder, Controller, Reconciler, Result
from pyctrl.errors import ManagerError
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import LeaderElection, Manager, Preflight, Sharding

SHARDING = Sharding(name="op", namespace="default")
ELECTION = LeaderElection(name="leader", namespace="system")


class Nothing(Reconciler[ConfigMap]):
    async def reconcile(self, request: object) -> Result | None:
        return None


def manager(**options: Any) -> Manager:
    client = Client(InProcessTransport(ApiServer(random=Random(1))), random=Random(1))
    return Manager(client=client, preflight=Preflight.OFF, random=Random(1), **options)


def controller(of: Manager, *, only_leader: bool | None = None) -> Controller:
    builder = Builder(of).reconciles(ConfigMap)
    if only_leader is not None:
        builder.options(only_leader=only_leader)
    return builder.build(Nothing())


def metrics(of: Manager) -> set[str]:
    """The names of the metrics of leader election and sharding."""
    names = {family.name for family in of.collect_metrics()}
    return {name for name in names if name.startswith(("pyctrl_shard_", "leader_election_"))}


# --- which parts there are ---


async def test_a_manager_of_one_replica_has_neither() -> None:
    """Without options there is no elector, no member, no metric of them, and a controller has all requests."""
    async with manager() as made:
        assert (made.elector, made.shard_member) == (None, None)
        assert controller(made).shard is None
        assert metrics(made) == set()


async def test_a_manager_with_leader_election_has_an_elector_only() -> None:
    """Leader election alone divides no requests: a controller runs on the leader."""
    async with manager(leader_election=ELECTION) as made:
        assert made.elector is not None
        assert made.shard_member is None
        made_controller = controller(made)
        assert (made_controller.shard, made_controller.only_leader) == (None, True)
        assert not any(name.startswith("pyctrl_shard_") for name in metrics(made))


async def test_a_manager_with_sharding_elects_a_leader_too() -> None:
    """A ring has a leader, by the ring's name, for what must run once."""
    async with manager(sharding=SHARDING) as made:
        assert made.shard_member is not None
        assert made.elector is not None
        assert {"pyctrl_shard_slots", "pyctrl_shard_members"} < metrics(made)


async def test_options_of_the_leader_are_kept_beside_sharding() -> None:
    """With both options the leader is elected as its own options say."""
    async with manager(sharding=SHARDING, leader_election=ELECTION) as made:
        assert made.elector is not None
        assert any("leader" in permission.rule.names for permission in made.elector.rbac)


# --- which controllers are divided ---


@pytest.mark.parametrize(
    ("only_leader", "is_divided", "runs_on_leader"), [(None, True, False), (True, False, True), (False, False, False)]
)
async def test_the_requests_of_a_controller_are_divided_unless_it_says_where_it_runs(
    only_leader: bool | None, is_divided: bool, runs_on_leader: bool
) -> None:
    """A controller with ``only_leader=True`` or False is not divided, and runs where it says."""
    async with manager(sharding=SHARDING) as made:
        made_controller = controller(made, only_leader=only_leader)
        assert (made_controller.shard is not None) == is_divided
        assert made_controller.only_leader == runs_on_leader


# --- the namespace of the Leases ---


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"leader_election": LeaderElection(name="op")}, "LeaderElection"),
        ({"sharding": Sharding(name="op")}, "LeaderElection|Sharding"),
        ({"sharding": Sharding(name="op"), "leader_election": ELECTION}, "Sharding"),
    ],
)
def test_leases_need_a_namespace(options: dict[str, Any], name: str) -> None:
    """A manager that does not know its own namespace says which option must have one."""
    with pytest.raises(ManagerError, match=rf"does not know its own namespace: set ({name})\(namespace=...\)"):
        manager(**options)


async def test_the_namespace_of_the_options_is_that_of_the_leases() -> None:
    """The Leases are in the namespace that the options name."""
    async with manager(sharding=Sharding(name="op", namespace="system")) as made:
        assert made.shard_member is not None
        (permission,) = made.shard_member.rbac
        assert permission.where == frozenset(["system"])


async def test_the_identity_of_the_options_is_that_of_the_replica() -> None:
    """A replica has the name that its options give it, or else one of its own."""
    async with manager(sharding=Sharding(name="op", namespace="default", identity="pod-0")) as made:
        assert made.shard_member is not None
        assert made.shard_member.statistics().identity == "pod-0"
    async with manager(sharding=SHARDING) as made:
        assert made.shard_member is not None
        assert len(made.shard_member.statistics().identity) > 30
