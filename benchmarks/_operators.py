"""Work of whole operators, the PodSet operator of each peer: convergence, a restart, and latency.

Convergence and the restart after it run on the embedded API server with the controllers of a cluster and with pods that
stay Pending. Latency, and a restart with many objects, run on a server that only lists and writes events.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any, TypeVar

from _loop_driver import Driver, driving
from _loop_server import ROOT, Calls, PacedServer, converging, pacing, writes
from _peers import HERE, environment
from _process import PeerFailed, Process
from _works import Case, Numbers, Pace

RATES = (100, 1_000)  # events a second
T = TypeVar("T")
STEP, STILL = 0.2, 2.0  # seconds between two checks, and seconds without activity before an operator counts as idle
IDLE = 0.05  # of a core: an operator below this is idle


@dataclass(frozen=True)
class Operator:
    """How to start the operator of a peer, with a kubeconfig, repeatedly."""

    command: list[str]
    variables: Mapping[str, str]
    is_loud: bool

    def start(self, kubeconfig: Path, workers: int) -> Process:
        """Start the operator's process. `with` ends it."""
        variables = {**environment(), **self.variables, "KUBECONFIG": str(kubeconfig)}
        variables["PYTHONPATH"] = os.pathsep.join([variables["PYTHONPATH"], str(ROOT)])
        return Process([*self.command, "--workers", str(workers)], HERE, variables, is_loud=self.is_loud)


def run(case: Case, operator: Operator, pace: Pace) -> tuple[Numbers, dict[str, str]]:
    """Run the work of a case; return the measurements, and the versions of the operator's packages."""
    return asyncio.run(WORKS[case.work](case, operator, pace))


async def _limited(work: Awaitable[T], seconds: float) -> T:
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError as error:
        raise PeerFailed(f"it took more than {seconds:.0f} s") from error


async def _loop(case: Case, operator: Operator, pace: Pace) -> tuple[Numbers, dict[str, str]]:
    """Create all objects at once, wait until they have converged, and start the operator again."""
    with converging() as cluster:
        async with driving(cluster.url) as session:
            with operator.start(cluster.kubeconfig, case.workers) as process:
                await asyncio.to_thread(process.do, "start")
                await settled(process, cluster.calls, {})
                driver = Driver(session, case.size)
                numbers = await _limited(_converge(case, process, cluster.calls, driver), pace.patience)
        await asyncio.sleep(STEP)
        cluster.calls.take()
        again = replace(operator, variables={})  # a profile of the loop excludes the restart
        try:
            numbers |= await _limited(_restart(case, again, cluster.kubeconfig, cluster.calls), pace.restart)
        except PeerFailed as reason:
            raise PeerFailed(f"the restart after it: {reason}", numbers) from reason
    return numbers, dict(process.started.facts["versions"])


async def _converge(case: Case, process: Process, asks: Calls, driver: Driver) -> Numbers:
    calls: dict[str, int] = {}
    begun, cpu = time.monotonic(), process.cpu()
    await asyncio.gather(driver.create(case.objects), driver.wait_for_converged(case.objects))
    wall = time.monotonic() - begun
    _, spent = await settled(process, asks, calls)
    await asyncio.to_thread(process.do, "latencies")  # end of a profile of the loop
    return {
        "converge_cpu": (spent - cpu) / case.objects,
        "converge_wall": wall,
        "converge_calls": sum(calls.values()) / case.objects,
        "converge_writes": writes(calls) / case.objects,
        "converge_bytes": float(process.memory().peak),
        **{f"converge: {call}": float(count) for call, count in calls.items()},
    }


async def _restart(case: Case, operator: Operator, kubeconfig: Path, asks: Calls | PacedServer) -> Numbers:
    calls: dict[str, int] = {}
    begun = time.monotonic()
    with operator.start(kubeconfig, case.workers) as process:
        loaded = process.cpu()
        await asyncio.to_thread(process.do, "start")
        quiet, spent = await settled(process, asks, calls)
        await asyncio.to_thread(process.do, "latencies")  # end of a profile of the restart
        return {
            "restart_cpu": spent,
            "restart_object_cpu": (spent - loaded) / case.objects,
            "restart_wall": quiet - begun,
            "restart_calls": float(sum(calls.values())),
            "restart_writes": float(writes(calls)),
            "restart_bytes": float(process.memory().resident),
            **{f"restart: {call}": float(count) for call, count in calls.items()},
        }


async def _restart_many(case: Case, operator: Operator, pace: Pace) -> tuple[Numbers, dict[str, str]]:
    """Start with many objects that have already converged."""
    with pacing(case.objects) as server:
        return await _limited(_restart(case, operator, server.kubeconfig, server), pace.restart), {}


async def _latency(case: Case, operator: Operator, pace: Pace) -> tuple[Numbers, dict[str, str]]:
    """Write events at a fixed rate, and ask the operator for the age of each at its reconcile."""
    numbers: Numbers = {}
    with pacing(case.objects) as server, operator.start(server.kubeconfig, case.workers) as process:
        await asyncio.to_thread(process.do, "start")
        for rate in RATES:
            await settled(process, None, {})
            numbers |= await _limited(_at(rate, server, process, pace.writes), pace.patience)
        return numbers, dict(process.started.facts["versions"])


async def _at(rate: int, server: PacedServer, process: Process, seconds: float) -> Numbers:
    cpu, count = process.cpu(), int(rate * seconds)
    reached = await asyncio.to_thread(server.write, rate, seconds)
    _, spent = await settled(process, None, {})
    found = [each / 1e9 for each in (await asyncio.to_thread(process.do, "latencies")).facts["nanoseconds"]]
    if len(found) < 2:
        raise PeerFailed(f"{len(found)} of {count} writes were seen")
    return {
        f"latency_{rate}_median": median(found),
        f"latency_{rate}_99th": quantiles(found, n=100)[98],
        f"latency_{rate}_rate": reached,
        f"latency_{rate}_seen": len(found) / count,
        f"latency_{rate}_cpu": (spent - cpu) / count,
    }


async def settled(process: Process, asks: Calls | PacedServer | None, calls: dict[str, int]) -> tuple[float, float]:
    """Wait until the operator is idle; return the clock and its CPU seconds at the start of the idle time.

    Requests in the meantime are added to `calls`.
    """
    quiet_since, quiet_cpu = time.monotonic(), process.cpu()
    before = quiet_cpu
    while time.monotonic() < quiet_since + STILL:
        await asyncio.sleep(STEP)
        asked, cpu = asks.take() if asks else {}, process.cpu()
        for call, count in asked.items():
            calls[call] = calls.get(call, 0) + count
        if asked or cpu - before > IDLE * STEP:
            quiet_since, quiet_cpu = time.monotonic(), cpu
        before = cpu
    return quiet_since, quiet_cpu


WORKS: dict[str, Callable[[Case, Operator, Pace], Coroutine[Any, Any, tuple[Numbers, dict[str, str]]]]] = {
    "loop": _loop,
    "latency": _latency,
    "restart": _restart_many,
}
