"""One simulated election: replicas and faults chosen by a seed, with invariants checked throughout."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client
from pyctrl.errors import GracePeriodExceeded, LeadershipLost, NotLeading, PyctrlError
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import LeaderElection, Manager, OnLoss, Preflight
from pyctrl.manager._election.lease_lock import current_moment
from pyctrl.simulation import Network
from pyctrl.simulation._loop import SimulationLoop, context_of, simulation_loop
from pyctrl.simulation._network import NetworkLink
from tests.simulation._lease_server import Connection, LeaseServer
from tests.simulation._trace import HistoryFailed, Trace

LEASE = Key("default", "op")
TIMES = ((15, 10, 2), (15, 10, 2), (6, 4, 1), (30, 12, 5), (3, 2, 1))
TICK = 0.5  # seconds between two checks of the acting replicas
LEADS_WITHIN = 90  # seconds without faults: the longest lease plus the longest retry interval
FATES = (3, 14)
AFTERMATH = 20.0  # seconds in which requests that were lost during faults are still awaited
CALM_AT_END = 10.0


def live(seed: int) -> RunOutcome:
    """Run the election of a seed.

    Raises:
        HistoryFailed: an invariant was violated.
    """
    trace = Trace()
    try:
        with _quiet(), asyncio.Runner(loop_factory=SimulationLoop) as runner:
            return runner.run(Election(Random(seed), trace).run())
    except Exception as problem:
        raise HistoryFailed(seed, problem, trace) from problem


@contextmanager
def _quiet() -> Iterator[None]:
    """Discard the logs of a thousand elections."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


@dataclass(frozen=True)
class RunOutcome:
    """The result of a successful election."""

    trace: Trace
    terms: int
    refused: int


class TwoActed(AssertionError):
    """Raised when two replicas may have acted at the same time."""


@dataclass
class Replica:
    """A candidate process, restarted whenever it ends."""

    name: str
    connection: Connection
    random: Random
    options: LeaderElection
    trace: Trace
    check: Callable[[], None]
    manager: Manager | None = None
    is_working: bool = False
    is_dead: bool = False
    refused: int = 0
    terms: int = 0
    task: asyncio.Task[None] = field(init=False)

    def start(self) -> None:
        """Start the process."""
        self.task = asyncio.get_running_loop().create_task(self._live(), context=context_of(self.name))

    @property
    def link(self) -> NetworkLink:
        """Its connection to the server."""
        return self.connection.link

    @property
    def acts(self) -> bool:
        """Return whether elected work runs and may write."""
        if not self.is_working or self.is_dead or self.manager is None or self.manager.elector is None:
            return False
        return self.manager.elector._candidate.may_act(context_of(self.name).run(current_moment))  # by its own clock

    async def _live(self) -> None:
        while not self.is_dead:
            async with Manager(
                client=Client(self.connection, random=self.random),
                leader_election=self.options,
                random=self.random,
                preflight=Preflight.OFF,
                grace_period=timedelta(seconds=self.random.choice((0, 3, 30))),
            ) as manager:
                self.manager = manager
                manager.add(self._work)
                with suppress(LeadershipLost, GracePeriodExceeded):
                    await manager.run(handle_signals=False)
            self.trace.say(f"{self.name} has ended")
            await asyncio.sleep(self.random.uniform(0, 5))

    async def _work(self) -> None:
        self.trace.say(f"{self.name} begins to work")
        self.is_working = True
        self.terms += 1
        self.check()
        try:
            while True:
                await self._act()
                await asyncio.sleep(self.random.uniform(0.5, 4.0))
        finally:
            with suppress(asyncio.CancelledError):  # cleanup may take a while
                await asyncio.sleep(self.random.choice((0, 0, 1)))
            self.is_working = False
            self.trace.say(f"{self.name} works no more")

    async def _act(self) -> None:
        assert self.manager is not None
        obj = ConfigMap(metadata=ObjectMeta(name="what", namespace="default"), data={"who": self.name})
        try:
            async with asyncio.timeout(5):
                await self.manager.live_client.create(obj)
        except NotLeading:
            self.refused += 1
        except (PyctrlError, TimeoutError):
            pass


class Election:
    """The replicas and the faults that affect them."""

    def __init__(self, random: Random, trace: Trace) -> None:
        self._random, self._trace = random, trace
        self._server = LeaseServer()
        self._names = 0
        #: Whether Leases may be deleted: then nobody may be born, who would not know of the one there was.
        self._deletes = random.random() < 0.2
        self._dead: list[Replica] = []
        self._broken: TwoActed | None = None
        self._replicas = [self._replica() for _ in range(random.choice((2, 2, 3)))]

    async def run(self) -> RunOutcome:
        """Inject faults, then stop them, and check that one replica leads."""
        watching = asyncio.get_running_loop().create_task(self._watch())
        try:
            for replica in self._replicas:
                replica.start()
            await self._or_watch(watching, self._suffer())
            await self._or_watch(watching, self._recover())
        finally:
            watching.cancel()
            await self._end()
        everybody = (*self._replicas, *self._dead)
        return RunOutcome(self._trace, sum(r.terms for r in everybody), sum(r.refused for r in everybody))

    async def _or_watch(self, watching: asyncio.Task[None], story: Coroutine[None, None, None]) -> None:
        telling = asyncio.get_running_loop().create_task(story)
        await asyncio.wait({watching, telling}, return_when=asyncio.FIRST_COMPLETED)
        telling.cancel()
        await (watching if watching.done() else telling)

    async def _watch(self) -> None:
        while self._broken is None:
            await asyncio.sleep(TICK)
            self._check()
        raise self._broken

    def _check(self) -> None:
        acting = [replica.name for replica in self._replicas if replica.acts]
        if len(acting) > 1 and self._broken is None:
            self._broken = TwoActed(f"{' and '.join(acting)} act at the same time")
            self._trace.say(str(self._broken))

    def _replica(self) -> Replica:
        random, self._names = self._random, self._names + 1
        times = TIMES[0] if self._deletes else random.choice(TIMES)  # the duration of a deleted lease is unknown
        lease, renew, retry = (timedelta(seconds=s) for s in times)
        name = f"r{self._names}"
        return Replica(
            name,
            Connection(NetworkLink(name, self._server, Network(), random)),
            random,
            LeaderElection(
                name=LEASE.name,
                namespace=LEASE.namespace,
                lease_duration=lease,
                renew_deadline=renew,
                retry_period=retry,
                release_on_stop=random.random() < 0.7,
                on_loss=OnLoss.CONTEND if self._deletes else random.choice(list(OnLoss)),
            ),
            self._trace,
            self._check,
        )

    # --- with faults ---

    async def _suffer(self) -> None:
        random, loop = self._random, simulation_loop()
        for replica in self._replicas:
            loop.skew[replica.name] = timedelta(seconds=random.uniform(-1e6, 1e6))
        for _ in range(random.randint(*FATES)):
            replica = random.choice(self._replicas)
            fates = [self._cut, self._cut, self._slow, self._lossy, self._heal, self._stand_still, self._edit]
            fates += [self._delete] if self._deletes else [self._stop, self._kill]
            random.choice(fates)(replica)
            await asyncio.sleep(random.choice((0.1, 1.0, 5.0, 20.0)) * random.random())

    def _cut(self, replica: Replica) -> None:
        replica.link.is_cut, replica.link.is_silent = True, self._random.random() < 0.5
        self._trace.say(f"{replica.name} is cut off, silent={replica.link.is_silent}")

    def _slow(self, replica: Replica) -> None:
        replica.link.slowness = self._random.choice((0.1, 1.0, 4.0, 9.0)) * self._random.random()
        self._trace.say(f"{replica.name} is slow: {replica.link.slowness:.2f}")

    def _lossy(self, replica: Replica) -> None:
        link, random = replica.link, self._random
        link.request_loss, link.loss, link.is_silent = (
            random.random(),
            random.random(),
            random.random() < 0.5,
        )
        self._trace.say(f"{replica.name} loses {link.request_loss:.2f} and {link.loss:.2f}")

    def _heal(self, replica: Replica) -> None:
        replica.link.heal()
        self._trace.say(f"{replica.name} is well")

    def _stand_still(self, replica: Replica) -> None:
        loop = simulation_loop()
        if not loop.is_frozen(replica.name):
            loop.freeze(replica.name)
            seconds = self._random.uniform(0.5, 40)
            self._trace.say(f"{replica.name} stands still for {seconds:.1f}")
            loop.call_later(seconds, self._go_on, loop, replica, context=context_of(""))

    def _go_on(self, loop: SimulationLoop, replica: Replica) -> None:
        self._trace.say(f"{replica.name} goes on")
        loop.thaw(replica.name)

    def _edit(self, replica: Replica) -> None:
        if lease := self._server.leases.get(LEASE.name):
            self._server.keep(LEASE.name, {**lease, "metadata": {**lease["metadata"], "labels": {"a": replica.name}}})
            self._trace.say("somebody labels the lease")

    def _delete(self, replica: Replica) -> None:
        everybody = [r.manager.elector for r in self._replicas if r.manager is not None]
        if len(everybody) == len(self._replicas) and all(e is not None and e._candidate.holder for e in everybody):
            self._server.leases.clear()
            self._trace.say("somebody deletes the lease")

    def _stop(self, replica: Replica) -> None:
        if replica.manager is not None and not simulation_loop().is_frozen(replica.name):
            self._trace.say(f"{replica.name} is told to stop")
            context_of(replica.name).run(replica.manager.ask_to_stop)

    def _kill(self, replica: Replica) -> None:
        self._trace.say(f"{replica.name} is killed")
        replica.is_dead, replica.link.is_cut = True, True
        simulation_loop().freeze(replica.name)
        born = self._replica()
        simulation_loop().skew[born.name] = timedelta(0)
        self._replicas.remove(replica)
        self._dead.append(replica)
        self._replicas.append(born)
        born.start()

    # --- without faults ---

    async def _recover(self) -> None:
        self._trace.say("all is well from now on")
        for replica in self._replicas:
            simulation_loop().thaw(replica.name)
            self._heal(replica)
        await asyncio.sleep(AFTERMATH)
        async with asyncio.timeout(LEADS_WITHIN):
            while not any(replica.acts for replica in self._replicas):
                await asyncio.sleep(TICK)
        begun = asyncio.get_running_loop().time()
        await asyncio.sleep(CALM_AT_END)
        acted = {replica.name: [at for at in replica.connection.acts if at >= begun] for replica in self._replicas}
        assert sum(map(len, acted.values())) >= CALM_AT_END / 5, f"hardly anybody acts: {acted}"

    async def _end(self) -> None:
        loop = simulation_loop()
        for replica in (*self._replicas, *self._dead):
            replica.is_dead = True
            loop.thaw(replica.name)
            replica.task.cancel()
        tasks = [replica.task for replica in (*self._replicas, *self._dead)]
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result
