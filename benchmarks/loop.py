"""A whole operator, pyctrl's beside its peers': what convergence, a write and a restart cost.

Each peer is the PodSet operator of examples/podset, written as its documentation has it: a Deployment of the PodSet's
size, and the names of its pods in the status. The embedded API server runs in a process of its own with the controllers
of a cluster; its audit log counts the calls, without watches that are still open. Latency is measured with one that
does nothing but write events at a pace, each with the time in it. Only the operator's process is
measured. Numbers are medians; one round with few objects comes first and does not count.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Mapping
from pathlib import Path

from _loop_driver import Driver, driving
from _loop_latency import latencies
from _loop_operators import OPERATORS
from _loop_report import Measured, document, tables
from _loop_server import Cluster, serving, writes
from _loop_started import STEP, settled, started
from _machine import machine
from _peers import HERE, Unavailable
from _process import PeerFailed, Process


class Trial:
    """One operator on one fresh server, from nothing to a restart."""

    def __init__(self, command: list[str], cluster: Cluster, driver: Driver, told: argparse.Namespace) -> None:
        self._command, self._cluster, self._driver, self._told = command, cluster, driver, told
        #: What was measured so far, by name.
        self.numbers: dict[str, float] = {}
        #: The calls of each part, by verb and resource.
        self.calls: dict[str, dict[str, int]] = {}

    def start(self) -> Process:
        """Start the operator's process."""
        return started(self._command, self._cluster.kubeconfig, self._told)

    async def run(self, objects: int) -> None:
        """Converge, and start again."""
        with self.start() as operator:
            await asyncio.to_thread(operator.do, "start")
            await settled(operator, self._cluster.calls, {})
            await self._converge(operator, objects)
        await asyncio.sleep(STEP)
        self._cluster.calls.take()
        await self._restart(objects)

    async def _converge(self, operator: Process, objects: int) -> None:
        calls = self.calls["converge"] = {}
        begun, cpu = time.monotonic(), operator.cpu()
        await _together(self._driver.create(objects), self._driver.wait_for_converged(objects))
        wall = time.monotonic() - begun
        _, spent = await settled(operator, self._cluster.calls, calls)
        self.numbers |= {
            "converge_cpu": (spent - cpu) / objects,
            "converge_wall": wall,
            "converge_calls": sum(calls.values()) / objects,
            "converge_writes": writes(calls) / objects,
            "converge_bytes": float(operator.memory().peak),
        }

    async def _restart(self, objects: int) -> None:
        calls = self.calls["restart"] = {}
        begun = time.monotonic()
        with self.start() as operator:
            loaded = operator.cpu()
            await asyncio.to_thread(operator.do, "start")
            quiet, spent = await settled(operator, self._cluster.calls, calls)
            self.numbers |= {
                "restart_cpu": spent,
                "restart_load_cpu": loaded,
                "restart_object_cpu": (spent - loaded) / objects,
                "restart_wall": quiet - begun,
                "restart_calls": float(sum(calls.values())),
                "restart_writes": float(writes(calls)),
                "restart_bytes": float(operator.memory().resident),
            }


async def _together(*parts: Awaitable[None]) -> None:
    await asyncio.gather(*parts)


async def trial(command: list[str], told: argparse.Namespace, objects: int) -> Trial:
    """Run one operator through everything, with a server of its own."""
    with serving(kubelet=told.kubelet) as cluster:
        async with driving(cluster.url) as session:
            done = Trial(command, cluster, Driver(session, told.size), told)
            async with asyncio.timeout(told.patience):
                await done.run(objects)
            return done


def measure(commands: Mapping[str, list[str]], told: argparse.Namespace) -> Measured:
    """Run every operator in turns; the first round does not count."""
    measured = Measured()
    for number in range(told.runs + 1):
        for name, command in commands.items():
            objects = told.objects if number else min(50, told.objects)
            print(f"round {number}: {name}, {objects} PodSets", file=sys.stderr, flush=True)
            try:
                done = asyncio.run(trial(command, told, objects))
                if OPERATORS[name].has_latency:
                    done.numbers |= asyncio.run(latencies(command, told))
            except (PeerFailed, TimeoutError) as reason:
                measured.failures[name] = str(reason) or f"it took more than {told.patience:.0f} s"
                continue
            if number:
                measured.add(name, done.numbers, done.calls)
    return measured


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", nargs="+", choices=list(OPERATORS), default=list(OPERATORS), metavar="PEER")
    parser.add_argument("--objects", type=int, default=5_000, help="PodSets; default: %(default)s")
    parser.add_argument("--size", type=int, default=3, help="pods of each; default: %(default)s")
    parser.add_argument("--workers", type=int, default=2, help="of reconciles; default: %(default)s, as the example")
    parser.add_argument("--rates", nargs="*", type=float, default=[100.0, 1000.0], help="writes a second")
    parser.add_argument("--seconds", type=float, default=10.0, help="of writes at each rate; default: %(default)s")
    parser.add_argument("--kubelet", action="store_true", help="let pods run; else they are made and stay Pending")
    parser.add_argument("--runs", type=int, default=5, help="that count; default: %(default)s")
    parser.add_argument("--patience", type=float, default=900.0, help="seconds for one run; default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="200 PodSets, one run: whether it works")
    parser.add_argument("--out", type=Path, default=HERE / ".cache" / "loop.json", help="the JSON file")
    parser.add_argument("--loud", action="store_true", help="show what operators print on stderr")
    return parser.parse_args()


def main() -> int:
    """Build, measure, print; end with 1 if an operator failed at its work."""
    told = options()
    if told.quick:
        told.objects, told.runs, told.seconds = 200, 1, 3.0
    facts, commands = machine(), {}
    for name in told.peers:
        try:
            commands[name] = OPERATORS[name].build()
        except Unavailable as reason:
            print(f"without {name}: {reason}", file=sys.stderr)
    measured = measure(commands, told)
    print(tables(measured, told))
    told.out.parent.mkdir(parents=True, exist_ok=True)
    told.out.write_text(json.dumps(document(measured, facts, told), indent=1) + "\n", encoding="utf-8")
    return 1 if measured.failures else 0


if __name__ == "__main__":
    sys.exit(main())
