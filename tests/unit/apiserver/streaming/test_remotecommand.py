"""Streams of a process in a container, without a protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from pyctrl.apiserver import ContainerStreams, KubeletError, TerminalSize, TerminalSizeQueue
from pyctrl.apiserver._streaming.remotecommand import (
    RemoteCommandOptions,
    StreamType,
    TerminalSizeReader,
    serve_remote_command,
)
from pyctrl.testing import run_virtual


class Client:
    """A client that sends some input and then waits, or leaves after a while."""

    def __init__(self, leaves_after: float = 1000.0) -> None:
        self.leaves_after = leaves_after
        self.output: list[tuple[StreamType, bytes]] = []
        self.status: Mapping[str, Any] = {}

    async def receive(self, streams: ContainerStreams) -> None:
        await streams.stdin.write(b"in")
        await asyncio.sleep(self.leaves_after)

    async def send(self, stream: StreamType, data: bytes) -> None:
        self.output.append((stream, data))

    async def finish(self, status: Mapping[str, Any]) -> None:
        self.status = status


async def say(streams: ContainerStreams) -> int:
    """Write what it reads to stdout, and to stderr."""
    data = await streams.stdin.read()
    await streams.stdout.write(data)
    await streams.stderr.write(data)
    return 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (RemoteCommandOptions(stdin=True, stdout=True, stderr=True), [StreamType.STDOUT, StreamType.STDERR]),
        (RemoteCommandOptions(stdin=True, stdout=True, stderr=True, tty=True), [StreamType.STDOUT]),
        (RemoteCommandOptions(stdin=True, stderr=True), [StreamType.STDERR]),
    ],
)
def test_only_requested_streams_are_sent(options: RemoteCommandOptions, expected: list[StreamType]) -> None:
    """Output that the client does not want is dropped; a terminal has no stderr."""

    async def main() -> None:
        client = Client()
        await serve_remote_command(client, options, say)
        assert [stream for stream, _ in client.output] == expected
        assert client.status["status"] == "Success"

    run_virtual(main())


def test_a_process_ends_with_its_client() -> None:
    """A client that disconnects cancels the process."""
    cancelled = []

    async def hang(_: ContainerStreams) -> int:
        try:
            await asyncio.get_running_loop().create_future()
            return 0
        finally:
            cancelled.append(True)

    run_virtual(serve_remote_command(Client(leaves_after=5), RemoteCommandOptions(stdin=True), hang))
    assert cancelled == [True]


def test_the_last_input_of_a_client_is_used() -> None:
    """A client may send input and disconnect at once: the process reads it to the end, and can use it for a while."""
    copied = []

    async def copy(streams: ContainerStreams) -> int:
        data = await streams.stdin.read_all()
        await streams.stdout.write(b"discarded output")
        await asyncio.sleep(4)
        copied.append(data)
        return 0

    client = Client(leaves_after=0)
    run_virtual(serve_remote_command(client, RemoteCommandOptions(stdin=True, stdout=True), copy))
    assert (copied, client.output) == ([b"in"], [])


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KubeletError("no such container"), "unable to upgrade connection: no such container"),
        (RuntimeError("no database"), "error attaching to container: no database"),
    ],
)
def test_a_process_that_fails_is_an_internal_error(error: Exception, message: str) -> None:
    """The Status has the message and no exit code."""

    async def fail(_: ContainerStreams) -> int:
        raise error

    client = Client()
    options = RemoteCommandOptions(stdin=True, action="attaching to container")
    run_virtual(serve_remote_command(client, options, fail))
    assert client.status["message"] == f"Internal error occurred: {message}"
    assert client.status["code"] == 500


def test_sizes_of_a_terminal_are_read_in_pieces() -> None:
    """Several sizes in one message, and one size in several; what is no size is skipped."""

    async def main() -> None:
        queue = TerminalSizeQueue()
        reader = TerminalSizeReader(queue)
        reader.feed(b'{"Width":1,"Height":2}\n{"Width":3,')
        assert await queue.next() == TerminalSize(1, 2)
        reader.feed(b'"Height":4} {"Width":"x"} {"Width":-1,"Height":2} {"Width":1,"Height":65536} 7')
        assert await queue.next() == TerminalSize(3, 4)
        queue.close()
        assert await queue.next() is None

    run_virtual(main())
