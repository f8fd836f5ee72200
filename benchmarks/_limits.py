"""Components of the physical limits, each measured alone: median CPU time of this process.

The bytes come from the canned server, so that the numbers exclude sending them.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from statistics import median
from time import process_time
from urllib.parse import urlsplit

import aiohttp
import msgspec
from _canned_objects import KINDS, objects
from _markdown import markdown, number
from _works import serving
from peers.limit.peer import PATHS, STREAMED, Event

COUNT, SIZE = 10_000, 4096
ROUNDS, TIMES = 15, 2_000
PIECE = 256 * 1024  # bytes per read of asyncio
END = b"k8s.io/initial-events-end"

PARTS = {
    "socket": "the bytes of an object of 4 KB through a socket, in pieces of 256 KB",
    "chunk": "the same through aiohttp, where each event is an HTTP chunk of its own",
    "scan": "one scan of an object, by msgspec: the type of the event, and where the object is",
    "decode": "one bare decode of an object into dictionaries, by msgspec",
    "switch": "one switch of tasks, by asyncio",
    "queue": "one put and get of an asyncio queue",
    "request": "one HTTP request with a short answer, by aiohttp, on an open connection",
    "bare": "the same by a bare socket",
}
#: The minimal work for one object, event, read, reconcile or PodSet, by line.
NEEDED: dict[str, dict[str, int]] = {
    "sync, events, relist": {"chunk": 1, "scan": 1},
    "reads": {"decode": 1},
    "reconcile, latency": {"chunk": 1, "scan": 1, "queue": 1, "switch": 1},
    # One create and one status; the events are two each of the PodSet and the Deployment, and those of three pods
    "loop": {"request": 2, "chunk": 7, "scan": 7},
}


def limits() -> str:
    """Measure; return two tables: the components, and the limits of the lines."""
    costs = measured()
    rows = [[name, about, number(costs[name])] for name, about in PARTS.items()]
    parts = markdown(["part", "what it is", "CPU µs"], rows, names=2)
    return f"{parts}\n\n{lines(costs)}"


def lines(costs: dict[str, float]) -> str:
    """Return the limit of each line."""
    rows = []
    for name, needed in NEEDED.items():
        of_what = " + ".join(f"{times} {part}" for part, times in needed.items())
        rows.append([name, of_what, number(sum(times * costs[part] for part, times in needed.items()))])
    return markdown(["line", "for each, at least", "CPU µs"], rows, names=2)


def measured() -> dict[str, float]:
    """Return the microseconds of each component."""
    with serving("widgets", COUNT, SIZE) as server:
        server.tell("reset", lists="stream")
        costs = {
            "socket": _median(lambda: _received(server.url), COUNT),
            "bare": _median(lambda: _asked(server.url), TIMES),
        }
        return costs | _scanned() | asyncio.run(_with_loop(server.url))


def _median(do: Callable[[], float], count: int) -> float:
    do()  # the first call builds its caches
    return median(do() for _ in range(ROUNDS)) / count * 1e6


async def _median_of(do: Callable[[], Awaitable[float]], count: int) -> float:
    await do()
    return median([await do() for _ in range(ROUNDS)]) / count * 1e6


def _connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port or 80))


def _received(url: str) -> float:
    """Receive the streamed list and check only its end."""
    with _connected(url) as sock:
        sock.sendall(f"GET {PATHS['widgets']}{STREAMED} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
        begun, last = process_time(), b""
        while END not in last:
            last = last[-len(END) :] + sock.recv(PIECE)[-SIZE:]
        return process_time() - begun


def _asked(url: str) -> float:
    with _connected(url) as sock:
        begun = process_time()
        for _ in range(TIMES):
            sock.sendall(b"GET /version HTTP/1.1\r\nHost: here\r\n\r\n")
            sock.recv(PIECE)
        return process_time() - begun


def _scanned() -> dict[str, float]:
    made = objects(KINDS["widgets"], TIMES, SIZE, 1)
    lines = b"".join(b'{"type":"ADDED","object":%s}\n' % data for data in made)
    scan, decode = msgspec.json.Decoder(Event).decode_lines, msgspec.json.Decoder().decode

    def scanned() -> float:
        begun = process_time()
        scan(lines)
        return process_time() - begun

    def decoded() -> float:
        begun = process_time()
        for data in made:
            decode(data)
        return process_time() - begun

    return {"scan": _median(scanned, TIMES), "decode": _median(decoded, TIMES)}


async def _with_loop(url: str) -> dict[str, float]:
    async with aiohttp.ClientSession(url, trust_env=False, skip_auto_headers=("Accept-Encoding",)) as session:

        async def chunks() -> float:
            begun, last = process_time(), b""
            async with session.get(PATHS["widgets"] + STREAMED) as response:
                async for piece in response.content.iter_any():
                    last = last[-len(END) :] + piece[-SIZE:]
                    if END in last:
                        break
                return process_time() - begun

        async def requests() -> float:
            begun = process_time()
            for _ in range(TIMES // 10):
                async with session.get("/version") as response:
                    await response.read()
            return process_time() - begun

        return {
            "chunk": await _median_of(chunks, COUNT),
            "request": await _median_of(requests, TIMES // 10),
            "switch": await _median_of(_switched, 2 * TIMES),
            "queue": await _median_of(_queued, TIMES),
        }


async def _switched() -> float:
    async def turn() -> None:
        for _ in range(TIMES):
            await asyncio.sleep(0)

    begun = process_time()
    await asyncio.gather(turn(), turn())
    return process_time() - begun


async def _queued() -> float:
    queue: asyncio.Queue[int] = asyncio.Queue()
    begun = process_time()
    for each in range(TIMES):
        queue.put_nowait(each)
        await queue.get()
    return process_time() - begun
