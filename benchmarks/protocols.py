"""Cost of HTTP/1.1 for a server: the embedded API server's own code, h11, httptools and aiohttp.web.

The same small server on each of them, in its own process, answers requests on one kept connection: a GET of an object
of 4 KB, a POST of one, and a watch of 10,000 short lines, each a chunk. CPU is user and system time of that process,
measured with the kernel's clock. Each server also gets unusual and invalid requests.

    python benchmarks/protocols.py
    python benchmarks/protocols.py --beside https://127.0.0.1:6443 --token T    # with a real kube-apiserver
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import json
import logging
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from math import inf

from _child import Child
from _markdown import markdown
from _protocol_probes import Probed, probes
from _protocol_work import LINES, OBJECT_BYTES

SERVERS = ("ours", "h11", "httptools", "aiohttp")
FLOOR = "floor"  # asyncio and the kernel alone
HEADERS = (
    "Host: localhost\r\nUser-Agent: kubectl/v1.36.2 (linux/amd64)\r\nAccept: application/json, */*\r\n"
    "Accept-Encoding: gzip"
)
GET = f"GET /api/v1/namespaces/default/configmaps/a HTTP/1.1\r\n{HEADERS}\r\n\r\n".encode()
WATCH = f"GET /watch?watch=true HTTP/1.1\r\n{HEADERS}\r\n\r\n".encode()
POST = (
    f"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\n{HEADERS}\r\nContent-Type: application/json\r\n"
    f"Content-Length: {OBJECT_BYTES}\r\n\r\n"
).encode() + b"x" * OBJECT_BYTES


class Served:
    """One of the servers in another process, and a connection to it."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self.port: int = child.answer()["port"]
        self._connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def cpu(self) -> float:
        """Return the CPU seconds of the process."""
        return time.clock_gettime((~self._child.pid << 3) | 2)  # clock_getcpuclockid(3)

    def requests(self, request: bytes, count: int) -> float:
        """Send a request this many times; return the microseconds of CPU for one."""
        size = self._first(request)
        begun = self.cpu()
        for _ in range(count):
            self._connection.sendall(request)
            left = size
            while left:
                left -= len(self._connection.recv(left))
        return (self.cpu() - begun) / count * 1e6

    def _first(self, request: bytes) -> int:
        """Send a request; return the bytes of its response, which have the same number each time."""
        self._connection.sendall(request)
        answer = b""
        while True:
            answer += self._connection.recv(65536)
            _, end, body = answer.partition(b"\r\n\r\n")
            if end and len(body) == OBJECT_BYTES:
                return len(answer)

    def watch(self) -> float:
        """Read a watch until it ends; return the microseconds of CPU for a line."""
        begun = self.cpu()
        self._connection.sendall(WATCH)
        tail = b""
        while not tail.endswith(b"\r\n0\r\n\r\n"):
            tail = (tail + self._connection.recv(1 << 20))[-7:]
        return (self.cpu() - begun) / LINES * 1e6


@contextmanager
def serving(name: str) -> Iterator[Served]:
    """Run a server in its own process."""
    with Child([sys.executable, __file__, "--serve", name]) as child:
        yield Served(child)


def measured(rounds: int, count: int) -> dict[str, dict[str, float]]:
    """Measure all in turns; return the minimum of each server and work, since other processes use the machine too."""
    seen: dict[str, dict[str, float]] = {name: {} for name in (*SERVERS, FLOOR)}
    with ExitStack() as stack:
        servers = {name: stack.enter_context(serving(name)) for name in seen}
        works: dict[str, Callable[[Served], float]] = {
            "GET": lambda server: server.requests(GET, count),
            "POST": lambda server: server.requests(POST, count),
            "watch": Served.watch,
        }
        for _ in range(rounds):
            for work, do in works.items():
                for name, server in servers.items():
                    seen[name][work] = min(do(server), seen[name].get(work, inf))
    return seen


def probed(beside: Probed | None) -> list[list[str]]:
    """Return the response of each server to each probe: a row per probe."""
    columns: dict[str, dict[str, str]] = {}
    if beside is not None:
        columns["kube-apiserver"] = {name: beside.outcome(*parts) for name, parts in probes(beside)}
    for server in SERVERS:
        columns[server] = {}
        with serving(server) as served:
            where = Probed(f"http://127.0.0.1:{served.port}")
            columns[server] = {name: where.outcome(*parts) for name, parts in probes(where)}
    rows = [["", *columns]]
    rows += [[name, *(each[name] for each in columns.values())] for name in columns[SERVERS[0]]]
    return rows


def imports(rounds: int) -> dict[str, float]:
    """Return the milliseconds of CPU that each adds to the start of an API server; the minimum of all rounds."""
    starts: dict[str, list[float]] = {name: [] for name in (FLOOR, *SERVERS)}
    for _ in range(rounds):
        for name, seen in starts.items():
            with serving(name) as served:
                seen.append(served.cpu() * 1e3)
    return {name: min(seen) - min(starts[FLOOR]) for name, seen in starts.items()}


async def _serve(name: str) -> None:
    logging.disable()  # aiohttp logs each invalid request
    assert import_module("pyctrl.apiserver").ApiServer  # loaded on first use; a serving process loads it before
    factory = import_module(f"_protocol_{name}").protocols()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(factory, "127.0.0.1", 0)
    sys.stdout.write(json.dumps({"port": server.sockets[0].getsockname()[1]}) + "\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)  # ends with its parent


def _code() -> dict[str, int]:
    shared = "_protocol_connection"
    return {
        "ours": _lines(*import_module("_protocol_ours").MODULES),
        "h11": _lines("_protocol_h11", shared),
        "httptools": _lines("_protocol_httptools", shared),
        "aiohttp": _lines("_protocol_aiohttp"),
        FLOOR: 0,
    }


def _lines(*modules: str) -> int:
    """Count the lines of code in modules: those that are neither empty nor comments."""
    sources = [inspect.getsource(import_module(module)) for module in modules]
    lines = [line.strip() for source in sources for line in source.splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print, or serve for another process that measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--requests", type=int, default=300, help="of a kind in a round")
    parser.add_argument("--beside", help="the URL of a real API server, to probe as well")
    parser.add_argument("--token", default="", help="a bearer token for it")
    parser.add_argument("--only-probes", action="store_true")
    parser.add_argument("--serve", choices=(FLOOR, *SERVERS), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        asyncio.run(_serve(options.serve))
        return
    if not options.only_probes:
        costs, starts, code = measured(options.rounds, options.requests), imports(7), _code()
        head = ["", "GET, µs", "POST, µs", "a line of a watch, µs", "start, ms", "lines of code"]
        rows = [
            [name, *(f"{cost:.1f}" for cost in costs[name].values()), f"{starts[name]:.0f}", str(code[name])]
            for name in costs
        ]
        print(markdown(head, rows, names=1), end="\n\n")
    head, *rows = probed(Probed(options.beside, options.token) if options.beside else None)
    print(markdown(head, rows, names=len(head)))


if __name__ == "__main__":
    main()
