"""One simulated ring: replicas and faults chosen by a seed, with invariants checked throughout.

Each replica is a `ShardMember` with one controller's queue, shard and workers. Its reconciles last a while and write.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

from pyctrl.controller import SLOTS, Request
from pyctrl.manager import Sharding
from pyctrl.simulation import Network
from pyctrl.simulation._loop import SimulationLoop, context_of, simulation_loop
from pyctrl.simulation._network import NetworkLink
from tests.simulation._lease_server import Connection, LeaseServer
from tests.simulation._ring_replica import KEYS, REQUEST_SECONDS, Replica
from tests.simulation._trace import HistoryFailed, Trace

TIMES = ((15, 10, 2), (15, 10, 2), (6, 4, 1), (30, 12, 5), (3, 2, 1))
HANDOVERS = (0, 1, 5, 10)
TICK = 0.25  # seconds between two checks
FATES = (3, 14)


def live(seed: int) -> RingOutcome:
    """Run the ring of a seed.

    Raises:
        HistoryFailed: an invariant was violated.
    """
    trace = Trace()
    try:
        with _quiet(), asyncio.Runner(loop_factory=SimulationLoop) as runner:
            return runner.run(RingHistory(Random(seed), trace).run())
    except Exception as problem:
        raise HistoryFailed(seed, problem, trace) from problem


@contextmanager
def _quiet() -> Iterator[None]:
    """Discard the logs of a thousand rings."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


@dataclass(frozen=True)
class RingOutcome:
    """The result of a successful history."""

    trace: Trace
    #: Reconciles, slots that were taken, runs that were cancelled, and writes that were refused.
    runs: int
    taken: int
    cancelled: int
    refused: int
    #: The longest time, in leases and hand-overs, for which a slot had no replica although all was well.
    longest_gap: float


class Overlap(AssertionError):
    """Raised when two replicas may have worked on one key at the same time."""


class RingHistory:
    """The replicas and the faults that affect them."""

    def __init__(self, random: Random, trace: Trace) -> None:
        self._random, self._trace = random, trace
        self._server = LeaseServer()
        self._server.written = self._check_order
        self._began: dict[str, tuple[str, float]] = {}
        self._names = 0
        self._dead: list[Replica] = []
        self._broken: AssertionError | None = None
        self._times = random.choice(TIMES)
        self._handover = random.choice(HANDOVERS)
        self._gentle = random.random() < 0.3  # only crashes, starts and stops: then no slot is free for long
        self._gap_since: dict[int, float] = {}
        self._longest_gap = 0.0
        self._stops: list[tuple[str, asyncio.Task[None]]] = []
        self._replicas = [self._replica() for _ in range(random.choice((1, 2, 2, 3, 4, 5)))]

    async def run(self) -> RingOutcome:
        """Inject faults, then stop them, and check that each slot has one replica, and the right one."""
        watching = asyncio.get_running_loop().create_task(self._watch())
        try:
            for replica in self._replicas:
                replica.start()
            await self._or_watch(watching, self._suffer())
            await self._or_watch(watching, self._recover())
            await self._or_watch(watching, self._move())
        finally:
            watching.cancel()
            await self._end()
        everybody = (*self._replicas, *self._dead)
        return RingOutcome(
            self._trace,
            runs=sum(each.runs for each in everybody),
            taken=sum(each.taken for each in everybody),
            cancelled=sum(each.cancelled for each in everybody),
            refused=sum(each.refused for each in everybody),
            longest_gap=self._longest_gap,
        )

    async def _or_watch(self, watching: asyncio.Task[None], story: Coroutine[None, None, None]) -> None:
        telling = asyncio.get_running_loop().create_task(story)
        await asyncio.wait({watching, telling}, return_when=asyncio.FIRST_COMPLETED)
        telling.cancel()
        await (watching if watching.done() else telling)

    async def _watch(self) -> None:
        while self._broken is None:
            await asyncio.sleep(TICK)
            self._check()
            if self._gentle:
                self._check_gaps()
        raise self._broken

    def _check(self) -> None:
        acting: dict[Request, str] = {}
        for replica in self._replicas:
            for request in replica.acts_on():
                if (other := acting.setdefault(request, replica.name)) != replica.name and self._broken is None:
                    self._broken = Overlap(f"{other} and {replica.name} work on {request} at the same time")
                    self._trace.say(str(self._broken))

    def _check_order(self, written: dict[str, Any]) -> None:
        """Check that the server executes a write before another replica begins, while its Lease protects it."""
        name, data = written["metadata"]["name"], written["data"]
        other, began = self._began.get(name, ("", 0.0))
        is_late = other != data["who"] and began > float(data["sent"])
        if is_late and asyncio.get_running_loop().time() < float(data["until"]) and self._broken is None:
            self._broken = Overlap(f"a write of {data['who']} to {name} comes after {other} has begun with it")
            self._trace.say(str(self._broken))

    @property
    def _bound(self) -> float:
        """How long a slot may be without a replica: a lease, a hand-over, and the time to notice both."""
        lease, _renew, retry = self._times
        noticing = 2 * 1.1 * retry + 1.5  # two lists, and cleanup and latency
        return lease + self._handover + noticing

    def _check_gaps(self) -> None:
        now = asyncio.get_running_loop().time()
        taken = 0
        for replica in self._replicas:
            taken |= replica.takes()
        if not any(replica.is_available for replica in self._replicas):
            self._gap_since.clear()  # no replica could take them
        for slot in range(0, SLOTS, 16):
            if taken >> slot & 1:
                self._gap_since.pop(slot, None)
                continue
            gap = now - self._gap_since.setdefault(slot, now)
            self._longest_gap = max(self._longest_gap, gap / self._bound)

    def _replica(self) -> Replica:
        random, self._names = self._random, self._names + 1
        lease, renew, retry = (timedelta(seconds=s) for s in self._times)
        name = f"r{self._names}"
        return Replica(
            name,
            Connection(NetworkLink(name, self._server, Network(), random)),
            random,
            Sharding(
                name="op",
                namespace="default",
                lease_duration=lease,
                renew_deadline=renew,
                retry_period=retry,
                handover_timeout=timedelta(seconds=self._handover),
                release_on_stop=random.random() < 0.7,
            ),
            self._trace,
            self._check,
            began=self._began,
        )

    # --- with faults ---

    async def _suffer(self) -> None:
        random, loop = self._random, simulation_loop()
        for replica in self._replicas:
            loop.skew[replica.name] = timedelta(seconds=random.uniform(-1e6, 1e6))
        for _ in range(random.randint(*FATES)):
            replica = random.choice(self._replicas)
            gentle = [self._stop, self._kill, self._join, self._join]
            rough = [
                self._cut,
                self._cut,
                self._slow,
                self._reorder,
                self._lossy,
                self._heal,
                self._stand_still,
                self._edit,
            ]
            random.choice(gentle if self._gentle else [*gentle, *rough])(replica)
            pauses = (self._bound,) if self._gentle else (0.1, 1.0, 5.0, 20.0, 40.0)
            await asyncio.sleep(random.choice(pauses) * (1 if self._gentle else random.random()))

    def _cut(self, replica: Replica) -> None:
        replica.link.is_cut, replica.link.is_silent = True, self._random.random() < 0.5
        self._trace.say(f"{replica.name} is cut off, silent={replica.link.is_silent}")

    def _slow(self, replica: Replica) -> None:
        replica.link.slowness = self._random.choice((0.1, 1.0, 4.0, 9.0)) * self._random.random()
        self._trace.say(f"{replica.name} is slow: {replica.link.slowness:.2f}")

    def _reorder(self, replica: Replica) -> None:
        replica.link.network = Network(latency=self._random.choice((0.1, 1.0, 4.0)))
        self._trace.say(f"messages of {replica.name} take up to {replica.link.network.latency} s each")

    def _lossy(self, replica: Replica) -> None:
        link, random = replica.link, self._random
        link.request_loss, link.loss, link.is_silent = random.random(), random.random(), random.random() < 0.5
        self._trace.say(f"{replica.name} loses {link.request_loss:.2f} and {link.loss:.2f}")

    def _heal(self, replica: Replica) -> None:
        replica.link.heal()
        replica.link.network = Network()
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
        member = replica.member
        if member is not None and (lease := self._server.leases.get(member._lease)):
            labels = {**lease["metadata"]["labels"], "edited": replica.name}
            self._server.keep(member._lease, {**lease, "metadata": {**lease["metadata"], "labels": labels}})
            self._trace.say(f"a client labels the lease of {replica.name}")

    def _stop(self, replica: Replica) -> None:
        if replica.member is not None and not simulation_loop().is_frozen(replica.name):
            self._trace.say(f"{replica.name} is asked to stop")
            stop = asyncio.get_running_loop().create_task(replica.stop(), context=context_of(replica.name))
            self._stops.append((replica.name, stop))

    def _kill(self, replica: Replica) -> None:
        self._trace.say(f"{replica.name} is killed")
        replica.is_dead, replica.link.is_cut = True, True
        simulation_loop().freeze(replica.name)
        self._replicas.remove(replica)
        self._dead.append(replica)
        if not self._replicas:
            self._join(replica)

    def _join(self, _replica: Replica) -> None:
        if len(self._replicas) < 7:
            born = self._replica()
            self._trace.say(f"{born.name} starts")
            simulation_loop().skew[born.name] = timedelta(0)
            self._replicas.append(born)
            born.start()

    # --- without faults ---

    async def _recover(self) -> None:
        self._trace.say("all is well from now on")
        for replica in self._replicas:
            simulation_loop().thaw(replica.name)
            self._heal(replica)
        if stops := [stop for name, stop in self._stops if name in {each.name for each in self._replicas}]:
            await asyncio.wait(stops)
        await asyncio.sleep(10)  # processes that were stopped have started again
        async with asyncio.timeout(REQUEST_SECONDS + 5 + 3 * self._bound):
            while not self._is_divided():
                await asyncio.sleep(TICK)
        begun = asyncio.get_running_loop().time()
        await asyncio.sleep(6.0)
        acted = sum(len([at for at in each.connection.acts if at >= begun]) for each in self._replicas)
        assert acted > len(KEYS) / 2, f"hardly any key is worked on: {acted}"

    def _is_divided(self) -> bool:
        """Return whether each slot has exactly one replica, and each replica has slots."""
        known = {replica.member._lease for replica in self._replicas if replica.member is not None}
        if any(name not in known and lease["spec"]["holderIdentity"] for name, lease in self._server.leases.items()):
            return False  # that of a dead replica has yet to expire
        union, total = 0, 0
        for replica in self._replicas:
            union |= replica.takes()
            total += replica.takes().bit_count()
        return union.bit_count() == SLOTS == total and all(replica.takes() for replica in self._replicas)

    async def _move(self) -> None:
        """One replica joins, and one leaves: only their slots move, and no more than their share."""
        if self._random.random() < 0.5 and len(self._replicas) > 1:
            await self._expect_movement(self._random.choice(self._replicas), "leaves")
        else:
            self._join(self._replicas[0])
            await self._expect_movement(self._replicas[-1], "joins")

    async def _expect_movement(self, mover: Replica, what: str) -> None:
        others = [replica for replica in self._replicas if replica is not mover]
        before = {replica.name: replica.takes() for replica in others}
        count = len(self._replicas)
        mine = mover.takes()
        if what == "leaves":
            self._kill(mover)
        async with asyncio.timeout(REQUEST_SECONDS + 3 * self._bound):
            while not self._is_divided():
                await asyncio.sleep(TICK)
        moved = mine if what == "leaves" else mover.takes()
        for replica in others:
            changed = before[replica.name] ^ replica.takes()
            assert not changed & ~moved, f"slots moved between others when {mover.name} {what}"
        limit = SLOTS / count * (1.2 if count <= 5 else 1.4)
        assert moved.bit_count() <= limit, f"{moved.bit_count()} slots moved when one of {count} {what}"

    async def _end(self) -> None:
        loop = simulation_loop()
        for replica in (*self._replicas, *self._dead):
            replica.is_dead = True
            loop.thaw(replica.name)
            replica.task.cancel()
        for _name, stop in self._stops:
            stop.cancel()
        tasks = [replica.task for replica in (*self._replicas, *self._dead)]
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result
