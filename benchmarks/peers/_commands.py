"""The contract of a peer that is written in Python: obey a command at a time, and answer each with a mark.

A peer is started with `--server`, `--work` and so on, and prints ``{"mark": "ready", "versions": {...}}`` when all is
imported. Then it takes lines of JSON: ``{"do": "sync"}``, ``{"do": "follow", "until": 123}``,
``{"do": "get", "seconds": 1}``; it answers each with ``{"mark": "done", ...}``, and ends when its input does. What it
costs is measured from outside, between marks.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

__all__ = ["Commands", "Facts", "arguments", "obey", "packages", "serve", "timed"]

Facts = Mapping[str, Any]
"""What a mark tells."""
Commands = Mapping[str, Callable[..., Awaitable[Facts]]]


def arguments(*flags: str) -> argparse.Namespace:
    """Read what every peer is told, and flags that only this one has."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True, help="URL of the API server")
    parser.add_argument("--work", required=True, choices=["cache", "reads", "reconcile"])
    parser.add_argument("--kind", default="widgets", choices=["widgets", "pods"])
    parser.add_argument("--lists", default="stream", choices=["stream", "pages"], help="how to ask for the first list")
    parser.add_argument("--objects", type=int, required=True)
    parser.add_argument("--workers", type=int, default=1)
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    return parser.parse_args()


def packages(*names: str) -> dict[str, str]:
    """Return the versions of installed packages, and of Python."""
    return {**{name: version(name) for name in names}, "python": sys.version.split()[0]}


def mark(name: str, **facts: Any) -> None:
    """Print a mark."""
    print(json.dumps({"mark": name, **facts}), flush=True)


class Profiled:
    """Writes where the CPU time of this thread goes, between two commands, the first time that they come.

    BENCHMARK_PROFILE has the two and the file; `run.py --profile` sets it. Without, this does nothing.
    """

    def __init__(self) -> None:
        self._first, self._last, self._path = (os.environ.get("BENCHMARK_PROFILE", "  ")).split(" ", 2)
        if self._path:
            from cProfile import Profile  # only now: what is measured shall not carry it

            self._profile = Profile(process_time)

    def before(self, command: str) -> None:
        """Begin, if it is time."""
        if command == self._first:
            self._first = ""
            self._profile.enable()

    def after(self, command: str) -> None:
        """End and write, if it is time."""
        if command == self._last and not self._first:
            from pstats import Stats

            self._last = ""
            self._profile.disable()
            with Path(self._path).open("w", encoding="utf-8") as file:
                stats = Stats(self._profile, stream=file).strip_dirs()
                stats.sort_stats("tottime").print_stats(40)
                stats.sort_stats("cumtime").print_stats(60)


async def serve(commands: Commands, versions: Mapping[str, str]) -> None:
    """Obey until the input ends."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    profiled = Profiled()
    mark("ready", versions=versions)
    while line := await reader.readline():
        told = json.loads(line)
        command = told.pop("do")
        profiled.before(command)
        done = await commands[command](**told)
        profiled.after(command)
        mark("done", **done)


def obey(commands: Mapping[str, Callable[..., Facts]], versions: Mapping[str, str]) -> None:
    """Obey until the input ends, for a peer without an event loop."""
    mark("ready", versions=versions)
    for line in sys.stdin:
        told = json.loads(line)
        mark("done", **commands[told.pop("do")](**told))


async def timed(read: Callable[[int], Awaitable[int]], seconds: float) -> Facts:
    """Read again and again for so long, each time with the next number; return how often and how many objects came."""
    count = objects = 0
    until = perf_counter() + seconds
    while not count or perf_counter() < until:
        objects += await read(count)
        count += 1
    return {"count": count, "objects": objects}
