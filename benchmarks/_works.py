"""Works of a peer, step by step, and the measurements of each step."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _child import Child
from _process import PeerFailed, Process, Spent

HERE = Path(__file__).parent
OPERATOR_WORKS = frozenset({"loop", "latency", "restart"})  # run with a whole operator, see _operators.py
Numbers = dict[str, float]
"""Measured in one run, by name: seconds of CPU for one object, read or reconcile; seconds of wall time; bytes."""


@dataclass(frozen=True)
class Case:
    """A work and its objects, for any peer. The size of an object is its bytes; of a PodSet, its pods."""

    work: str
    kind: str
    objects: int
    size: int
    lists: str
    workers: int = 1

    @property
    def server(self) -> tuple[str, int, int]:
        """The objects on the server; cases with the same value share a server."""
        return self.kind, self.objects, self.size

    @property
    def title(self) -> str:
        """The readable name of the case."""
        if self.work in OPERATOR_WORKS:
            return f"{self.objects:,} PodSets of {self.size}, {self.workers} workers"
        workers = f", workers {self.workers}" if self.work == "reconcile" else ""
        return f"{self.objects:,} {self.kind} of {self.size:,} bytes, lists by {self.lists}{workers}"

    @property
    def arguments(self) -> list[str]:
        """The command line arguments of a peer."""
        told = {"work": self.work, "kind": self.kind, "lists": self.lists}
        told |= {"objects": str(self.objects), "workers": str(self.workers)}
        return [word for name, value in told.items() for word in (f"--{name}", value)]


@dataclass(frozen=True)
class Pace:
    """Durations: for memory to stabilise, for reads of one kind, for idling, and for writes at a rate.

    In seconds, as are the timeouts for the work of a whole operator and for its restart.
    """

    settle: float = 3.0
    reads: float = 2.0
    idle: float = 10.0
    writes: float = 10.0
    patience: float = 900.0
    restart: float = 300.0


class Server:
    """The canned server in its process."""

    def __init__(self, child: Child) -> None:
        self._child = child
        described = child.answer()
        self.url: str = described["url"]
        self.object_bytes: int = described["bytes"]

    def tell(self, command: str, **arguments: object) -> Any:
        """Send a command and return the answer."""
        return self._child.ask(command, **arguments)


@contextmanager
def serving(kind: str, objects: int, size: int) -> Iterator[Server]:
    """Run a canned server with this many objects of a kind."""
    command = [sys.executable, str(HERE / "_canned_server.py"), "--kind", kind]
    with Child([*command, "--objects", str(objects), "--size", str(size)]) as child:
        yield Server(child)


def run(case: Case, peer: Process, server: Server, pace: Pace) -> Numbers:
    """Run the work of a case and return the measurements. The server is reset and the peer is ready."""
    base = peer.memory()
    numbers = {"ready_cpu": peer.started.cpu, "ready_wall": peer.started.wall, "ready_bytes": float(base.resident)}
    synced = peer.do("sync")
    _expect(synced, case.objects)
    numbers |= {"sync_cpu": synced.cpu / case.objects, "sync_wall": synced.wall}
    step = {"cache": _cache, "reads": _reads, "reconcile": _reconcile}[case.work]
    return numbers | step(case, peer, server, pace)


def _expect(spent: Spent, objects: int) -> None:
    if spent.facts.get("objects") != objects:
        raise PeerFailed(f"the peer was to have {objects} objects and says {dict(spent.facts)}")


def _cache(case: Case, peer: Process, server: Server, pace: Pace) -> Numbers:
    """Wait until memory is stable, change every object once, and end the watch so that the peer lists again."""
    time.sleep(pace.settle)
    synced = peer.memory()
    following = peer.begin("follow", until=server.tell("last")["until"])
    server.tell("release")
    events = following.wait()
    _expect(events, case.objects)
    time.sleep(pace.settle)
    steady = peer.memory()
    peer.forget_peak()
    cpu, begun = peer.cpu(), time.monotonic()
    relisted = peer.do("follow", until=server.tell("expire")["until"])
    _expect(relisted, case.objects)
    return {
        "events_cpu": events.cpu / case.objects,
        "events_wall": events.wall,
        "synced_bytes": float(synced.resident),
        "sync_peak_bytes": float(synced.peak),
        "steady_bytes": float(steady.resident),
        "relist_cpu": (peer.cpu() - cpu) / case.objects,
        "relist_wall": time.monotonic() - begun,
        "relist_peak_bytes": float(peer.memory().peak),
    }


def _reads(case: Case, peer: Process, server: Server, pace: Pace) -> Numbers:
    numbers: Numbers = {}
    for name in ("get", "label", "index"):
        peer.do(name, seconds=pace.reads / 10)  # the first read builds caches
        spent = peer.do(name, seconds=pace.reads)
        numbers[f"{name}_cpu"] = spent.cpu / spent.facts["count"]
        numbers[f"{name}_objects"] = spent.facts["objects"] / spent.facts["count"]
    return numbers


def _reconcile(case: Case, peer: Process, server: Server, pace: Pace) -> Numbers:
    """Reconcile every object again after a change; with only one object, idle afterwards."""
    following = peer.begin("follow", until=server.tell("last")["until"])
    server.tell("release")
    spent = following.wait()
    numbers = {"reconcile_cpu": spent.cpu / case.objects, "reconcile_wall": spent.wall}
    if case.objects > 1:
        return numbers
    cpu = peer.cpu()
    time.sleep(pace.idle)
    idle = {"idle_cpu": (peer.cpu() - cpu) / pace.idle, "idle_bytes": float(peer.memory().resident)}
    return numbers | idle
