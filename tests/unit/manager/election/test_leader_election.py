"""Managers with leader election: the runnables of each replica, and restarts, in virtual time."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any, cast

import pytest

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, InProcessTransport
from pyctrl.controller import ControllerState
from pyctrl.errors import GracePeriodExceeded, LeadershipLost, ManagerError
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Group, LeaderElection, Manager, OnLoss
from pyctrl.rbac import PermissionScope
from pyctrl.testing import ConnectionRefused, Rule
from tests.unit.manager._replicas import KEY, Replica, config_map, forever, now


@pytest.fixture
def server() -> ApiServer:
    return ApiServer(random=Random(1))


@pytest.fixture
def admin(server: ApiServer) -> Client:
    return Client(InProcessTransport(server))


# --- which runnables run ---


async def test_without_election_no_lease_is_touched(server: ApiServer, admin: Client) -> None:
    """Without leader election, a manager starts its work at once and needs no permission for leases."""
    async with Manager(Config.in_process(server)) as manager, manager.running():
        assert manager.elector is None
        assert not await admin.list(Lease, namespace="default")
        assert "leases" not in {access.resource for access in manager.grants().accesses()}


async def test_a_standby_has_warm_caches_and_reconciles_nothing(server: ApiServer, admin: Client) -> None:
    """A standby fills its caches but reconciles nothing; as leader it reconciles everything without a list."""
    await admin.create(config_map("a"))
    one, two = Replica(server, "one"), Replica(server, "two")
    async with one.running():
        await one.manager.elected.wait()
        async with two.running():
            await asyncio.sleep(60)
            assert two.manager.started.is_set()
            assert not two.manager.elected.is_set()
            assert two.manager.not_ready == {}
            assert [m.metadata.name for m in await two.manager.client.list(ConfigMap)] == ["a"]
            assert (one.noter.seen, two.noter.seen) == (["a"], [])
            listed = two.lists
            one.manager.ask_to_stop()
            await two.manager.elected.wait()
            await asyncio.sleep(0.01)
            assert (two.noter.seen, two.lists) == (["a"], listed)


async def test_a_controller_may_run_on_every_replica(server: ApiServer, admin: Client) -> None:
    """A controller with ``options(only_leader=False)`` also reconciles on standbys."""
    one, two = Replica(server, "one"), Replica(server, "two")
    async with one.running(only_leader=False):
        await one.manager.elected.wait()
        async with two.running(only_leader=False):
            await admin.create(config_map("a"))
            await asyncio.sleep(1)
            assert (one.noter.seen, two.noter.seen) == (["a"], ["a"])


async def test_a_runnable_says_itself_where_it_runs(server: ApiServer) -> None:
    """A runnable whose attribute ``only_leader`` is False runs on every replica."""

    class Everywhere:
        only_leader = False
        runs = False

        async def run(self) -> None:
            self.runs = True

    one, two, there = Replica(server, "one"), Replica(server, "two"), Everywhere()
    async with one.running():
        await one.manager.elected.wait()
        async with two.running(cast(Any, there)):
            await asyncio.sleep(1)
            assert there.runs
            assert not two.manager.elected.is_set()


async def test_where_the_lease_is_must_be_known() -> None:
    """A manager with a given client needs an explicit Lease namespace: the client does not have one."""
    with pytest.raises(ManagerError, match="LeaderElection\\(namespace="):
        Manager(client=Client(InProcessTransport(ApiServer())), leader_election=LeaderElection(name="op"))


async def test_the_lease_is_in_the_namespace_of_the_login(server: ApiServer, admin: Client) -> None:
    """The default namespace of the Lease is that of the pod or of the context."""
    config = Config.in_process(server, namespace="kube-system")
    async with Manager(config, leader_election=LeaderElection(name="op")) as manager, manager.running():
        held = await admin.get(Lease, Key("kube-system", "op"))
        assert manager.elector is not None
        assert held.spec.holder_identity == manager.elector.identity


async def test_the_rights_that_electing_takes(server: ApiServer) -> None:
    """Election creates Leases, gets and updates its own, and records Events, all in the operator's namespace."""
    async with Manager(Config.in_process(server), leader_election=LeaderElection(name="op")) as manager:
        assert manager.elector is not None
        said = {(*p.rule.resources, *p.rule.verbs, *p.rule.names): p.where for p in manager.elector.rbac}
    assert said == {
        ("leases", "create"): PermissionScope.OWN,
        ("leases", "get", "update", "op"): PermissionScope.OWN,
        ("events", "create", "patch"): PermissionScope.OWN,
    }
    elsewhere = LeaderElection(name="op", namespace="there")
    async with Manager(Config.in_process(server), leader_election=elsewhere) as manager:
        assert manager.elector is not None
        assert {p.where for p in manager.elector.rbac} == {frozenset(["there"])}
        assert {p.rule.resources for p in manager.elector.rbac if not p.is_essential} == {("events",)}


# --- shutdown ---


async def test_the_lease_is_held_until_the_last_reconcile_has_ended(server: ApiServer, admin: Client) -> None:
    """While draining takes longer than the lease, the Lease is renewed; it is released afterwards."""

    class Slow:
        def __init__(self) -> None:
            self.asked = asyncio.Event()

        async def run(self) -> None:
            await self.asked.wait()
            await asyncio.sleep(25)
            await admin.create(config_map("last"))

        def ask_to_stop(self) -> None:
            self.asked.set()

    one, two = Replica(server, "one"), Replica(server, "two")
    async with one.running(cast(Any, Slow())):
        await one.manager.elected.wait()
        async with two.running():
            await asyncio.sleep(5)
            one.manager.ask_to_stop()
            await asyncio.sleep(24)
            assert not two.manager.elected.is_set()
            await one.ran
            assert now() == 30
            await two.manager.elected.wait()
            assert now() < 34.4
            assert (await admin.get(ConfigMap, Key("default", "last"))).metadata.name == "last"


async def test_losing_the_lease_while_draining_shortens_the_grace_period(server: ApiServer) -> None:
    """A lost Lease ends a grace period of a minute before another replica may lead."""

    class Stubborn:
        ended = 0.0

        async def run(self) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                self.ended = now()

        def ask_to_stop(self) -> None:
            """Take time."""

    one, stubborn = Replica(server, "one", grace=60), Stubborn()
    async with one.running(cast(Any, stubborn)):
        await one.manager.elected.wait()
        await asyncio.sleep(5)
        one.cut()  # the last renewal was at 4
        one.manager.ask_to_stop()
        with pytest.raises(GracePeriodExceeded, match="elected/Stubborn"):
            await one.ran
        assert stubborn.ended == 16.5


async def test_elected_work_is_asked_then_cancelled_then_run_raises(server: ApiServer) -> None:
    """Elected work is stopped 10 s after the last renewal and cancelled after 12.5 s; others have more time."""
    journal: list[tuple[float, str]] = []

    class Worker:
        async def run(self) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                journal.append((now(), "cancelled"))

        def ask_to_stop(self) -> None:
            journal.append((now(), "asked"))

    async def other() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            journal.append((now(), "other ends"))

    one = Replica(server, "one")
    async with one.running(cast(Any, Worker())):
        one.manager.add(other, group=Group.OTHERS)
        await one.manager.elected.wait()
        await asyncio.sleep(1)
        one.cut()
        with pytest.raises(LeadershipLost, match="default/op was not renewed within 10 s"):
            await one.ran
    assert [(at, what) for at, what in journal[:2]] == [(10, "asked"), (12.5, "cancelled")]
    assert journal[2][1] == "other ends"
    assert not one.manager.elected.is_set()


# --- a new term ---


async def test_a_manager_that_contends_again_begins_anew_with_warm_caches(server: ApiServer, admin: Client) -> None:
    """In a new term, controllers reconcile everything again without a list; other runnables are not interrupted."""
    runs: list[float] = []

    async def each_term() -> None:
        runs.append(now())

    await admin.create(config_map("a"))
    one = Replica(server, "one", on_loss=OnLoss.CONTEND)
    async with one.running(each_term):
        await one.manager.elected.wait()
        await asyncio.sleep(1)
        listed = one.lists
        one.network.add(Rule(ConnectionRefused(), path="*/leases*", times=None))
        await asyncio.sleep(30)
        assert not one.manager.elected.is_set()
        assert one.controller.state is ControllerState.STOPPED
        assert one.manager.not_ready == {}
        await admin.create(config_map("b"))
        await asyncio.sleep(1)
        assert one.noter.seen == ["a"]

        one.network.clear()
        await one.manager.elected.wait()
        await asyncio.sleep(1)
        assert (sorted(one.noter.seen), one.lists) == (["a", "a", "b"], listed)
        assert len(runs) == 2
        await admin.create(config_map("c"))
        await asyncio.sleep(1)
        assert one.noter.seen[-1] == "c"
        one.manager.ask_to_stop()
        await one.ran
    assert (await admin.get(Lease, KEY)).spec.holder_identity == ""


async def test_what_is_added_while_another_leads_runs_with_the_next_term(server: ApiServer) -> None:
    """A runnable that is added to a standby starts with the next term."""
    runs: list[float] = []

    async def late() -> None:
        runs.append(now())

    one = Replica(server, "one", on_loss=OnLoss.CONTEND)
    async with one.running():
        await one.manager.elected.wait()
        one.cut()
        await asyncio.sleep(30)
        one.manager.add(late)
        await asyncio.sleep(10)
        assert runs == []
        one.network.clear()
        await one.manager.elected.wait()
        await asyncio.sleep(0)
        assert runs == [now()]


async def test_what_fails_while_it_steps_down_does_not_end_the_manager(
    server: ApiServer, caplog: pytest.LogCaptureFixture
) -> None:
    """An error of elected work while it stops at the end of a term does not end the manager."""

    async def fails() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("in the middle of something")

    one = Replica(server, "one", on_loss=OnLoss.CONTEND)
    async with one.running(fails):
        await one.manager.elected.wait()
        one.cut()
        await asyncio.sleep(30)
        assert not one.ran.done()
    assert "error received after stop sequence was engaged" in caplog.messages


async def test_it_can_be_stopped_between_two_terms(server: ApiServer) -> None:
    """A standby that has led before stops like any other."""
    one = Replica(server, "one", on_loss=OnLoss.CONTEND)
    async with one.running(forever):
        await one.manager.elected.wait()
        one.cut()
        await asyncio.sleep(30)
        one.manager.ask_to_stop()
        await one.ran
