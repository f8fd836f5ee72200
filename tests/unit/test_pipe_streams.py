"""asyncio's streams over pipes."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl._pipe_streams import copy_streams, open_pipe_streams
from pyctrl._pipes import Pipe
from pyctrl.testing import run_virtual


def test_both_directions_end_alone() -> None:
    """A writer may end its side, and its reader still reads what comes later."""

    async def main() -> None:
        received, sent = Pipe(), Pipe()
        reader, writer, run = open_pipe_streams(received, sent)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(run)
            writer.write(b"ask")
            writer.write_eof()
            writer.write(b"ignored")
            assert await sent.read_all() == b"ask"
            await received.write(b"answer\n")
            assert await reader.readline() == b"answer\n"
            received.close()
            assert await reader.read() == b""
            writer.close()
            await writer.wait_closed()

    run_virtual(main())


def test_a_writer_waits_for_its_reader() -> None:
    """`drain` returns when most bytes are read, and nothing is lost."""

    async def main() -> None:
        received, sent = Pipe(), Pipe()
        _, writer, run = open_pipe_streams(received, sent)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(run)
            writer.write(b"x" * 400_000)
            waiting = tasks.create_task(writer.drain())
            await asyncio.sleep(1)
            writer.write(b"y" * 100_000)
            reading = tasks.create_task(sent.read_all())
            await waiting
            writer.close()
            assert len(await reading) == 500_000

    run_virtual(main())


def test_a_reader_that_is_not_read_stops_its_sender() -> None:
    """Received bytes stay in the pipe while the reader has enough."""

    async def main() -> None:
        received, sent = Pipe(), Pipe()
        reader, writer, run = open_pipe_streams(received, sent)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(run)

            async def send() -> None:
                for _ in range(10):
                    await received.write(b"x" * 100_000)
                received.close()

            sending = tasks.create_task(send())
            await asyncio.sleep(1)
            assert not sending.done()
            assert len(await reader.read()) == 1_000_000
            writer.close()

    run_virtual(main())


def test_a_closed_pipe_breaks_the_writer() -> None:
    """`drain` raises as with a socket, and an aborted writer sends nothing more."""

    async def main() -> None:
        received, sent = Pipe(), Pipe()
        _, writer, run = open_pipe_streams(received, sent)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(run)
            sent.close()
            writer.write(b"x")
            await asyncio.sleep(1)
            assert writer.is_closing()
            with pytest.raises(ConnectionError):
                await writer.drain()
            writer.transport.abort()

    run_virtual(main())


def test_two_connections_are_joined() -> None:
    """What one client sends reaches the other one, with its end, and both are closed."""

    async def main() -> None:
        pipes = [Pipe() for _ in range(4)]
        one = open_pipe_streams(pipes[0], pipes[1])
        other = open_pipe_streams(pipes[2], pipes[3])
        async with asyncio.TaskGroup() as tasks:
            for _, _, run in (one, other):
                tasks.create_task(run)
            tasks.create_task(copy_streams(one[0], one[1], other[0], other[1]))
            await pipes[0].write(b"to the other")
            pipes[0].close()
            assert await pipes[3].read_all() == b"to the other"
            await pipes[2].write(b"back")
            pipes[2].close()
            assert await pipes[1].read_all() == b"back"

    run_virtual(main())
