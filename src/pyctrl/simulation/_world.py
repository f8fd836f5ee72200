"""The world of one run: a cluster, a network, the operator's processes, external systems, and their history."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from random import Random
from typing import Any, TypeVar

import msgspec

from pyctrl.api import KubernetesObject, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, HttpRequest, InProcessTransport
from pyctrl.cluster import Cluster
from pyctrl.controller import Result
from pyctrl.errors import ConnectionFailed
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
from pyctrl.simulation._process import RESTART_AFTER, Process, ProcessState
from pyctrl.simulation._repetitions import Repetitions
from pyctrl.simulation._run import State
from pyctrl.simulation._schedule import Fault, FaultKind, Occasion
from pyctrl.simulation._states import StateReader
from pyctrl.simulation._step_faults import MEDDLING
from pyctrl.simulation._user_transport import UserTransport
from pyctrl.simulation._waiting_retries import WaitingRetries

__all__ = ["CutShort", "World"]

X = TypeVar("X", bound=External)

LEASE = "simulation"
BEHIND_FOR = 20.0  # seconds; kube-apiserver's watch cache is behind by seconds at most, unless it is partitioned
HIDDEN_FOR = 60.0  # seconds until a hidden event is given up
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
    """

    def __init__(self, *, seed: int, cluster: Cluster, client: Client, history: History, injector: Injector) -> None:
        self.seed = seed
        self.cluster, self.client = cluster, client
        self.network = Network()
        self.processes: list[Process] = []
        self.history, self.injector = history, injector
        self.has_ended = False
        #: States that the world should have at rest, one for each step; see `settle`.
        self.expected: Sequence[str] = ()
        self.fingerprint: Callable[[State], str] | None = None
        self.steps: list[State] = []
        #: Called after every change of the storage, for invariants.
        self.on_change: Callable[[], None] | None = None
        #: Does what a fault at a step of the scenario asks for.
        self.on_step_fault: Callable[[Fault], Awaitable[None]] | None = None
        #: Whether to end the scenario when no fault is left and the world is as it should be.
        self.cuts_short = False
        self._was_expected = self._is_cut = False
        self.repetitions, self._retries = Repetitions(), WaitingRetries()
        self.longest_requeue = 0.0
        self.states = StateReader(cluster.server)
        self._calls = ExternalCalls(self)
        self._externals: dict[type[External], External] = {}
        self._running: dict[str, int] = {}  # reconciles by process
        self._last_activity = 0.0
        self._generated: dict[ObjectId, str] = {}
        self._hidden: dict[tuple[str, str], ObjectId] = {}
        self._stale: dict[str, float] = {}
        self._lasts_until = 0.0
        #: Whether a user changed objects of the operator, which may notice it only when it looks again.
        self.has_meddled = False
        self._votes_cut: set[str] = set()
        self._version_at_rest = cluster.server.storage.version
        self._backup = cluster.server.storage.backup()
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
            await self.apply_at_step(fault)
        if faults:
            await self.rest(RestPhase.STEP, f"after {', '.join(map(str, faults))}", number=number)
        # After a fault between two steps one more step shows what a process forgot; the state of the world does not.
        is_through = self.injector.is_through and not faults and not self.has_lasting_faults
        if self.cuts_short and is_through and self._was_expected:
            self._is_cut = True
            raise CutShort
        self._version_at_rest = self.server.storage.version

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

    @property
    def has_lasting_faults(self) -> bool:
        """Whether a fault that lasts is not over: events are held back, or a process cannot vote or is frozen."""
        frozen = any(process.state is ProcessState.FROZEN for process in self.processes)
        return self.now < self._lasts_until or bool(self._hidden) or bool(self._votes_cut) or frozen

    def last_until(self, when: float) -> None:
        """Note that a fault lasts until a time."""
        self._lasts_until = max(self._lasts_until, when)

    async def rest(self, phase: str, text: str = "", *, number: int | None = None) -> None:
        """Wait until the world is at rest, and note its state."""
        index = len(self.steps) if number is None else number - 1
        if phase == RestPhase.FAULTS_OVER:
            # a scenario that was cut short stays as it was; one that failed had fewer steps than the reference
            index = len(self.steps) - 1 if self._is_cut else max(index, len(self.expected) - 1)
            while self.has_lasting_faults:
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
        patience = max(PATIENCE, self.longest_requeue * 1.5) if self.has_meddled else PATIENCE
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
        if requester.get()[0] == "user":
            self._backup = self.server.storage.backup()
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
        for hidden, held in list(self._hidden.items()):
            if held == target:
                self._unhide(hidden)
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
            self.apply(fault, process)
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

    # -- faults ------------------------------------------------------------------------------------------------

    def apply(self, fault: Fault, process: Process) -> None:
        """Do what a fault of the server, the network or a whole process asks for; others are done where they happen."""
        match fault.kind:
            case FaultKind.CRASH:
                process.kill()
            case FaultKind.STALE:
                self._stale[process.name] = self.now + fault.seconds
                self.last_until(self._stale[process.name])
            case FaultKind.LOSE_LEADERSHIP:
                self.cut_votes(process)
            case FaultKind.TEAR:
                process.link.tear()
            case FaultKind.RESTART_SERVER:
                self.restart_server()
            case FaultKind.RESTORE_BACKUP:
                self.restore_backup()
            case FaultKind.COMPACT:
                self.compact()
            case FaultKind.JUMP_CLOCK:
                self.jump_clock(timedelta(seconds=fault.seconds))
            case FaultKind.FREEZE if fault.point.occasion is not Occasion.WRITE:
                process.freeze(fault.seconds)

    async def apply_at_step(self, fault: Fault) -> None:
        """Do what a fault at a step of the scenario asks for."""
        self.touch()
        if fault.kind is FaultKind.TIME_TRAVEL:
            for process in self.processes:
                process.kill(behind=self.behind())
        elif self.on_step_fault is not None and fault.kind in MEDDLING:
            self.has_meddled = True
            await self.on_step_fault(fault)
        else:
            for process in self.processes[:1] if fault.kind in OF_ONE else self.processes:
                self.apply(fault, process)
                if fault.kind in OF_WORLD:
                    break

    def behind(self) -> tuple[int, float]:
        """Return the version and the seconds of a server that is behind: its state before the current step."""
        self.last_until(self.now + BEHIND_FOR + RESTART_AFTER)
        return self._version_at_rest, BEHIND_FOR

    def stale_until(self, process: Process) -> float:
        """Return the time until which no event reaches a process."""
        return self._stale.get(process.name, 0.0)

    def compact(self) -> None:
        """Break all watches and drop the server's history, so that they cannot resume."""
        for process in self.processes:
            if process.is_alive:
                process.link.tear()
        self.server.compact()

    def restart_server(self, seconds: float = 5.0) -> None:
        """Let the API server be away for some seconds; it keeps its objects, and loses its history for watches."""
        self.last_until(self.now + seconds)
        for process in self.processes:
            if process.is_alive:
                process.link.cut()
                self.call_later(seconds, process.link.heal)
        self.server.compact()

    def restore_backup(self, seconds: float = 5.0) -> None:
        """Let the API server come back with its objects as they were after the last write of the user."""
        self.restart_server(seconds)
        with self.acting_as_user():
            self.server.storage.restore(self._backup)

    def jump_clock(self, by: timedelta) -> None:
        """Set the wall clock of all processes of the operator forward, or back."""
        skew = simulation_loop().skew
        for process in self.processes:
            name = process.context_name
            skew[name] = skew.get(name, timedelta(0)) + by

    def hide(self, process: Process, target: ObjectId) -> None:
        """Keep a process from watching a resource until an object has changed again; then it has to list."""
        key = process.name, target.resource
        self._hidden[key] = target
        self.call_later(HIDDEN_FOR, lambda: self._unhide(key))

    def _unhide(self, key: tuple[str, str]) -> None:
        if self._hidden.pop(key, None) is not None:
            plural, _, group = key[1].partition(".")
            self.server.storage.collection(group, plural).compact(self.server.storage.version)

    def raise_if_hidden(self, resource: str, process: Process, request: HttpRequest) -> None:
        """Refuse a watch of a resource that is hidden from a process.

        Raises:
            ConnectionFailed: It is hidden.
        """
        if (process.name, resource) in self._hidden:
            raise ConnectionFailed(f"simulation: no connection for {request}")

    # -- leadership --------------------------------------------------------------------------------------------

    def holder_of_lease(self) -> str:
        """Return the holder that the operator's Lease names, or ""."""
        stored = self.server.storage.collection("coordination.k8s.io", "leases").find("default", LEASE)
        return "" if stored is None else str(stored.decode()["spec"].get("holderIdentity") or "")

    def cut_votes(self, process: Process) -> None:
        """Keep a process from renewing its Lease until another one holds it, or for two minutes."""
        self._votes_cut.add(process.name)
        self.call_later(120.0, lambda: self._votes_cut.discard(process.name))

    def is_lease_link_cut(self, process: Process) -> bool:
        """Return whether a process cannot reach the Lease."""
        if process.name in self._votes_cut and self.holder_of_lease() not in ("", process.name):
            self._votes_cut.discard(process.name)
        return process.name in self._votes_cut

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

OF_ONE = frozenset({FaultKind.LOSE_LEADERSHIP, FaultKind.FREEZE})
OF_WORLD = frozenset({FaultKind.RESTART_SERVER, FaultKind.RESTORE_BACKUP, FaultKind.COMPACT, FaultKind.JUMP_CLOCK})
