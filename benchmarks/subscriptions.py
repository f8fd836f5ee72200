"""Cost of subscriptions: memory, events, reconciles, and the change of an object that many requests have read.

Each of the requests reads two Secrets that no other reads, and one of ten that all share. The objects come from a
server in the process that keeps none of them.

- Memory: the difference between a process with subscriptions and one whose controller only caches the Secrets, by
  tracemalloc (what Python has requested) and by resident memory, divided by the subscriptions. Each process is new.
- Events: CPU time from the chunk of the watch to the queue, while the only worker waits. Each event changes another
  unshared Secret. Reconciles: CPU time of the runs that these events cause. Ways take turns; medians of the rounds.
- A storm: one event of a Secret that a tenth of the requests has read. "Busy" is the longest time for which the event
  loop does not run another task; the rest is what the workers do until all requests have run.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import tracemalloc
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from _meter import cpu_seconds
from _subscribers import READS, SHARED, Running, Way, own_secret, running, shared_secret

MAX_BYTES = 200  # of a subscription
MAX_EVENT = 1.5  # of the event with the cheapest handler
PAGE = 4096
SETTLING = 0.2  # seconds until the last worker is idle


# --- memory ---


async def memory(way: Way, requests: int, *, is_traced: bool) -> float:
    """Return the bytes of this process once all requests have run."""
    if is_traced:
        tracemalloc.start()
    async with running(way, requests):
        await asyncio.sleep(SETTLING)
        gc.collect()
        if is_traced:
            return tracemalloc.get_traced_memory()[0]
        return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def memory_of_child(way: Way, requests: int, *, is_traced: bool) -> float:
    """Return the same of a new process."""
    job = json.dumps({"way": way.name, "requests": requests, "is_traced": is_traced})
    ran = subprocess.run([sys.executable, __file__, "--child", job], stdout=subprocess.PIPE, text=True, check=True)
    return float(ran.stdout)


def bytes_each(requests: int, rounds: int, *, is_traced: bool) -> float:
    """Return the bytes of one subscription."""
    used: dict[Way, list[float]] = {Way.NONE: [], Way.SUBSCRIPTIONS: []}
    for _ in range(rounds):
        for way, values in used.items():
            values.append(memory_of_child(way, requests, is_traced=is_traced))
    return (median(used[Way.SUBSCRIPTIONS]) - median(used[Way.NONE])) / (requests * READS)


# --- events and reconciles ---


@dataclass
class Costs:
    """CPU seconds of one event and of one reconcile, in each round."""

    events: list[float]
    reconciles: list[float]


async def one_round(made: Running, numbers: range) -> tuple[float, float]:
    """Change one Secret of each of these requests. Return the CPU seconds of an event, and of a reconcile."""
    made.reconciler.gate.clear()
    adds, runs = made.adds, made.reconciler.runs
    gc.collect()
    begun = cpu_seconds()
    made.server.change(own_secret(number, 0) for number in numbers)
    changed = cpu_seconds()
    await made.added(adds + len(numbers))
    queued = cpu_seconds()
    made.reconciler.gate.set()
    await made.ran(runs + len(numbers))
    ran = cpu_seconds()
    assert changed >= begun
    return (queued - changed) / len(numbers), (ran - queued) / len(numbers)


async def compare(ways: list[Way], requests: int, events: int, rounds: int) -> dict[Way, Costs]:
    """Measure ways in turns, all in this process. The first round does not count."""
    costs = {way: Costs([], []) for way in ways}
    async with AsyncExitStack() as stack:
        made = {way: await stack.enter_async_context(running(way, requests)) for way in ways}
        gc.collect()
        gc.freeze()
        for number in range(rounds + 1):
            for way in ways:
                first = number * events % max(1, requests - events)
                event, reconcile = await one_round(made[way], range(first, first + events))
                if number:
                    costs[way].events.append(event)
                    costs[way].reconciles.append(reconcile)
    return costs


# --- storms ---


@dataclass
class Storm:
    """What one change of a shared Secret does; seconds by the event loop's clock, except for CPU."""

    readers: int
    busy: float
    enqueued: float
    cpu: float  # until all are in the queue
    rate: float  # reconciles a second


async def storm(requests: int) -> Storm:
    """Change a Secret that a tenth of the requests has read."""
    loop = asyncio.get_running_loop()
    async with running(Way.SUBSCRIPTIONS, requests) as made:
        await asyncio.sleep(SETTLING)
        gc.collect()
        gc.freeze()
        readers = len(range(0, requests, SHARED))
        adds, runs, longest = made.adds, made.reconciler.runs, 0.0
        begun = before = loop.time()
        cpu = cpu_seconds()
        made.server.change([shared_secret(0)])
        while made.adds < adds + readers:
            await asyncio.sleep(0)
            longest, before = max(longest, loop.time() - before), loop.time()
        enqueued, spent = loop.time() - begun, cpu_seconds() - cpu
        await made.ran(runs + readers)
        return Storm(readers, longest, enqueued, spent, readers / (loop.time() - begun))


# --- the command ---


def _show_memory(requests: int, rounds: int) -> bool:
    traced = bytes_each(requests, 1, is_traced=True)
    resident = bytes_each(requests, rounds, is_traced=False)
    print(
        f"bytes of a subscription, {requests:,} requests of {READS} reads: {traced:.0f} traced, {resident:.0f} resident"
    )
    return max(traced, resident) <= MAX_BYTES


def _show_costs(costs: dict[Way, Costs]) -> bool:
    print("| changes are found by | event to queue, µs | ratio | reconcile with 3 reads, µs | ratio |")
    print("|---|---|---|---|---|")
    bare = costs[Way.NAME]
    for way, cost in costs.items():
        event, reconcile = median(cost.events), median(cost.reconciles)
        ratios = event / median(bare.events), reconcile / median(bare.reconciles)
        print(f"| {way.value} | {event * 1e6:.1f} | {ratios[0]:.2f} | {reconcile * 1e6:.1f} | {ratios[1]:.2f} |")
    return median(costs[Way.SUBSCRIPTIONS].events) <= MAX_EVENT * median(bare.events)


def _show_storm(found: Storm) -> None:
    print(
        f"a change that {found.readers:,} requests have read: "
        f"the event loop is busy for at most {found.busy * 1e3:.0f} ms, "
        f"all are in the queue after {found.enqueued * 1e3:.0f} ms ({found.cpu * 1e3:.0f} ms CPU), "
        f"and {found.rate:,.0f} a second run"
    )


def main() -> int:
    """Measure, print, and fail if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--events", type=int, default=5_000, help="in a round; default: %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="that count; default: %(default)s")
    parser.add_argument("--only", choices=["memory", "costs", "storm"], nargs="*", default=["memory", "costs", "storm"])
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        job = json.loads(args.child)
        print(asyncio.run(memory(Way[job["way"]], job["requests"], is_traced=job["is_traced"])))
        return 0
    is_met = True
    if "costs" in args.only:
        ways = [Way.NAME, Way.INDEX, Way.SUBSCRIPTIONS]
        is_met &= _show_costs(asyncio.run(compare(ways, args.requests, args.events, args.rounds)))
    if "storm" in args.only:
        _show_storm(asyncio.run(storm(args.requests)))
    if "memory" in args.only:
        is_met &= _show_memory(args.requests, min(args.rounds, 3))
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())
