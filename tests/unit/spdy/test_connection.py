"""Streams over one SPDY connection, between both of its sides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from pyctrl._pipes import PipeConnection
from pyctrl._spdy import SPDYConnection, SPDYStream
from pyctrl._spdy.frames import Data, Frame, FrameReader, FrameWriter, GoAway, Ping, RstStream, SynReply, SynStream
from pyctrl._tasks import end
from pyctrl.testing import run_virtual


def accept_into(opened: list[SPDYStream]) -> Callable[[SPDYStream], bool]:
    """Return a function that accepts streams and keeps them in a list."""

    def accept(stream: SPDYStream) -> bool:
        opened.append(stream)
        return True

    return accept


@asynccontextmanager
async def connected(open_stream: Callable[[SPDYStream], bool]) -> AsyncIterator[SPDYConnection]:
    """Run both sides of a connection, and yield the client's side."""
    one, other = PipeConnection.pair()
    client, server = SPDYConnection(one, is_client=True), SPDYConnection(other)
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(client.run()), loop.create_task(server.run(open_stream))]
    try:
        yield client
    finally:
        one.close()
        await end(tasks)


def test_streams_carry_bytes_in_both_directions() -> None:
    """Each side reads what the other one writes to the same stream, and its end."""

    async def main() -> None:
        opened: list[SPDYStream] = []
        async with connected(accept_into(opened)) as client:
            first, second = await client.open({"name": "a"}), await client.open({"name": "b"})
            assert [each.headers for each in opened] == [{"name": "a"}, {"name": "b"}]
            await first.write(b"x" * 100_000)
            await first.close()
            assert await opened[0].received.read_all() == b"x" * 100_000
            await opened[1].write(b"second")
            assert await second.received.read() == b"second"
            await opened[0].write(b"still open")
            assert await first.received.read() == b"still open"
            with pytest.raises(BrokenPipeError):
                await first.write(b"closed")

    run_virtual(main())


def test_a_stream_that_is_refused_raises() -> None:
    """The side that opens a stream sees that the other side refused it."""

    async def main() -> None:
        async with connected(lambda _: False) as client:
            with pytest.raises(ConnectionRefusedError):
                await client.open({})

    run_virtual(main())


def test_a_reset_ends_both_directions() -> None:
    """After a reset the other side reads the end and cannot write."""

    async def main() -> None:
        opened: list[SPDYStream] = []
        async with connected(accept_into(opened)) as client:
            stream = await client.open({})
            await stream.reset()
            assert await opened[0].received.read() == b""
            with pytest.raises(BrokenPipeError):
                await opened[0].write(b"x")

    run_virtual(main())


def test_a_lost_connection_ends_its_streams() -> None:
    """Readers see the end, and no stream can be opened any more."""

    async def main() -> None:
        async with connected(lambda _: True) as client:
            stream = await client.open({})
            await client.close()
            assert await stream.received.read() == b""
        with pytest.raises(ConnectionRefusedError):
            await client.open({})

    run_virtual(main())


def answers(*frames: Frame) -> list[Frame]:
    """Return the frames of a server that receives these frames and then the end."""

    async def main() -> list[Frame]:
        one, other = PipeConnection.pair()
        server = asyncio.get_running_loop().create_task(SPDYConnection(other).run(lambda _: True))
        writer, reader = FrameWriter(), FrameReader()
        await one.write(b"".join(map(writer.encode, frames)))
        await asyncio.wait([server], timeout=1)
        received = reader.feed(await one.read())
        one.close()
        await server
        return received

    return run_virtual(main())


def test_pings_of_the_client_are_answered() -> None:
    """A ping with an odd number is the client's; one with an even number would be an answer."""
    assert answers(Ping(2), Ping(1)) == [Ping(1)]


def test_frames_of_unknown_streams_are_skipped() -> None:
    """Data, replies and resets of streams that are over are no error."""
    assert answers(Data(1, b"x"), SynReply(1), RstStream(1), SynStream(1), Ping(3)) == [SynReply(1), Ping(3)]


def test_no_stream_is_accepted_after_the_client_goes_away() -> None:
    """The connection is closed when the client has announced it and no stream is open."""
    assert answers(SynStream(1), GoAway(), SynStream(3)) == [SynReply(1), RstStream(3)]


def test_numbers_of_streams_must_increase() -> None:
    """A stream of the client has an odd number that was not used; others are refused."""
    opened = map(SynStream, (2, 3, 1, 3))
    assert answers(*opened) == [RstStream(2, 1), SynReply(3), RstStream(1, 1), RstStream(3, 1)]
