"""Cost of the API server's verbs over HTTP on loopback: CPU time of the server, which runs in its own process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from _in_process import CHUNK, WATCHERS, Kind
from _meter import Meter, Series
from _objects import encoded

CONNECTIONS = 8


class _Connection:
    """One kept connection with minimal HTTP: the client's time is not measured."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, method: str, target: str, body: bytes = b"") -> bytes:
        """Send a request and return the body of its response."""
        self._send(method, target, body)
        status, length = await self._head()
        answer = await self._reader.readexactly(length)
        assert status in (200, 201), answer
        return answer

    async def watch(self, target: str, line: Callable[[bytes], None]) -> None:
        """Read a watch forever."""
        self._send("GET", target, b"")
        status, _ = await self._head()
        assert status == 200
        while size := int(await self._reader.readline(), 16):
            line(await self._reader.readexactly(size))
            await self._reader.readline()

    def _send(self, method: str, target: str, body: bytes) -> None:
        head = f"{method} {target} HTTP/1.1\r\nHost: benchmark\r\nAccept: application/json\r\n"
        typed = "Content-Type: application/json\r\n" if body else ""
        self._writer.write(f"{head}{typed}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    async def _head(self) -> tuple[int, int]:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = head.partition("content-length:")[2].partition("\r\n")[0]
        return int(head[9:12]), int(length or 0)

    def close(self) -> None:
        self._writer.close()


class OverHttp:
    """One server, and its measured requests."""

    def __init__(self, kind: Kind, meter: Meter, host: str, port: int, cpu: Callable[[], Awaitable[float]]) -> None:
        self._kind = kind
        self._meter = meter
        self._place = host, port
        self._cpu = cpu
        self._made = 0
        self._connections: list[_Connection] = []

    async def _connect(self) -> _Connection:
        return _Connection(*await asyncio.open_connection(*self._place, limit=1 << 27))

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Keep some connections open."""
        self._connections = [await self._connect() for _ in range(CONNECTIONS)]
        yield
        for connection in self._connections:
            connection.close()

    def _next(self, count: int) -> list[tuple[str, bytes]]:
        names = [f"orders-{number:06}" for number in range(self._made, self._made + count)]
        self._made += count
        return [(f"{self._kind.path}/{name}", encoded(self._kind.make(name))) for name in names]

    async def _measure(self, name: str, count: int, action: Callable[[], Awaitable[object]], less: float = 0) -> float:
        async def timed() -> None:
            begun = asyncio.get_running_loop().time()
            await action()
            wall.append((asyncio.get_running_loop().time() - begun) / count)

        wall: list[float] = []
        cost = await self._meter.measure(name, count, timed, less=less, cpu=self._cpu)
        self._meter.series.setdefault(name, Series()).walls += wall
        return cost

    async def _shared(self, requests: list[tuple[str, str, bytes]]) -> None:
        """Send requests over all connections, sequentially on each."""

        async def some(connection: _Connection, first: int) -> None:
            for method, target, body in requests[first::CONNECTIONS]:
                await connection.ask(method, target, body)

        await asyncio.gather(*(some(each, number) for number, each in enumerate(self._connections)))

    async def singles(self) -> None:
        """Measure requests for one object, over several connections."""
        objects = self._next(4 * CHUNK)
        posts = [("POST", self._kind.path, body) for _, body in objects]
        await self._measure("create", len(objects), lambda: self._shared(posts))
        gets = [("GET", path, b"") for path, _ in objects]
        await self._measure("get", len(objects), lambda: self._shared(gets))

    async def fill(self, count: int) -> None:
        """Create objects up to a number."""
        await self._shared([("POST", self._kind.path, body) for _, body in self._next(count - self._made)])

    async def lists(self, count: int) -> None:
        """Measure a list of all objects, as the cost of one listed object."""
        await self._measure("list", count, lambda: self._connections[0].ask("GET", self._kind.path))

    async def fan_out(self, events: int) -> None:
        """Measure the cost of an event for each of 50 watchers, each on its own connection."""
        asker = self._connections[0]

        async def create(objects: list[tuple[str, bytes]]) -> None:
            for _, body in objects:
                await asker.ask("POST", self._kind.path, body)

        alone = await self._measure("create, one connection", events, lambda: create(self._next(events)))
        counts, waiting = [0] * WATCHERS, asyncio.Event()

        async def one_by_one() -> None:
            for number, each in enumerate(self._next(events), 1):
                waiting.clear()
                await create([each])
                while min(counts) < number:
                    waiting.clear()
                    await waiting.wait()

        async with asyncio.TaskGroup() as group:
            watchers = [await self._connect() for _ in range(WATCHERS)]

            def counting(number: int) -> Callable[[bytes], None]:
                def line(chunk: bytes) -> None:
                    counts[number] += chunk.count(b"\n")
                    waiting.set()

                return line

            target = f"{self._kind.path}?watch=true&resourceVersion={await self._version(asker)}"
            tasks = [group.create_task(each.watch(target, counting(n))) for n, each in enumerate(watchers)]
            await self._measure("event, one by one", events * WATCHERS, one_by_one, less=alone * events)
            for task, watcher in zip(tasks, watchers, strict=True):
                task.cancel()
                watcher.close()

    async def _version(self, asker: _Connection) -> str:
        page = await asker.ask("GET", f"{self._kind.path}?limit=1")
        return page.partition(b'"resourceVersion":"')[2].partition(b'"')[0].decode()


@asynccontextmanager
async def served(kind: Kind, meter: Meter) -> AsyncIterator[OverHttp]:
    """Serve in another process until the block ends."""
    command = [sys.executable, str(Path(__file__).with_name("_served.py"))]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    asks, tells = process.stdin, process.stdout
    url = urlsplit((await tells.readline()).decode())

    async def cpu() -> float:
        asks.write(b"\n")
        return float(await tells.readline())

    try:
        over_http = OverHttp(kind, meter, str(url.hostname), url.port or 0, cpu)
        async with over_http.connected():
            yield over_http
    finally:
        asks.close()
        await process.wait()
