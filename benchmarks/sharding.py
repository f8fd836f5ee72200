"""What sharding costs and saves: CPU and memory of 1, 2 and 4 replicas, and the time to take the objects of a dead one.

    python benchmarks/sharding.py --objects 100000

The embedded API server runs in its own process, with ShardedListAndWatch. Each replica is a process whose controller
reconciles every object without work, and caches only its own objects (`Sharding(memory=True)`). Memory is resident
memory; an idle replica is one of a ring without objects. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pyctrl import Config
from pyctrl.api import ObjectMeta
from pyctrl.client import Client
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager, Preflight, Sharding

NAMESPACE = "default"
PATIENCE = 600.0


class Counter(Reconciler[ConfigMap]):
    """Reads each object, and counts."""

    def __init__(self) -> None:
        self.reconciles = 0

    async def reconcile(self, request: Request) -> None:
        """Read the object."""
        await self.client.find(ConfigMap, request.key)
        self.reconciles += 1


async def replica(kubeconfig: Path, name: str, *, is_memory_sharded: bool) -> None:
    """Run one replica, and print what it has once a second."""
    sharding = Sharding(name="bench", namespace=NAMESPACE, identity=name, memory=is_memory_sharded)
    manager = Manager(
        Config.load(kubeconfig=kubeconfig), namespaces=[NAMESPACE], sharding=sharding, preflight=Preflight.OFF
    )
    counter = Counter()
    async with manager:
        Builder(manager).reconciles(ConfigMap).options(workers=4).build(counter)
        async with manager.running():
            while True:
                await asyncio.sleep(0.5)
                member = manager.shard_member
                assert member is not None
                state = {"slots": member.statistics().slots, "queue": member.statistics().requests}
                state |= {"reconciles": counter.reconciles, "objects": metric(manager, "pyctrl_cache_objects")}
                state |= {"requests": metric(manager, "rest_client_requests_total")}  # those for Leases included
                print(json.dumps(state), flush=True)


def metric(manager: Manager, name: str) -> int:
    """Return the sum of a metric."""
    families = (each for each in manager.collect_metrics() if each.name == name)
    return sum(int(value) for family in families for _, value in family.samples if isinstance(value, int | float))


@dataclass
class Running:
    """A replica's process."""

    process: subprocess.Popen[str]
    state: dict[str, int]

    def read(self) -> None:
        """Read its next line."""
        assert self.process.stdout is not None
        self.state = json.loads(self.process.stdout.readline())

    @property
    def megabytes(self) -> float:
        """Its resident memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    @property
    def cpu_seconds(self) -> float:
        """User and system time of all its threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server(home: Path) -> Iterator[Path]:
    """Run the embedded API server; yield its kubeconfig."""
    kubeconfig = home / "kubeconfig"
    command = [sys.executable, "-m", "pyctrl", "apiserver", "--no-controllers", "--write-kubeconfig", str(kubeconfig)]
    command += ["--feature-gates", "ShardedListAndWatch=true"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        assert running.stdout is not None
        running.stdout.readline()
        try:
            yield kubeconfig
        finally:
            running.terminate()


async def fill(kubeconfig: Path, objects: int, size: int) -> None:
    """Create the objects, 50 at a time."""
    async with Client.connect(Config.load(kubeconfig=kubeconfig)) as client:
        numbers, text = iter(range(objects)), "x" * size

        async def create() -> None:
            for number in numbers:
                meta = ObjectMeta(name=f"object-{number}", namespace=NAMESPACE)
                await client.create(ConfigMap(metadata=meta, data={"text": text}))

        async with asyncio.TaskGroup() as group:
            for _ in range(50):
                group.create_task(create())


@contextmanager
def ring(kubeconfig: Path, count: int, objects: int, *, is_memory_sharded: bool = True) -> Iterator[list[Running]]:
    """Run replicas until each slot has one and all objects are reconciled."""
    command = [sys.executable, __file__, "--kubeconfig", str(kubeconfig)]
    command += ["--whole"] * (not is_memory_sharded)
    seed = Random(count)
    replicas = [
        Running(subprocess.Popen([*command, "--replica", f"{seed.random()}"], stdout=subprocess.PIPE, text=True), {})
        for _ in range(count)
    ]
    try:
        until(replicas, lambda: divided(replicas) and has_reconciled(replicas, objects))
        yield replicas
    finally:
        for each in replicas:
            each.process.terminate()
        for each in replicas:
            each.process.wait()


def divided(replicas: list[Running]) -> bool:
    """Return whether each slot has one of the replicas, with nothing left to do."""
    slots, queue = ([each.state[name] for each in replicas] for name in ("slots", "queue"))
    return sum(slots) == 1024 and all(slots) and not any(queue)


def has_reconciled(replicas: list[Running], objects: int) -> bool:
    """Return whether all objects are cached, and each replica has reconciled its own."""
    states = [each.state for each in replicas]
    return sum(each["objects"] for each in states) >= objects and all(e["reconciles"] >= e["objects"] for e in states)


def until(replicas: list[Running], holds: object) -> float:
    """Read what replicas print until a condition holds, and return how long it took."""
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE:
        for each in replicas:
            each.read()
        if callable(holds) and holds():
            return time.monotonic() - began
    raise TimeoutError(f"not within {PATIENCE:g} s: {[each.state for each in replicas]}")


@dataclass
class Measured:
    """What a ring costs, and what the others do after a replica was killed."""

    cpu: list[float]
    memory: list[float]
    seconds: float = 0.0
    reconciles: int = 0
    requests: int = 0


def measure(kubeconfig: Path, count: int, objects: int) -> Measured:
    """Run a ring until all is reconciled, then kill a replica and wait until the others have taken its objects."""
    with ring(kubeconfig, count, objects) as replicas:
        measured = Measured([each.cpu_seconds for each in replicas], [each.megabytes for each in replicas])
        if count > 1:
            dead, *rest = replicas
            before = [dict(each.state) for each in rest]

            def grown(name: str) -> int:
                return sum(each.state[name] - old[name] for each, old in zip(rest, before, strict=True))

            dead.process.kill()
            measured.seconds = until(rest, lambda: divided(rest) and grown("reconciles") >= dead.state["objects"])
            measured.reconciles, measured.requests = grown("reconciles"), grown("requests")
        return measured


def main() -> int:
    """Measure, print, and fail if the target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--objects", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--size", type=int, default=2_000, help="bytes of each; default: %(default)s")
    parser.add_argument("--replicas", type=int, nargs="*", default=[1, 2, 4], help="default: 1 2 4")
    parser.add_argument("--replica", help=argparse.SUPPRESS)
    parser.add_argument("--kubeconfig", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--whole", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.replica:
        asyncio.run(replica(args.kubeconfig, args.replica, is_memory_sharded=not args.whole))
        return 0
    with tempfile.TemporaryDirectory() as directory, server(Path(directory)) as kubeconfig:
        with ring(kubeconfig, 1, 0) as (idle,):
            idle_memory = idle.megabytes
        asyncio.run(fill(kubeconfig, args.objects, args.size))
        print(f"{args.objects} objects of {args.size} bytes; an idle replica has {idle_memory:.0f} MB")
        print("| replicas | CPU s of each | MB of each | together | of one and idle ones | after a kill, s |", end="")
        print(" reconciles | requests |")
        print("|--:|--|--|--:|--:|--:|--:|--:|")
        alone, is_met = 0.0, True
        for count in args.replicas:
            found = measure(kubeconfig, count, args.objects)
            together = sum(found.memory)
            alone = alone or together
            ratio = together / (alone + (count - 1) * idle_memory)
            is_met &= ratio <= 1.15
            each = [" ".join(f"{value:.0f}" for value in values) for values in (found.cpu, found.memory)]
            print(f"| {count} | {each[0]} | {each[1]} | {together:.0f} | {ratio:.2f} | {found.seconds:.1f} |", end="")
            print(f" {found.reconciles} | {found.requests} |", flush=True)
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())
