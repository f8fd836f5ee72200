"""Connections to the ports of simulated pods."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl._pipes import Pipe
from pyctrl.apiserver import KubeletError
from pyctrl.cluster._kubelet.ports import forward_port
from pyctrl.testing import run_virtual


async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one line, end the own side, and count what the client sends afterwards."""
    writer.write(b"you said " + await reader.readline())
    await writer.drain()
    writer.write_eof()
    lengths.append(len(await reader.read()))
    writer.close()


lengths: list[int] = []


def test_a_function_has_the_streams_of_asyncio() -> None:
    """It reads lines, writes, and may end its side while the client still sends."""

    async def main() -> None:
        received, sent = Pipe(), Pipe()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(forward_port(talk, received, sent))
            await received.write(b"hello\n")
            assert await sent.read_all() == b"you said hello\n"
            await received.write(b"x" * 300_000)
            received.close()
        assert lengths.pop() == 300_000

    run_virtual(main())


def test_a_writer_waits_for_a_slow_client() -> None:
    """`drain` returns when the client has read; nothing is lost."""
    progress = []

    async def send(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for part in range(10):
            writer.write(b"x" * 100_000)
            await writer.drain()
            progress.append(part)

    async def main() -> None:
        received, sent = Pipe(), Pipe()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(forward_port(send, received, sent))
            await asyncio.sleep(1)
            assert len(progress) < 3
            assert len(await sent.read_all()) == 1_000_000

    run_virtual(main())


def test_a_client_that_leaves_ends_the_writer() -> None:
    """The function's `drain` raises, as with a socket."""

    async def send(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"x" * 100_000)
            await writer.drain()

    async def main() -> None:
        received, sent = Pipe(), Pipe()
        sent.close()
        with pytest.raises(ConnectionError):
            await forward_port(send, received, sent)

    run_virtual(main())


def test_an_exception_of_a_function_is_raised() -> None:
    """The client gets its message."""

    async def fail(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert not writer.is_closing()
        raise RuntimeError("no database")

    async def main() -> None:
        with pytest.raises(RuntimeError, match="no database"):
            await forward_port(fail, Pipe(), Pipe())

    run_virtual(main())


@pytest.mark.real_time  # sockets
async def test_an_address_of_this_machine() -> None:
    """Bytes go to the socket and back, until it closes its side."""
    server = await asyncio.start_server(talk, "127.0.0.1")
    async with server:
        port = server.sockets[0].getsockname()[1]
        received, sent = Pipe(), Pipe()
        async with asyncio.TaskGroup() as tasks, asyncio.timeout(10):
            tasks.create_task(forward_port(f"127.0.0.1:{port}", received, sent))
            await received.write(b"hello\n")
            assert await sent.read_all() == b"you said hello\n"
            received.close()


@pytest.mark.real_time  # sockets
async def test_an_address_at_which_nothing_listens() -> None:
    """The error names the address."""
    server = await asyncio.start_server(talk, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    with pytest.raises(KubeletError, match=f"failed to connect to 127.0.0.1:{port} on this machine"):
        await forward_port(f"127.0.0.1:{port}", Pipe(), Pipe())
