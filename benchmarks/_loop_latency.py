"""How long it takes from an event to the reconcile that sees it, at a pace."""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from _loop_started import settled, started
from _peers import HERE
from _process import PeerFailed, Process


class PacedServer:
    """The server in its process, and a kubeconfig for it."""

    def __init__(self, process: subprocess.Popen[str], directory: Path) -> None:
        self._process = process
        self.kubeconfig = directory / "kubeconfig"
        cluster = {"name": "paced", "cluster": {"server": self._line()["url"]}}
        context = {"name": "paced", "context": {"cluster": "paced", "user": "paced"}}
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "paced", "clusters": [cluster]}
        config |= {"contexts": [context], "users": [{"name": "paced", "user": {}}]}
        self.kubeconfig.write_text(json.dumps(config), encoding="utf-8")

    def write(self, rate: float, seconds: float) -> float:
        """Write events so many a second; return how many a second it came to."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"rate": rate, "seconds": seconds}) + "\n")
        self._process.stdin.flush()
        return float(self._line()["reached"])

    def _line(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


@contextmanager
def _serving() -> Iterator[PacedServer]:
    command = [sys.executable, str(HERE / "_paced_server.py")]
    with (
        TemporaryDirectory(prefix="pyctrl-loop-") as name,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
    ):
        try:
            yield PacedServer(process, Path(name))
        finally:
            process.kill()


async def latencies(command: list[str], told: argparse.Namespace) -> dict[str, float]:
    """Return what an operator takes at each rate: seconds from the write, and of CPU for each."""
    numbers: dict[str, float] = {}
    with _serving() as server, started(command, server.kubeconfig, told) as operator:
        await asyncio.to_thread(operator.do, "start")
        for rate in told.rates:
            await settled(operator, None, {})
            numbers |= await _at(rate, server, operator, told.seconds)
    return numbers


async def _at(rate: float, server: PacedServer, operator: Process, seconds: float) -> dict[str, float]:
    cpu, count = operator.cpu(), int(rate * seconds)
    reached = await asyncio.to_thread(server.write, rate, seconds)
    _, spent = await settled(operator, None, {})
    found = [each / 1e9 for each in (await asyncio.to_thread(operator.do, "latencies")).facts["nanoseconds"]]
    if len(found) < 2:
        raise PeerFailed(f"{len(found)} of {count} writes were seen")
    return {
        f"latency_{rate:.0f}_median": median(found),
        f"latency_{rate:.0f}_99th": quantiles(found, n=100)[98],
        f"latency_{rate:.0f}_rate": reached,
        f"latency_{rate:.0f}_seen": len(found) / count,
        f"latency_{rate:.0f}_cpu": (spent - cpu) / count,
    }
