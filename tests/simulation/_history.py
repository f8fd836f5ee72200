"""One simulated history: cluster, operator and user with faults chosen by a seed, and the invariants at its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import yaml

from pyctrl.api import ObjectMeta, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import Namespace
from pyctrl.testing import Answered, ConnectionRefused, Rule, Silent, run_virtual
from pyctrl.testing._loop.watched_loop import no_leftovers
from tests.simulation._births import Births
from tests.simulation._flock import definition
from tests.simulation._operator import NAMESPACES, Operator
from tests.simulation._trace import Trace, TracedRandomFaults
from tests.simulation._user import User
from tests.simulation._views import check_views

DEFINITION = (
    Path(__file__).parents[2] / "examples" / "podset" / "config" / "crd" / "bases" / "apps.jicki.cn_podsets.yaml"
)

# Seconds without faults until all is well. A watch that fell silent is found dead after 90, a list after 10; then
# there may be 30 of backoff; a retry of the queue waits for as long as the faults lasted at most.
CONVERGES_WITHIN = 200
QUIET_FOR = 600
STEP = 5
WRITTEN = (
    *("/api/v1/configmaps", "/api/v1/pods", "/apis/apps/v1/deployments", "/apis/apps/v1/replicasets"),
    *("/apis/apps.jicki.cn/v1alpha1/podsets", "/apis/sim.example.com/v1/flocks", "/api/v1/namespaces"),
)
BUSIEST_SECOND = 150
BUSIEST_MINUTE = 600

EPISODES = (3, 6)
ACTIONS = (1, 8)
SHARES = (0.0, 0.05, 0.2, 0.5, 0.9)
PAUSES = (0.0, 0.0, 0.01, 0.1, 0.5, 2.0, 10.0)
OUTAGES = (
    Rule(ConnectionRefused(), times=None),
    Rule(Answered.unavailable(), times=None),
    Rule(Answered.too_many_requests(), times=None),
    Rule(Silent(), times=None),
)


@dataclass(frozen=True)
class Outcome:
    """The result of a successful history."""

    trace: Trace
    converged_after: float
    version: int


class HistoryFailed(AssertionError):
    """Raised with the seed and the trace of a failed history."""

    def __init__(self, seed: int, problem: BaseException, trace: Trace) -> None:
        lines = "\n".join(trace.shown())
        super().__init__(f"history {seed}: {problem!r}\n{lines}\nhistory {seed}: {problem}")


def live(seed: int) -> Outcome:
    """Run the history of a seed.

    Raises:
        HistoryFailed: an invariant was violated.
    """
    trace = Trace()
    try:
        with _no_defects() as defects:
            outcome = run_virtual(_History(Random(seed), trace).run())
            assert not defects, f"logged as defects: {defects}"
            return outcome
    except Exception as problem:
        raise HistoryFailed(seed, problem, trace) from problem


class _History:
    def __init__(self, random: Random, trace: Trace) -> None:
        self._random, self._trace = random, trace
        self._random_faults = TracedRandomFaults(random, trace)

    async def run(self) -> Outcome:
        random, trace = self._random, self._trace
        server = ApiServer(random=random, history=random.choice((10, 50, 1000)))
        async with no_leftovers(), Cluster(random=random, server=server) as cluster, cluster.client() as client:
            await _furnish(client)
            self._server = server
            self._births = Births(cluster, random, trace)
            self._operator = Operator(cluster, random, self._random_faults, self._births, trace)
            self._user = User(client, cluster, random, trace)
            await self._suffer()
            converged_after = await self._converge()
            await self._stay_quiet()
            self._check_requests()
            await check_views(self._operator.running, self._user)
            await self._operator.stop()
            return Outcome(trace, converged_after, server.storage.version)

    # --- with faults ---

    async def _suffer(self) -> None:
        self._operator.start()
        for _ in range(self._random.randint(*EPISODES)):
            self._change_faults()
            for _ in range(self._random.randint(*ACTIONS)):
                await self._user.act()
                await self._pause()
            if self._random.random() < 0.3:
                await self._lose_history()
            await self._meet_fate()

    def _change_faults(self) -> None:
        self._random_faults.share = self._random.choice(SHARES)
        outage = self._random.choice(OUTAGES) if self._random.random() < 0.2 else None
        self._trace.say(f"faults: {self._random_faults.share}, {outage.fault if outage else 'no outage'}")
        self._operator.outage(outage)

    async def _meet_fate(self) -> None:
        self._operator.look_after()
        fate = self._random.random()
        if fate < 0.3:
            await self._operator.kill()
        elif fate < 0.4:
            await self._operator.stop()
        await self._pause()
        if self._random.random() < 0.8:
            self._operator.start()

    async def _lose_history(self) -> None:
        """Expire the watch history, so that deletions can only be detected by absence."""
        self._operator.tear()
        for _ in range(self._random.randint(1, 3)):
            await self._user.act()
        self._trace.say("etcd compacts")
        self._server.compact()

    async def _pause(self) -> None:
        await asyncio.sleep(self._random.choice(PAUSES) * self._random.random())

    # --- without faults ---

    async def _converge(self) -> float:
        self._random_faults.share = 0.0
        self._births.end()
        self._operator.outage(None)
        self._operator.start()
        self._trace.say("faults: none from now on")
        well_since = 0
        for waited in range(STEP, CONVERGES_WITHIN + STEP, STEP):
            await asyncio.sleep(STEP)
            self._operator.look_after()
            if self._user.complaints():
                well_since = waited
        complaints = self._user.complaints()
        assert not complaints, f"not well after {CONVERGES_WITHIN} s: {'; '.join(complaints)}"
        self._trace.say(f"all is well since {CONVERGES_WITHIN - well_since} s")
        return well_since

    async def _stay_quiet(self) -> None:
        await asyncio.sleep(STEP)  # lets the statuses of Deployments settle, which are not checked
        before = self._versions()
        await asyncio.sleep(QUIET_FOR)
        assert self._versions() == before, "somebody still writes although all is well"
        assert not self._user.complaints(), "it was well and is no more"

    def _versions(self) -> set[tuple[str, str]]:
        """Return uid and version of the objects that operator, user and controllers write; nodes have heartbeats."""
        found = (one["metadata"] for path in WRITTEN for one in self._user.items(path))
        return {(metadata["uid"], metadata["resourceVersion"]) for metadata in found}

    def _check_requests(self) -> None:
        second, minute = self._trace.busiest(1), self._trace.busiest(60)
        assert second <= BUSIEST_SECOND, f"{second} requests in one second"
        assert minute <= BUSIEST_MINUTE, f"{minute} requests in one minute"


async def _furnish(client: Client) -> None:
    await client.create(Namespace(metadata=ObjectMeta(name=NAMESPACES[1])))
    for document in (yaml.safe_load(DEFINITION.read_text()), definition()):
        await client.create(Unstructured.from_wire(document))


#: What is no defect: the server and the network are bad on purpose, and a process is killed by cancelling it twice.
HONEST_ERRORS = (
    "Reconciler error:",
    "Could not wait for Cache to sync",
    "error dropped during shutdown: cancelled runnables that had not stopped",
)


@contextmanager
def _no_defects() -> Iterator[list[str]]:
    """Collect logged errors, except reconciles that failed because of injected faults."""
    defects: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.exc_info is not None or not record.getMessage().startswith(HONEST_ERRORS):
                defects.append(f"{record.getMessage()}: {record.exc_info and record.exc_info[1]!r}")

    handler, logger = Handler(logging.ERROR), logging.getLogger("pyctrl")
    logger.addHandler(handler)
    propagates, logger.propagate = logger.propagate, False
    try:
        yield defects
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates
