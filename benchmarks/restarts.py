"""Cost of a restart with converged PodSets: the bare caches, the operator without fingerprints, and with them.

python benchmarks/restarts.py --podsets 10000 --runs 3

Each way runs in its own process, in turns, against a server in another process that has all answers in memory
(`_paced_server.py`). A PodSet has a Deployment and a pod, so that a way reads three objects for each. CPU is user and
system time of the process until it is quiet. Requests are those besides lists, watches and discovery.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from _child import Child

from examples.podset.podset import PodSet, PodSetReconciler
from pyctrl.client import Config
from pyctrl.controller import Builder, Controller
from pyctrl.controller._fingerprints.converged import Converged
from pyctrl.controller._reads.reader import Subscriber
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Pod
from pyctrl.manager import FileFingerprints, Manager

HERE = Path(__file__).parent
WAYS = {
    "sync": "the bare sync of the three caches",
    "none": "operator, without fingerprints",
    "kept": "operator, with fingerprints",
}
QUIET = 0.5  # seconds after which the process counts as quiet


class CallingReconciler(PodSetReconciler):
    """The example's reconciler, which also calls an external API, here a counter."""

    calls = 0

    async def scale(self, podset: PodSet) -> None:
        """Call the external API and do the work."""
        CallingReconciler.calls += 1
        await super().scale(podset)


def add(manager: Manager) -> Controller:
    """Add the operator of the example, which reads pods."""
    return Builder(manager).reconciles(PodSet).owns(Deployment).reads(Pod).options(workers=2).build(CallingReconciler())


async def run(way: str, server: str, file: str) -> dict[str, Any]:
    """Run one way until it is quiet, and return its numbers."""
    imported = sum(os.times()[:2])
    store = FileFingerprints(file) if way == "kept" else None
    async with Manager(Config(server=server), fingerprints=store) as manager:
        controller = add(manager) if way != "sync" else None
        informers = [manager.cache.informer(kind) for kind in (PodSet, Deployment, Pod)]
        async with manager.running():
            for informer in informers:
                await informer.wait_for_sync()
            await until_quiet(controller)
            whole = sum(os.times()[:2])
            memory = bytes_of_fingerprints(controller) if way == "kept" else 0.0
    return {
        "whole": whole,
        "after imports": whole - imported,
        "reconciles": 0 if controller is None else controller.statistics().reconciles.success,
        "external calls": CallingReconciler.calls,
        "bytes": memory,
    }


async def until_quiet(controller: Controller | None) -> None:
    """Wait until the process has used almost no CPU for a while."""
    before = 0.0
    while (now := sum(os.times()[:2])) - before > 0.05 * QUIET or (controller and controller.queue.has_ready):
        before = now
        await asyncio.sleep(QUIET)


def bytes_of_fingerprints(controller: Controller | None) -> float:
    """Return the bytes in memory for each request that has converged, besides its subscriptions."""
    assert controller is not None
    assert controller.fingerprints is not None
    requests = controller.fingerprints.requests
    known = dict(requests.requests)
    if not known:
        return 0.0
    gc.collect()
    tracemalloc.start()
    begun = tracemalloc.get_traced_memory()[0]
    copies = {
        request: Converged(Subscriber(request, reads=(*each.reader.reads,)), each.ran_at + 1.0)
        for request, each in known.items()
    }
    unverified, restored = dict.fromkeys(known, 1.0), set(known)
    used = tracemalloc.get_traced_memory()[0] - begun
    tracemalloc.stop()
    assert len(unverified) == len(restored)
    return used / len(copies)


def measure(podsets: int, runs: int) -> tuple[dict[str, dict[str, float]], int]:
    """Run every way some times, in turns; return the medians and the size of the file."""
    command = [sys.executable, str(HERE / "_paced_server.py"), "--objects", str(podsets)]
    results: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    with TemporaryDirectory() as directory, Child(command) as child:
        server, file = child.answer()["url"], str(Path(directory, "fingerprints"))
        one(child, "kept", server, file)  # the first start writes the fingerprints
        for _ in range(runs):
            for way in WAYS:
                results[way].append(one(child, way, server, file))
        size = Path(file).stat().st_size
    medians = {way: {name: median(each[name] for each in found) for name in found[0]} for way, found in results.items()}
    return medians, size


def one(child: Child, way: str, server: str, file: str) -> dict[str, float]:
    """Run one way in a process, and add its requests."""
    child.ask("take")
    command = [sys.executable, __file__, "--way", way, "--server", server, "--file", file]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    asked: dict[str, int] = child.ask("take")
    others = {name: times for name, times in asked.items() if not name.startswith("list") and "reviews" not in name}
    return {**result, "requests": sum(others.values())}


def show(results: dict[str, dict[str, float]], size: int, podsets: int) -> None:
    """Print a table."""
    base = results["sync"]
    print("| way | CPU s | × sync | CPU s after imports | × sync | reconciles | external calls | requests |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for way, found in results.items():
        whole, later = found["whole"], found["after imports"]
        ratios = whole / base["whole"], later / base["after imports"]
        print(
            f"| {WAYS[way]} | {whole:.2f} | {ratios[0]:.2f} | {later:.2f} | {ratios[1]:.2f} | "
            f"{found['reconciles']:.0f} | {found['external calls']:.0f} | {found['requests']:.0f} |"
        )
    print(f"\n{size / podsets:.0f} bytes in the file and {results['kept']['bytes']:.0f} in memory for each request")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--podsets", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--way", choices=WAYS, help="run one way, for a server that runs already")
    parser.add_argument("--server", default="")
    parser.add_argument("--file", default="")
    options = parser.parse_args()
    if options.way:
        print(json.dumps(asyncio.run(run(options.way, options.server, options.file))))
    else:
        show(*measure(options.podsets, options.runs), options.podsets)


if __name__ == "__main__":
    main()
