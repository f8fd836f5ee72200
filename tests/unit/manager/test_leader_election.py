"""Managers that elect: what runs where and when, what is refused, and what begins anew. All in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random
from typing import Any, cast

import pytest

from pyctrl import _clock
from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, InProcessTransport
from pyctrl.controller import Builder, ControllerState, Reconciler, Request
from pyctrl.errors import GracePeriodExceeded, LeadershipLost, ManagerError, NotLeading
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Group, LeaderElection, Manager, OnLoss, Preflight
from pyctrl.rbac import Place
from pyctrl.testing import FaultyTransport, Refused, Rule, VirtualTimeLoop

KEY = Key("default", "op")


def now() -> float:
    return asyncio.get_running_loop().time()


def stand_still(seconds: float) -> None:
    """Let time pass without the loop noticing, as in a process that was stopped."""
    cast(VirtualTimeLoop, asyncio.get_running_loop())._now += seconds


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


class Noter(Reconciler[ConfigMap]):
    """Notes what it was asked for."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def reconcile(self, request: Request) -> None:
        if request.name != "kube-root-ca.crt":
            self.seen.append(request.name)


@pytest.fixture
def server() -> ApiServer:
    return ApiServer(random=Random(1))


@pytest.fixture
def admin(server: ApiServer) -> Client:
    return Client(InProcessTransport(server))


class Replica:
    """A manager with its own way to the server, and a controller that notes what it does."""

    def __init__(self, server: ApiServer, name: str, *, grace: float = 30, **options: Any) -> None:
        self.network = FaultyTransport(InProcessTransport(server))
        self.manager = Manager(
            client=Client(self.network, random=Random(name)),
            leader_election=LeaderElection(name="op", namespace="default", identity=name, **options),
            grace_period=timedelta(seconds=grace),
            preflight=Preflight.OFF,
            random=Random(name),
        )
        self.noter = Noter()
        self.ran: asyncio.Task[None]

    @asynccontextmanager
    async def running(self, *add: Callable[[], Any], only_leader: bool = True) -> AsyncIterator[None]:
        """Run it beside the block; how it ended is in `ran`."""
        async with self.manager as manager:
            for runnable in add:
                manager.add(runnable)
            self.controller = Builder(manager).reconciles(ConfigMap).options(only_leader=only_leader).build(self.noter)
            self.ran = asyncio.create_task(manager.run(handle_signals=False))
            try:
                yield
            finally:
                self.network.clear()
                if not self.ran.done():
                    manager.ask_to_stop()
                await asyncio.wait([self.ran])

    @property
    def lists(self) -> int:
        """How often it has listed or watched."""
        return len([r for r in self.network.requests if r.method == "GET" and r.path.endswith("/configmaps")])

    def cut(self) -> None:
        self.network.add(Rule(Refused(), times=None))


async def forever() -> None:
    await asyncio.Event().wait()


# --- what runs where ---


async def test_without_election_no_lease_is_touched(server: ApiServer, admin: Client) -> None:
    """A manager that was not told to elect does its work at once, and needs no right to leases."""
    async with Manager(Config.in_process(server)) as manager, manager.running():
        assert manager.elector is None
        assert not await admin.list(Lease)
        assert "leases" not in {access.resource for access in manager.grants().accesses()}


async def test_a_standby_has_warm_caches_and_reconciles_nothing(server: ApiServer, admin: Client) -> None:
    """When its turn comes it reconciles everything at once, without listing anything."""
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
    """``options(only_leader=False)``: it reconciles on standbys too."""
    one, two = Replica(server, "one"), Replica(server, "two")
    async with one.running(only_leader=False):
        await one.manager.elected.wait()
        async with two.running(only_leader=False):
            await admin.create(config_map("a"))
            await asyncio.sleep(1)
            assert (one.noter.seen, two.noter.seen) == (["a"], ["a"])


async def test_a_runnable_says_itself_where_it_runs(server: ApiServer) -> None:
    """An attribute ``only_leader`` that is False puts it among what every replica runs."""

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
    """A manager that was given a client does not know its own namespace."""
    with pytest.raises(ManagerError, match="LeaderElection\\(namespace="):
        Manager(client=Client(InProcessTransport(ApiServer())), leader_election=LeaderElection(name="op"))


async def test_the_lease_is_in_the_namespace_of_the_login(server: ApiServer, admin: Client) -> None:
    """That of the pod or of the context, unless it is told otherwise."""
    config = Config.in_process(server, namespace="kube-system")
    async with Manager(config, leader_election=LeaderElection(name="op")) as manager, manager.running():
        held = await admin.get(Lease, Key("kube-system", "op"))
        assert manager.elector is not None
        assert held.spec.holder_identity == manager.elector.identity


async def test_the_rights_that_electing_takes(server: ApiServer) -> None:
    """To create Leases, to get and update this one, and to tell of it: in the operator's own namespace."""
    async with Manager(Config.in_process(server), leader_election=LeaderElection(name="op")) as manager:
        assert manager.elector is not None
        said = {(*p.rule.resources, *p.rule.verbs, *p.rule.names): p.where for p in manager.elector.rbac}
    assert said == {
        ("leases", "create"): Place.OWN,
        ("leases", "get", "update", "op"): Place.OWN,
        ("events", "create", "patch"): Place.OWN,
    }
    elsewhere = LeaderElection(name="op", namespace="there")
    async with Manager(Config.in_process(server), leader_election=elsewhere) as manager:
        assert manager.elector is not None
        assert {p.where for p in manager.elector.rbac} == {frozenset(["there"])}


# --- the end ---


async def test_the_lease_is_held_until_the_last_reconcile_has_ended(server: ApiServer, admin: Client) -> None:
    """Draining takes longer than the lease lasts: it is renewed all the while, and released then."""

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
    """A grace period of a minute ends when somebody else might lead."""

    class Stubborn:
        ended = 0.0

        async def run(self) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                self.ended = now()

        def ask_to_stop(self) -> None:
            """Has time."""

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
    """Ten seconds after the last renewal it is asked, 12.5 after it is cancelled; others have more time."""
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


# --- contending again ---


async def test_a_manager_that_contends_again_begins_anew_with_warm_caches(server: ApiServer, admin: Client) -> None:
    """Controllers reconcile everything once more; nothing is listed, other runnables are not interrupted."""
    runs: list[float] = []

    async def each_term() -> None:
        runs.append(now())

    await admin.create(config_map("a"))
    one = Replica(server, "one", on_loss=OnLoss.CONTEND)
    async with one.running(each_term):
        await one.manager.elected.wait()
        await asyncio.sleep(1)
        listed = one.lists
        one.network.add(Rule(Refused(), path="*/leases*", times=None))
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
    """A runnable that is added to a standby waits for its turn."""
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
    """Its time was over anyway; the next term is another chance."""

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
    """A standby that has led before ends like any other."""
    one = Replica(server, "one", on_loss=OnLoss.CONTEND)
    async with one.running(forever):
        await one.manager.elected.wait()
        one.cut()
        await asyncio.sleep(30)
        one.manager.ask_to_stop()
        await one.ran


# --- the gate ---


async def test_work_that_wakes_up_too_late_cannot_write(server: ApiServer, admin: Client) -> None:
    """A process that stood still for twenty seconds: its elected work is refused before anything is sent."""
    refused: list[str] = []
    one = Replica(server, "one", on_loss=OnLoss.CONTEND)

    async def elected() -> None:
        await one.manager.client.create(config_map("before"))
        stand_still(20)
        for client in (one.manager.client, one.manager.live_client, admin):
            with pytest.raises(NotLeading) as caught:
                await client.create(config_map("after"))
            refused.append(str(caught.value))
        with pytest.raises(NotLeading):
            await admin.delete(ConfigMap, Key("default", "before"))
        assert (await admin.get(ConfigMap, Key("default", "before"))).metadata.name == "before"
        await asyncio.create_task(child())
        await forever()

    async def child() -> None:
        with pytest.raises(NotLeading):
            await admin.create(config_map("child"))

    async with one.running(elected):
        await one.manager.elected.wait()
        await asyncio.sleep(1)
        assert refused[0] == (
            "POST /api/v1/namespaces/default/configmaps was not sent: this replica (one) has not renewed the lease "
            "default/op within 14 s, and another one may lead"
        )
        assert len(refused) == 3
        names = {found.metadata.name for found in await admin.list(ConfigMap)}
        assert names == {"before"}


async def test_what_every_replica_does_is_not_refused(server: ApiServer, admin: Client) -> None:
    """Others may write, leader or not; also when elected work has begun them."""
    one = Replica(server, "one", on_loss=OnLoss.CONTEND)

    def writes(name: str) -> Callable[[], Any]:
        async def write() -> None:
            await asyncio.sleep(1)
            await one.manager.live_client.create(config_map(name))

        return write

    async def elected() -> None:
        one.manager.add(writes("begun-by-elected"), group=Group.OTHERS)
        await asyncio.sleep(0.5)
        stand_still(20)
        await forever()

    async with one.running(elected):
        one.manager.add(writes("other"), group=Group.OTHERS)
        await asyncio.sleep(3)
        names = {found.metadata.name for found in await admin.list(ConfigMap)}
        assert names == {"other", "begun-by-elected"}


async def test_a_laptop_that_was_closed(server: ApiServer, admin: Client) -> None:
    """The loop's clock has not moved, the wall's has: no write before the lease has been renewed, all after that."""
    journal: list[str] = []
    one = Replica(server, "one")
    asleep = timedelta(0)

    async def elected() -> None:
        for name in ("a", "b", "c"):
            try:
                await one.manager.live_client.create(config_map(name))
                journal.append(name)
            except NotLeading:
                journal.append("refused")
            await asyncio.sleep(3)

    began = _clock.now()
    with _clock.use(lambda: began + timedelta(seconds=now()) + asleep):
        async with one.running(elected):
            await one.manager.elected.wait()
            await asyncio.sleep(2.5)
            asleep = timedelta(hours=8)
            await asyncio.sleep(0.6)
            assert journal == ["a", "refused"]
            await asyncio.sleep(4)
            assert journal == ["a", "refused", "c"]
            assert not one.ran.done()


async def test_a_refused_reconcile_is_done_in_the_next_term(server: ApiServer, admin: Client) -> None:
    """For a reconciler the refusal is an error like others; nothing that was to be done is forgotten."""

    class Copier(Reconciler[ConfigMap]):
        tries = 0

        async def reconcile(self, request: Request) -> None:
            if request.name == "a":
                self.tries += 1
                if self.tries == 1:
                    stand_still(14.5)  # it has blocked the loop
                await self.client.create(config_map("copy"))

    one, copier = Replica(server, "one", on_loss=OnLoss.CONTEND), Copier()
    async with one.running():
        Builder(one.manager).reconciles(ConfigMap).options(name="copier").build(copier)
        await one.manager.elected.wait()
        await admin.create(config_map("a"))
        await asyncio.sleep(1)
        await asyncio.sleep(10)
        assert copier.tries == 2
        assert (await admin.get(ConfigMap, Key("default", "copy"))).metadata.uid
        assert one.manager.elector is not None
        assert one.manager.elector.statistics().losses == 1


async def test_who_had_no_time_to_stop_is_named(server: ApiServer, caplog: pytest.LogCaptureFixture) -> None:
    """It was cancelled because the term was over: that is logged, and is no failure of a later stop."""

    class Stubborn:
        async def run(self) -> None:
            await asyncio.Event().wait()

        def ask_to_stop(self) -> None:
            """Has time."""

    one = Replica(server, "one", on_loss=OnLoss.CONTEND)
    async with one.running(cast(Any, Stubborn())):
        await one.manager.elected.wait()
        one.cut()
        await asyncio.sleep(30)
        one.manager.ask_to_stop()
        await one.ran
    assert "Cancelled elected work that had not stopped in time" in caplog.messages
