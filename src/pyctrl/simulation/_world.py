"""The world of one run: a cluster, a network, the operator's processes, external systems, and their history."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from random import Random
from typing import Any, TypeVar

import msgspec

from pyctrl.api import KubernetesObject, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, InProcessTransport
from pyctrl.cluster import Cluster
from pyctrl.controller import Result
from pyctrl.simulation._external import External
from pyctrl.simulation._external_calls import ExternalCalls
from pyctrl.simulation._history import (
    Called,
    Changed,
    Entry,
    History,
    ObjectId,
    Reconciled,
    ReconcileStarted,
    Rested,
    RestPhase,
)
from pyctrl.simulation._injector import Injector
from pyctrl.simulation._loop import context_of, simulation_loop
from pyctrl.simulation._network import Network, NetworkLink, requester
from pyctrl.simulation._process import Process, ProcessState
from pyctrl.simulation._repetitions import Repetitions
from pyctrl.simulation._run import State
from pyctrl.simulation._schedule import Occasion
from pyctrl.simulation._states import StateReader
from pyctrl.simulation._user_transport import UserTransport
from pyctrl.simulation._waiting_retries import WaitingRetries
from pyctrl.simulation._world_faults import WorldFaults

__all__ = ["CutShort", "World"]

X = TypeVar("X", bound=External)

TICK = 0.5  # seconds between two looks at whether the world is at rest

#: Resources whose changes do not count as activity: heartbeats, votes and records.
HEARTBEATS = frozenset({"leases.coordination.k8s.io", "events", "events.events.k8s.io", "nodes"})


class CutShort(BaseException):  # the scenario may handle an Exception
    """Raised in a scenario to end it: no fault is left, and the world is as without faults."""


class World:
    """Everything that a run of an operator consists of. It exists for one run.

    Attributes:
        seed: The seed of everything that is drawn.
        cluster: The cluster, with its API server and controllers.
        client: The client of the scenario's user, with every permission. Faults do not affect it.
        network: The speed of the network.
        processes: The replicas of the operator.
        history: What happened.
        injector: The faults still to come.
        faults: The faults that last, and what a scenario can do to the server and the clocks.
    """

    def __init__(self, *, seed: int, cluster: Cluster, client: Client, history: History, injector: Injector) -> None:
        self.seed: int = seed
        self.cluster: Cluster = cluster
        self.client: Client = client
        self.network: Network = Network()
        self.processes: list[Process] = []
        self.history: History = history
        self.injector: Injector = injector
        self.has_ended: bool = False
        #: States that the world should have at rest, one for each step; see `settle`.
        self.expected: Sequence[str] = ()
        self.fingerprint: Callable[[State], str] | None = None
        self.steps: list[State] = []
        #: Called after every change of the storage, for invariants.
        self.on_change: Callable[[], None] | None = None
        #: Whether to end the scenario when no fault is left and the world is as it should be.
        self.cuts_short: bool = False
        self._was_expected = self._is_cut = False
        self.repetitions: Repetitions = Repetitions()
        self._retries = WaitingRetries()
        self.longest_requeue: float = 0.0
        self.states: StateReader = StateReader(cluster.server)
        self._calls = ExternalCalls(self)
        self._externals: dict[type[External], External] = {}
        self._running: dict[str, int] = {}  # reconciles by process
        self._last_activity = 0.0
        self._generated: dict[ObjectId, str] = {}
        self.faults: WorldFaults = WorldFaults(self)
        cluster.server.storage.listen(self._changed)

    @staticmethod
    @asynccontextmanager
    async def create(
        *, seed: int, server: ApiServer, random: Random, injector: Injector, history: History
    ) -> AsyncIterator[World]:
        """Yield a world with a running cluster, without an operator."""
        async with Cluster(random=random, server=server) as cluster:
            link = NetworkLink("user", InProcessTransport(server), Network(), Random(f"{seed}/user"))
            transport = UserTransport(link)
            async with Client(transport, random=Random(f"{seed}/client")) as client:
                world = World(seed=seed, cluster=cluster, client=client, history=history, injector=injector)
                transport.connect(world)
                try:
                    yield world
                finally:
                    world.has_ended = True
                    history.close()
                    for process in world.processes:
                        await process.bury()

    @property
    def server(self) -> ApiServer:
        """The API server."""
        return self.cluster.server

    @property
    def config(self) -> Config:
        """The login of the operator: an administrator's, in the namespace ``default``."""
        return self.cluster.config

    @property
    def now(self) -> float:
        """Seconds of virtual time since the begin of the run."""
        return asyncio.get_running_loop().time()

    # -- what users call ---------------------------------------------------------------------------------------

    def external(self, system: type[X]) -> X:
        """Return this world's instance of a fake of an external system; it is made at the first call."""
        found = self._externals.get(system)
        if found is None:
            found = self._externals[system] = system()
            found.attach(self._calls)
        assert isinstance(found, system)
        return found

    def objects(self, kind: type[KubernetesObject] | str, namespace: str | None = None) -> list[Any]:
        """Return the objects of a kind as the server stores them now, sorted by namespace and name.

        Args:
            kind: A class; or the plural and group, such as ``deployments.apps``: then they are `Unstructured`.
            namespace: Only those of this namespace.
        """
        if isinstance(kind, str):
            plural, _, group = kind.partition(".")
            return [Unstructured.from_wire(obj) for obj in self.states.wire_objects(group, plural, namespace or "")]
        group, plural = kind.gvk.group, kind.resource.plural
        return [kind.from_wire(obj) for obj in self.states.wire_objects(group, plural, namespace or "")]

    async def settle(self, text: str = "") -> None:
        """End a step of the scenario: wait until the world is at rest.

        It is at rest when nothing has changed for some seconds, no reconcile and no external call runs, and the state
        is that of the same step without faults; or, if it does not become so, when nothing has changed for a time that
        covers the longest back-off. It never waits longer than `LIMIT` of the run.

        Args:
            text: What the step was, for the story.
        """
        await self.rest(RestPhase.STEP, text)
        number = len(self.steps)
        _, faults = self.injector.reached(Occasion.STEP, "")
        for fault in faults:
            await self.faults.apply_at_step(fault)
        if faults:
            await self.rest(RestPhase.STEP, f"after {', '.join(map(str, faults))}", number=number)
        # After a fault between two steps one more step shows what a process forgot; the state of the world does not.
        is_through = self.injector.is_through and not faults and not self.faults.are_lasting
        if self.cuts_short and is_through and self._was_expected:
            self._is_cut = True
            raise CutShort
        self.faults.note_rest()

    @contextmanager
    def acting_as_user(self) -> Iterator[None]:
        """Note changes of the server in this block as the user's."""
        token = requester.set(("user", None))
        try:
            yield
        finally:
            requester.reset(token)

    async def wait_until_idle(self) -> None:
        """Wait until nothing has changed for some seconds."""
        begun = self.now
        while self.now - max(self._last_activity, begun) < REST:
            await asyncio.sleep(TICK)

    # -- rest --------------------------------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """Whether a reconcile or an external call runs, or a process is frozen."""
        running = any(self._running.values()) or self._calls.under_way > 0
        return running or any(process.state is ProcessState.KILLED for process in self.processes)

    async def rest(self, phase: str, text: str = "", *, number: int | None = None) -> None:
        """Wait until the world is at rest, and note its state."""
        index = len(self.steps) if number is None else number - 1
        if phase == RestPhase.FAULTS_OVER:
            # a scenario that was cut short stays as it was; one that failed had fewer steps than the reference
            index = len(self.steps) - 1 if self._is_cut else max(index, len(self.expected) - 1)
            while self.faults.are_lasting:
                await asyncio.sleep(TICK)
            await self._retries.run_out()
        expected = self.expected[index] if index < len(self.expected) else None
        is_quiet, state = await self._wait_for_rest(expected)
        if number is None:
            self.steps.append(state)
        else:
            self.steps[index] = state
        self.note(Rested(phase=phase, number=index + 1, is_quiet=is_quiet, text=text))

    async def stay(self, seconds: float) -> None:
        """Watch a world at rest for some seconds, or until it is clear that it does not stay at rest."""
        self.repetitions.clear()
        ends = self.now + seconds
        while self.now < ends and not self.repetitions.are_endless:
            await asyncio.sleep(min(REST, ends - self.now))

    async def _wait_for_rest(self, expected: str | None) -> tuple[bool, State]:
        begun, looked_at = self.now, -1
        self._was_expected = False
        self.repetitions.clear()
        patience = max(PATIENCE, self.longest_requeue * 1.5) if self.faults.has_meddled else PATIENCE
        await asyncio.sleep(TICK)
        while True:
            idle = self.now - max(self._last_activity, begun)
            if idle >= REST and not self.is_busy:
                if expected is None or self.fingerprint is None:
                    return True, self.state()
                if looked_at != self.server.storage.version:
                    looked_at = self.server.storage.version
                    state = self.state()
                    self._was_expected = self.fingerprint(state) == expected
                    if self._was_expected:
                        return True, state
            is_late = self.now - begun >= LIMIT + patience or self.repetitions.are_endless
            if is_late or (idle >= patience and not self.is_busy):
                return expected is not None and idle >= patience, self.state()
            await asyncio.sleep(TICK)

    def state(self) -> State:
        """Return the state of the world now."""
        externals = {type(each).__name__: each.state() for each in self._externals.values()}
        return State(self.states.read(), externals)

    # -- history -----------------------------------------------------------------------------------------------

    def note(self, entry: Entry) -> None:
        """Append an entry to the history."""
        if isinstance(entry, Called):
            self.repetitions.note(entry.point.what)
        self.history.add(entry)

    def stable_name(self, target: ObjectId, created: Any = None) -> str:
        """Return ``NAMESPACE/NAME`` of an object, with a generated name as ``PREFIX*``."""
        name = self._generated.get(target, target.name)
        if created is not None and not target.name:
            name = f"{((created or {}).get('metadata') or {}).get('generateName', '')}*"
        return f"{target.namespace}/{name}" if target.namespace else name

    def _changed(self, group: str, resource: str, event: Any) -> None:
        name = f"{resource}.{group}" if group else resource
        self.states.touch(group, resource)
        if name in HEARTBEATS:
            return
        self._last_activity = self.now
        stored = event.current or event.previous
        target = ObjectId(name, stored.namespace, stored.name)
        obj = msgspec.json.decode(stored.data)
        if prefix := obj["metadata"].get("generateName"):
            self._generated[target] = f"{prefix}*"
        by, sent = requester.get()
        if sent is not None:
            self.repetitions.note(sent.point.what if sent.point is not None else "")
            sent.has_effect = True
            process = self._process(by)
            sent.leads = process.leads if process is not None else None
        self.note(
            Changed(
                type=event.type, target=target, uid=stored.uid, version=event.version, by=by.partition(".")[0], obj=obj
            )
        )
        self.faults.note_change(target, by)
        if self.on_change is not None:
            self.on_change()

    def _process(self, name: str) -> Process | None:
        return next((each for each in self.processes if each.context_name == name), None)

    # -- reconciles --------------------------------------------------------------------------------------------

    async def reconcile_starts(self, process: Process, controller: str, request: str, causes: tuple[str, ...]) -> None:
        """Note that a reconcile starts; faults may happen here."""
        point, faults = self.injector.reached(Occasion.RECONCILE, f"{controller} {request}", process.name)
        self._running[process.context_name] = self._running.get(process.context_name, 0) + 1
        self.note(
            ReconcileStarted(process=process.name, point=point, controller=controller, request=request, causes=causes)
        )
        for fault in faults:
            self.faults.apply(fault, process)
        if faults:
            await asyncio.sleep(0)  # a process that was killed or frozen stops here

    def reconcile_ended(self, process: Process, entry: Reconciled) -> None:
        """Note that a reconcile ended."""
        left = self._running.get(process.context_name, 0)
        if left and not self.has_ended:
            self._running[process.context_name] = left - 1
            self._retries.note(entry, self.now)
            self.note(entry)
            self.touch()

    def note_requeue(self, result: Result | None) -> None:
        """Remember the longest delay after which a reconcile runs again: the world waits for it before it judges."""
        if result is not None and result.requeue_after is not None:
            self.longest_requeue = max(self.longest_requeue, min(result.requeue_after.total_seconds(), LONGEST_REQUEUE))

    def touch(self) -> None:
        """Note that something happens: the world is not at rest."""
        self._last_activity = self.now

    def forget_process(self, process: Process) -> None:
        """Forget what a dead process did."""
        self._running.pop(process.context_name, None)
        self._retries.forget(process.name)

    # -- time --------------------------------------------------------------------------------------------------

    def call_later(self, seconds: float, callback: Callable[[], object]) -> None:
        """Call a function later, in the context of the world."""
        simulation_loop().call_later(seconds, self._if_going_on, callback, context=context_of(""))

    def call_soon(self, callback: Callable[[], object]) -> None:
        """Call a function in the next iteration of the loop, in the context of the world."""
        simulation_loop().call_soon(self._if_going_on, callback, context=context_of(""))

    def _if_going_on(self, callback: Callable[[], object]) -> None:
        if not self.has_ended:
            callback()


REST = 5.0  # seconds without a change after which the world is at rest
PATIENCE = 150.0  # seconds: a silent watch is replaced after 90 s, and a reflector or a request waits up to 30 s more
LIMIT = 600.0  # seconds for which the world waits at most, besides the patience
LONGEST_REQUEUE = 3600.0  # seconds; an operator that looks again once a day is not waited for
