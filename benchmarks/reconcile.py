"""Cost of a reconcile that does nothing: the queue and a worker alone, and with all observability.

Observability is metrics (histograms of the wait, the work and the reconcile; results; causes), the fields of log lines
(controller, object, id of the reconcile), and causes from the change to the reconcile. All of it is always on; "bare"
is without: the queue, a worker, and error handling. The numbers are CPU time of one process; the variants take turns,
and the median of the rounds counts. A first round does not count.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random
from statistics import median
from typing import Any, NoReturn, cast

from _meter import cpu_seconds

from pyctrl.api import GroupVersionKind, Key
from pyctrl.client import Config
from pyctrl.controller import ChangeCause, Controller, ControllerState, Queue, Reconciler, Request
from pyctrl.controller._permissions import PermissionTracker
from pyctrl.controller._reconcile_handler import ReconcileHandler
from pyctrl.controller._workers import Workers
from pyctrl.controller._workqueue.work_item import WorkItem
from pyctrl.errors import CommandFailed
from pyctrl.manager import Manager
from pyctrl.manager._servers.bind_address import BindAddress
from pyctrl.manager._servers.metrics import Metrics

TARGET = 1.6  # of the bare cost, at most
KIND = GroupVersionKind("apps", "v1", "Deployment")
Way = Callable[[int], Awaitable[float]]


class Nothing(Reconciler[object]):
    """Reconciles without doing anything."""

    async def reconcile(self, request: Request) -> None:
        """Do nothing."""


class Mute:
    """Discards measurements; also replaces histograms by priority."""

    def observe(self, value: float) -> None:
        """Discard a measurement."""

    def get(self, priority: int) -> Mute:
        """Return this object, which discards measurements."""
        return self


async def bare(count: int) -> float:
    """Reconcile with the same error handling, but no histogram, field or cause."""
    queue = Queue("bare")
    queue.waits, queue.works = cast(Any, Mute()), cast(Any, Mute())
    return await spent(queue, handler("bare")._attempt, count, with_causes=False)  # noqa: SLF001 - what `handle` surrounds


async def full(count: int) -> float:
    """Reconcile as a controller does."""
    return await spent(Queue("full"), handler("full").handle, count, with_causes=True)


def handler(name: str) -> ReconcileHandler:
    """Return the reconcile handler of a controller."""
    return ReconcileHandler(
        name, KIND, Nothing(), timeout=None, random=Random(1), permissions=PermissionTracker(lambda _request: None)
    )


async def spent(queue: Queue, work: Callable[[WorkItem], Awaitable[None]], count: int, *, with_causes: bool) -> float:
    """Return the CPU seconds of one reconcile: added to the queue, taken, done."""
    done = asyncio.Event()

    async def counted(item: WorkItem) -> None:
        await work(item)
        if item.request.name == last:
            done.set()

    keys = [Key("default", f"web-{number}") for number in range(count)]  # a change always has one
    last = keys[-1].name
    async with asyncio.TaskGroup() as group:
        begun = cpu_seconds()
        for key in keys:
            cause = ChangeCause(KIND, key, "updated", "12345") if with_causes else None
            queue.add(Request("default", key.name), cause=cause)
        Workers(queue.name, queue, counted, count=1).start(group)
        await done.wait()
        seconds = cpu_seconds() - begun
        queue.close()
    return seconds / count


async def scraped(controllers: int, times: int) -> float:
    """Return the CPU seconds of one scrape by Prometheus, of a manager with this many controllers."""
    async with Manager(Config.in_process(_NoServer())) as manager:
        for number in range(controllers):
            controller = Controller(f"controller-{number}", Nothing(), ())
            manager.add(controller)
            controller._stage = ControllerState.RUNNING  # noqa: SLF001
        metrics = Metrics(manager.collect_metrics, BindAddress(None, 0))
        begun = cpu_seconds()
        for _ in range(times):
            metrics.text()
        return (cpu_seconds() - begun) / times


class _NoServer:
    """A server that gets no requests."""

    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> NoReturn:
        raise CommandFailed("the benchmark of reconciles asks no server")


async def main() -> int:
    """Measure, print, and fail if the target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000, help="reconciles in a round; default: %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="that count; default: %(default)s")
    args = parser.parse_args()
    ways: dict[str, Way] = {"bare": bare, "full": full}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(args.rounds + 1):
        for name, way in ways.items():
            seconds[name].append(await way(args.count))
    cost = {name: median(values[1:]) for name, values in seconds.items()}
    ratio = cost["full"] / cost["bare"]
    print(f"a reconcile that does nothing, {args.count} in a round, median of {args.rounds} rounds, CPU:")
    print(f"  bare                            {cost['bare'] * 1e6:6.1f} µs")
    print(f"  metrics, log fields and causes  {cost['full'] * 1e6:6.1f} µs, {ratio:.2f} of it (target: {TARGET})")
    print(f"  an answer to Prometheus with 20 controllers: {await scraped(20, 20) * 1e3:.1f} ms")
    return 0 if ratio <= TARGET else 1


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
