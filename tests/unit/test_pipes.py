"""Pipes between two tasks."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl._pipes import LIMIT, Pipe, PipeConnection
from pyctrl.testing import run_virtual


def test_a_pipe_delivers_all_bytes_and_then_its_end() -> None:
    """A reader gets what was written, also after the pipe was closed; then b""."""

    async def main() -> None:
        pipe = Pipe()
        await pipe.write(b"a")
        await pipe.write(b"b")
        pipe.close()
        assert (await pipe.read(), await pipe.read()) == (b"ab", b"")
        with pytest.raises(BrokenPipeError):
            await pipe.write(b"c")

    run_virtual(main())


def test_a_writer_waits_for_a_slow_reader() -> None:
    """A full pipe holds its writer back until some bytes are read."""

    async def main() -> None:
        pipe = Pipe()
        await pipe.write(b"x" * LIMIT)
        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(pipe.write(b"y"))
            await asyncio.sleep(1)
            assert not writing.done()
            assert len(await pipe.read()) == LIMIT
            await writing
        assert await pipe.read() == b"y"

    run_virtual(main())


def test_a_discarded_pipe_holds_nobody_back() -> None:
    """Without a reader the bytes are dropped."""

    async def main() -> None:
        pipe = Pipe()
        pipe.discard()
        await pipe.write(b"x" * LIMIT)
        await pipe.write(b"y")
        pipe.close()
        assert await pipe.read_all() == b""

    run_virtual(main())


def test_a_connection_has_two_ends() -> None:
    """Each end reads what the other one writes, until one of them closes."""

    async def main() -> None:
        client, server = PipeConnection.pair()
        await client.write(b"ping")
        assert await server.read() == b"ping"
        await server.write(b"pong")
        server.close()
        assert (await client.read(), await client.read()) == (b"pong", b"")
        with pytest.raises(BrokenPipeError):
            await client.write(b"more")

    run_virtual(main())
