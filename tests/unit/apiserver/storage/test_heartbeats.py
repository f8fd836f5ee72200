"""Heartbeats that are postponed while no client can observe them, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from math import inf

from pyctrl.apiserver._storage.heartbeats import Heartbeats


class Pulse:
    """A heartbeat every ten seconds that notes when it is written."""

    def __init__(self) -> None:
        self._next = asyncio.get_running_loop().time() + 10
        self._unwritten = inf
        self.written: list[float] = []

    def due(self) -> float:
        """Return when the first beat that is not written was due."""
        return min(self._unwritten, self._next)

    def latest(self) -> float:
        """Return when the last beat was due."""
        while self._next <= asyncio.get_running_loop().time():
            self._unwritten = min(self._unwritten, self._next)
            self._next += 10
        return self._next - 10

    def write(self) -> None:
        """Note the last beat."""
        self.written.append(self.latest())
        self._unwritten = inf


async def test_only_the_latest_heartbeat_is_written_before_a_request() -> None:
    """A request an hour later finds the last heartbeat of that hour, and the ones before were never written."""
    heartbeats, pulse = Heartbeats(), Pulse()
    heartbeats.start("n", pulse)
    heartbeats.catch_up()
    await asyncio.sleep(3605)
    assert heartbeats.latest("n") == 3600
    assert pulse.written == []
    heartbeats.catch_up()
    heartbeats.catch_up()
    assert pulse.written == [3600]


async def test_an_open_watch_gets_every_heartbeat_in_time() -> None:
    """While a watch is open heartbeats are written when they are due, and no longer after it is closed."""
    heartbeats, pulse = Heartbeats(), Pulse()

    async def lines() -> AsyncGenerator[bytes, None]:
        yield b"first"
        await asyncio.get_running_loop().create_future()

    heartbeats.start("n", pulse)
    async with asyncio.timeout(45) as limit:
        watch = heartbeats.observed(lines())
        assert await anext(watch) == b"first"
        limit.reschedule(None)
        await asyncio.sleep(25)
        assert pulse.written == [10, 20]
        await watch.aclose()
    await asyncio.sleep(100)
    assert pulse.written == [10, 20]


async def test_a_node_that_ends_keeps_its_last_heartbeat() -> None:
    """The last heartbeat of a lost node is written, and remains the latest one until the node is forgotten."""
    heartbeats, pulse = Heartbeats(), Pulse()
    heartbeats.start("n", pulse)
    await asyncio.sleep(35)
    heartbeats.end("n")
    await asyncio.sleep(100)
    heartbeats.catch_up()
    assert pulse.written == [30]
    assert heartbeats.latest("n") == 30
    heartbeats.forget("n")
    assert heartbeats.latest("n") is None


async def test_a_heartbeat_that_makes_requests_does_not_write_twice() -> None:
    """The requests of a heartbeat do not write the heartbeats again, and all due ones are written."""
    heartbeats = Heartbeats()
    first, second = Pulse(), Pulse()
    write = first.write

    def write_by_request() -> None:
        heartbeats.catch_up()
        write()

    first.write = write_by_request  # type: ignore[method-assign]
    heartbeats.start("a", first)
    heartbeats.start("b", second)
    await asyncio.sleep(10)
    heartbeats.end_all()
    assert (first.written, second.written) == ([10], [10])
    assert heartbeats.find("a") is None
