"""Probes, lease, SIGTERM and other objects of an operator while 1,000 of its objects always run again at once.

`pyctrl run` of `_stubborn.py` runs against the API server over HTTP, each in its own process, once per behaviour; the
first behaviour does nothing. With `--source` the operator runs on other sources, such as older ones.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, Config, MergePatch
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import ConfigMap

HERE = Path(__file__).parent
WAYS = ("none", "zero", "negative", "microsecond", "waits", "fails", "writes")
PERIOD = 0.25  # seconds between two probes, and between two writes of the probe object
PATIENCE = 5.0  # seconds until a probe counts as failed; kubelet's default is 1
TERM = 40.0  # seconds after SIGTERM until the operator is killed


@dataclass
class Seen:
    """The measurements of one operator."""

    health: list[float] = field(default_factory=list)
    failed: int = 0
    renewals: list[datetime] = field(default_factory=list)
    others: list[float] = field(default_factory=list)
    written: int = 0
    term: float | None = None
    reconciles: int = 0
    cpu: float = 0.0
    log: int = 0


@contextmanager
def served(directory: Path) -> Iterator[Path]:
    """Serve an API server; yield its kubeconfig."""
    kubeconfig = directory / "kubeconfig"
    command = [sys.executable, "-m", "pyctrl", "apiserver", "--insecure-http", "--no-controllers"]
    command += ["--write-kubeconfig", str(kubeconfig)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            yield kubeconfig
        finally:
            server.kill()


@contextmanager
def operator(way: str, kubeconfig: Path, source: Path, port: int, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the operator with a behaviour; its log goes to a file."""
    counter = log.with_suffix(".count")
    counter.write_bytes(bytes(8))
    variables = {**os.environ, "KUBECONFIG": str(kubeconfig), "STUBBORN": way, "COUNTER": str(counter)}
    variables["PYTHONPATH"] = str(source)
    command = [sys.executable, "-m", "pyctrl", "run", str(HERE / "_stubborn.py"), "--leader-elect"]
    flags = ["--leader-election-namespace=default", "--metrics-bind-address=0"]
    flags += [f"--health-probe-bind-address=127.0.0.1:{port}"]
    with (
        log.open("wb") as lines,
        subprocess.Popen([*command, *flags], env=variables, stdout=subprocess.PIPE, stderr=lines) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


async def probing(port: int, seen: Seen) -> None:
    """Request /healthz periodically."""
    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        while True:
            begun = time.monotonic()
            try:
                async with session.get(f"http://127.0.0.1:{port}/healthz") as answer:
                    answer.raise_for_status()
            except (aiohttp.ClientError, TimeoutError):
                seen.failed += 1
            else:
                seen.health.append(time.monotonic() - begun)
            await asyncio.sleep(PERIOD)


async def watching_the_lease(client: Client, seen: Seen) -> None:
    """Record each renewal of the lease."""
    while True:
        found = await client.find(Lease, Key("default", "stubborn"))
        renewed = found.spec.renew_time if found is not None else None
        if renewed is not None and renewed not in seen.renewals[-1:]:
            seen.renewals.append(renewed)
        await asyncio.sleep(PERIOD)


async def writing(client: Client, seen: Seen) -> None:
    """Write the probe object periodically."""
    while True:
        seen.written += 1
        await client.patch(ConfigMap, Key("default", "probe"), MergePatch({"data": {"at": str(time.monotonic())}}))
        await asyncio.sleep(PERIOD)


async def reading(process: subprocess.Popen[bytes], seen: Seen) -> None:
    """Read the operator's output about the probe object."""
    lines = asyncio.StreamReader()
    assert process.stdout is not None
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), process.stdout)
    async for line in lines:
        seen.others.append(float(line))


@asynccontextmanager
async def background(*works: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run tasks during the block."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def connected(kubeconfig: Path) -> Client:
    """Return a client of the server once it serves."""
    await asyncio.to_thread(wait_for, lambda: kubeconfig.exists() and kubeconfig.stat().st_size > 0)
    return Client.connect(Config.from_kubeconfig(kubeconfig))


async def measure(way: str, source: Path, objects: int, seconds: float, port: int) -> Seen:
    """Run one operator for a while, then send SIGTERM."""
    seen = Seen()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        log = directory / "log"
        with served(directory) as kubeconfig:
            client = await connected(kubeconfig)
            for number in range(objects):
                meta = ObjectMeta(name=f"stubborn-{number}", namespace="default")
                await client.create(ConfigMap(metadata=meta))
            await client.create(ConfigMap(metadata=ObjectMeta(name="probe", namespace="default")))
            with operator(way, kubeconfig, source, port, log) as process:
                await asyncio.to_thread(wait_for, lambda: counted(log) > 0)
                before = cpu_of(process.pid)
                works = (probing(port, seen), watching_the_lease(client, seen), writing(client, seen))
                async with background(*works, reading(process, seen)):
                    await asyncio.sleep(seconds)
                seen.reconciles = counted(log)
                seen.cpu, seen.log = cpu_of(process.pid) - before, log.stat().st_size
                seen.term = await asyncio.to_thread(terminated, process)
            await client.aclose()
    return seen


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait in a thread until a condition holds."""
    while not condition():
        time.sleep(0.05)


def counted(log: Path) -> int:
    """Return the number of reconciles of the stubborn objects."""
    return int.from_bytes(log.with_suffix(".count").read_bytes(), sys.byteorder)


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def terminated(process: subprocess.Popen[bytes]) -> float | None:
    """Send SIGTERM; return the seconds until the process ended, or None if it was killed."""
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(TERM)
    except subprocess.TimeoutExpired:
        return None
    return time.monotonic() - begun


def row(way: str, seen: Seen, seconds: float) -> str:
    """Return a line of the table."""
    gaps = [(later - earlier).total_seconds() for earlier, later in zip(seen.renewals, seen.renewals[1:], strict=False)]
    cells = [
        f"{way:<12}",
        f"{seen.reconciles / seconds:9,.0f}",
        f"{seen.cpu / seconds * 100:5.0f} %",
        times(seen.health) + (f", {seen.failed} failed" if seen.failed else ""),
        f"{max(gaps):4.1f} s" if gaps else "none",
        f"{times(seen.others)}, {len(seen.others)} of {seen.written}",
        "killed" if seen.term is None else f"{seen.term:5.2f} s",
        f"{seen.log / seconds * 60 / 1e6:8.3f} MB",
    ]
    return "| " + " | ".join(cells) + " |"


def times(seconds: list[float]) -> str:
    """Return the median and the maximum of some durations."""
    return f"{median(seconds) * 1e3:6.1f}, {max(seconds) * 1e3:7.1f} ms" if seconds else "none"


def main() -> int:
    """Measure each behaviour and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ways", nargs="*", default=WAYS, help=f"any of {', '.join(WAYS)}; default: all")
    parser.add_argument(
        "--source", type=Path, default=HERE.parent / "src", help="of the operator; default: %(default)s"
    )
    parser.add_argument("--objects", type=int, default=1000, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=20.0, help="default: %(default)s")
    parser.add_argument("--port", type=int, default=18081, help="of the probes; default: %(default)s")
    args = parser.parse_args()
    print(
        "| way | reconciles/s | CPU | /healthz: median, longest | longest between renewals | "
        "other object: median, longest, seen | SIGTERM | log a minute |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for way in args.ways:
        seen = asyncio.run(measure(way, args.source, args.objects, args.seconds, args.port))
        print(row(way, seen, args.seconds), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
