"""Shutdown of a manager's own parts: controllers, leader election, events, caches."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from random import Random

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.controller import Builder, Controller, ControllerState, Reconciler, Request
from pyctrl.errors import GracePeriodExceeded
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.kinds.events.v1 import Event
from pyctrl.manager import Group, LeaderElection, Manager, Preflight
from pyctrl.testing import Answered, ConnectionRefused, FaultyTransport, Rule, Silent
from tests.unit.manager._replicas import KEY, config_map
from tests.unit.manager.runnables._endings import AT, ENDINGS, Ending, OtherFailed, grace_of, now, outcome

WRITES = "/api/v1/namespaces/default/configmaps"


class Worker(Reconciler[ConfigMap]):
    """Works on "job-…" until ``work`` seconds after the request to stop, then writes the result."""

    def __init__(self, work: float) -> None:
        self.until = now() + AT + work
        self.ends: list[str] = []

    async def reconcile(self, request: Request) -> None:
        if not request.name.startswith("job-"):
            return
        try:
            await asyncio.sleep(self.until - now())
            await self.client.create(config_map(f"done-{request.name}"))
        except asyncio.CancelledError:
            self.ends.append("cut off")
            raise
        job = await self.client.get(ConfigMap, request.key)
        self.recorder.normal(job, "Done", "Done with it")
        self.ends.append("done")


class World:
    """A manager, and a client that reads its server directly."""

    def __init__(self, ending: Ending, *, leads: bool = False, preflight: Preflight = Preflight.OFF) -> None:
        server = ApiServer()
        self.admin = Client(InProcessTransport(server))
        self.network = FaultyTransport(InProcessTransport(server))
        self.fail = asyncio.Event()
        self.manager = Manager(
            client=Client(self.network, random=Random(1)),
            leader_election=LeaderElection(name="op", namespace="default", identity="one") if leads else None,
            grace_period=grace_of(ending),
            preflight=preflight,
            random=Random(1),
        )
        self.worker = Worker(0)

    def controller(self, work: float = 0) -> Controller:
        """Add a controller whose work takes this long after the request to stop."""
        self.worker = Worker(work)
        return Builder(self.manager).reconciles(ConfigMap).build(self.worker)

    async def names(self) -> set[str]:
        """The names of the objects on the server."""
        return {found.metadata.name for found in await self.admin.list(ConfigMap, namespace="default")} - {
            "kube-root-ca.crt"
        }

    async def holder(self) -> str:
        """The holder of the Lease."""
        return (await self.admin.get(Lease, KEY)).spec.holder_identity or ""


Part = Callable[[Ending], AbstractAsyncContextManager[World]]


@asynccontextmanager
async def _life(world: World) -> AsyncIterator[World]:
    async with world.manager as manager:

        async def other() -> None:
            await world.fail.wait()
            raise OtherFailed

        manager.add(other, group=Group.SERVERS)
        yield world


def working(work: float, jobs: int = 1, *, leads: bool = True) -> Part:
    """A controller that works on one job, and has others in its queue."""

    @asynccontextmanager
    async def make(ending: Ending) -> AsyncIterator[World]:
        async with _life(World(ending, leads=leads)) as world:
            for number in range(jobs):
                await world.admin.create(config_map(f"job-{number}"))
            world.controller(work)
            yield world
            is_done = work <= ending.patience
            assert world.worker.ends == ["done" if is_done else "cut off"]
            assert await world.names() == {f"job-{number}" for number in range(jobs)} | (
                {"done-job-0"} if is_done else set()
            )
            told = [event.reason for event in await world.admin.list(Event) if event.reason == "Done"]
            assert told == (["Done"] if is_done else [])
            if leads:
                assert await world.holder() == ""

    return make


@asynccontextmanager
async def first_list(ending: Ending) -> AsyncIterator[World]:
    """A controller whose first list the server does not answer."""
    async with _life(World(ending)) as world:
        world.network.add(Rule(Silent(), path="/api/v1/configmaps", times=None))
        controller = world.controller()
        yield world
        assert controller.state is ControllerState.NOT_STARTED


@asynccontextmanager
async def first_list_later(ending: Ending) -> AsyncIterator[World]:
    """The same for a controller that is added at run time."""
    async with _life(World(ending)) as world:
        world.network.add(Rule(Silent(), path="/api/v1/configmaps", times=None))
        made: list[Controller] = []

        async def late() -> None:
            made.append(world.controller())

        world.manager.add(late)
        yield world
        assert made[0].state is ControllerState.STOPPED


@asynccontextmanager
async def without_rights(ending: Ending) -> AsyncIterator[World]:
    """A controller without the permission to list its kind, for which it waits."""
    async with _life(World(ending)) as world:
        world.network.add(Rule(Answered(status=403, reason="Forbidden"), path="/api/v1/configmaps", times=None))
        controller = world.controller()
        states = list[ControllerState]()
        asyncio.get_running_loop().call_later(AT / 2, lambda: states.append(controller.state))
        yield world
        assert states == [ControllerState.WAITING_FOR_RIGHTS]
        assert controller.state is ControllerState.STOPPED


@asynccontextmanager
async def candidate(ending: Ending) -> AsyncIterator[World]:
    """A standby; the leader leads until the standby has ended."""
    async with _life(World(ending, leads=True)) as world:
        world.network.add(Rule(ConnectionRefused(), path="*/leases*", times=None))  # it cannot read the holder
        controller = world.controller()
        yield world
        assert controller.state is ControllerState.NOT_STARTED
        assert await world.admin.find(Lease, KEY) is None


@asynccontextmanager
async def leader(ending: Ending) -> AsyncIterator[World]:
    """A leader without work."""
    async with _life(World(ending, leads=True)) as world:
        controller = world.controller()
        yield world
        assert controller.state is ControllerState.STOPPED
        assert await world.holder() == ""


def telling(*rules: Rule, arrives: bool) -> Part:
    """Events that are recorded at the moment of the request to stop."""

    @asynccontextmanager
    async def make(ending: Ending) -> AsyncIterator[World]:
        async with _life(World(ending)) as world:
            for rule in rules:
                world.network.add(rule)
            told = await world.admin.create(config_map("a"))
            recorder = world.manager.event_recorder("teller")
            asyncio.get_running_loop().call_later(AT, recorder.normal, told, "Told", "In the last moment")
            yield world
            if ending.patience > 0:
                assert [event.reason for event in await world.admin.list(Event)] == (["Told"] if arrives else [])

    return make


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A part, its time to stop, and the name in the error when that is too long."""

    name: str
    part: Part
    drains: float = 0
    blamed: str = "elected/configmap"
    says: str = ""


CUT_OFF = "Reconcile was cancelled: the grace period of its controller is over"

CASES = (
    Case(name="a reconcile of 20 s", part=working(20), drains=20),
    Case(name="a reconcile of 20 s without election", part=working(20, leads=False), drains=20),
    Case(name="a reconcile of 40 s", part=working(40, leads=False), drains=40, says=CUT_OFF),
    Case(name="requests in the queue", part=working(20, jobs=5, leads=False), drains=20),
    Case(name="a first list", part=first_list),
    Case(name="a first list of a controller that came later", part=first_list_later),
    Case(name="a controller without rights", part=without_rights),
    Case(name="a candidate", part=candidate),
    Case(name="a leader", part=leader),
    Case(name="an event", part=telling(arrives=True)),
    Case(
        name="an event that cannot be written",
        part=telling(Rule(ConnectionRefused(), path="*/events*", times=None), arrives=False),
        drains=5,
        blamed="servers/events",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_every_part_of_a_manager_ends(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    """Each part has its time to stop and may write meanwhile, `run` raises the expected error, and no task is left."""
    for ending in ENDINGS:
        caplog.clear()
        try:
            async with case.part(ending) as world:
                error, took = await outcome(world.manager, ending, world.fail.set)
                is_overdue = case.drains > ending.patience
                assert (None if error is None else type(error)) is ending.outcome(overdue=is_overdue)
                if isinstance(error, GracePeriodExceeded):
                    assert str(error).endswith(f": {case.blamed}")
                assert took == pytest.approx(min(case.drains, ending.patience))
                assert asyncio.all_tasks() == {asyncio.current_task()}
            assert not case.says or (case.says in caplog.messages) is is_overdue
        except AssertionError as error:
            error.add_note(f"{case.name}, {ending.name}")
            raise
    gc.collect(1)


async def test_more_stops_do_not_interrupt_the_cleanup_of_a_reconcile() -> None:
    """A reconcile that the second stop cancels finishes its `finally`, whatever follows, and writes in it."""
    world = World(Ending(name="", asks=("ask",)))

    class Careful(Reconciler[ConfigMap]):
        async def reconcile(self, request: Request) -> None:
            if request.name != "job":
                return
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(4)
                await self.client.create(config_map("cleaned-up"))

    async with _life(world):
        await world.admin.create(config_map("job"))
        Builder(world.manager).reconciles(ConfigMap).build(Careful())
        running = asyncio.create_task(world.manager.run(handle_signals=False))
        await asyncio.sleep(5)
        for stop in (world.manager.ask_to_stop, world.manager.ask_to_stop, world.manager.ask_to_stop, running.cancel):
            stop()
            await asyncio.sleep(1)
        assert await world.names() == {"job"}
        await asyncio.wait([running])
        assert await world.names() == {"job", "cleaned-up"}
