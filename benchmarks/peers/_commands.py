"""Protocol of a peer in Python: it executes one command at a time, and answers each with a mark.

A peer is started with `--server`, `--work` and other flags. It prints ``{"mark": "ready", "versions": {...}}`` after
all imports. It then reads lines of JSON: ``{"do": "sync"}``, ``{"do": "follow", "until": 123}``,
``{"do": "get", "seconds": 1}``; it answers each with ``{"mark": "done", ...}``, and ends with its input. Its cost
between marks is measured from outside.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from time import perf_counter
from typing import Any

from peers._profiler import profiler

__all__ = ["Commands", "Facts", "arguments", "obey", "packages", "serve", "timed"]

Facts = Mapping[str, Any]
"""What a mark tells."""
Commands = Mapping[str, Callable[..., Awaitable[Facts]]]


def arguments(*flags: str) -> argparse.Namespace:
    """Parse the arguments of every peer, and additional flags of this one."""
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


async def serve(commands: Commands, versions: Mapping[str, str]) -> None:
    """Execute commands until the input ends."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    profiled = profiler()
    mark("ready", versions=versions)
    while line := await reader.readline():
        told = json.loads(line)
        command = told.pop("do")
        profiled.before(command)
        done = await commands[command](**told)
        profiled.after(command)
        mark("done", **done)


def obey(commands: Mapping[str, Callable[..., Facts]], versions: Mapping[str, str]) -> None:
    """Execute commands until the input ends, for a peer without an event loop."""
    mark("ready", versions=versions)
    for line in sys.stdin:
        told = json.loads(line)
        mark("done", **commands[told.pop("do")](**told))


async def timed(read: Callable[[int], Awaitable[int]], seconds: float) -> Facts:
    """Read repeatedly for this long, each time with the next number; return the number of reads and of objects."""
    count = objects = 0
    until = perf_counter() + seconds
    while not count or perf_counter() < until:
        objects += await read(count)
        count += 1
    return {"count": count, "objects": objects}
