"""Streams of a process in a container for `exec` and `attach`, by any protocol that clients speak."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Protocol

import msgspec

from pyctrl._pipes import Pipe
from pyctrl._tasks import end, unwrapped
from pyctrl.apiserver._kubelet import ContainerStreams, ExecHandler, KubeletError, TerminalSize, TerminalSizeQueue

__all__ = [
    "RemoteCommandConnection",
    "RemoteCommandOptions",
    "StreamType",
    "TerminalSizeReader",
    "serve_remote_command",
]

LINGER_SECONDS = 1.0  # for a client to read the end of a command while it still sends input
INPUT_SECONDS = 5.0  # for a process to use the last input of a client that has disconnected


class StreamType(IntEnum):
    """The streams of a process, with the numbers of their channels."""

    STDIN = 0
    STDOUT = 1
    STDERR = 2
    ERROR = 3
    RESIZE = 4


class RemoteCommandOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The streams that a client requests. A terminal has no stderr of its own.

    Attributes:
        action: What failed when the process cannot be reached, for the message.
    """

    stdin: bool = False
    stdout: bool = False
    stderr: bool = False
    tty: bool = False
    action: str = "executing command in container"


class RemoteCommandConnection(Protocol):
    """The streams of one client, by some protocol."""

    async def receive(self, streams: ContainerStreams) -> None:
        """Pass what the client sends to the process, until the client disconnects."""
        ...

    async def send(self, stream: StreamType, data: bytes) -> None:
        """Send output of the process."""
        ...

    async def finish(self, status: Mapping[str, Any]) -> None:
        """Send the Status of the end of the process, and close the connection."""
        ...


async def serve_remote_command(
    connection: RemoteCommandConnection, options: RemoteCommandOptions, run: ExecHandler
) -> None:
    """Run a process with the streams of a client, until it exits or the client disconnects.

    A container runtime does not end the process of a client that has left: its input ends. Clients copy files in this
    way. A process with input has some time for it here, and is cancelled then, as one without input is at once.
    """
    streams = _streams(options)
    loop = asyncio.get_running_loop()
    process = loop.create_task(_run(connection, streams, run, options.action))
    receiving = loop.create_task(connection.receive(streams))
    try:
        await asyncio.wait((process, receiving), return_when=asyncio.FIRST_COMPLETED)
        if process.done() and process.exception() is None:
            await asyncio.wait((receiving,), timeout=LINGER_SECONDS)
        elif options.stdin and not process.done():
            streams.stdin.close()
            for output in (streams.stdout, streams.stderr):
                output.discard()
            await asyncio.wait((process,), timeout=INPUT_SECONDS)
    finally:
        await end([process, receiving])
    for task in (process, receiving):
        if not task.cancelled() and not isinstance(error := task.exception(), (ConnectionError, type(None))):
            raise error


def _streams(options: RemoteCommandOptions) -> ContainerStreams:
    streams = ContainerStreams(Pipe(), Pipe(), Pipe(), options.tty)
    if not options.stdin:
        streams.stdin.close()
    if not options.stdout:
        streams.stdout.discard()
    if not options.stderr or options.tty:
        streams.stderr.discard()
    return streams


async def _run(connection: RemoteCommandConnection, streams: ContainerStreams, run: ExecHandler, action: str) -> None:
    with unwrapped():
        await _run_process(connection, streams, run, action)


async def _run_process(
    connection: RemoteCommandConnection, streams: ContainerStreams, run: ExecHandler, action: str
) -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_send(connection, StreamType.STDOUT, streams.stdout))
        tasks.create_task(_send(connection, StreamType.STDERR, streams.stderr))
        status = await _status(run, streams, action)
        streams.stdout.close()
        streams.stderr.close()
        streams.stdin.discard()  # so that the end of the client's input is noticed
    await connection.finish(status)


async def _send(connection: RemoteCommandConnection, stream: StreamType, pipe: Pipe) -> None:
    while data := await pipe.read():
        await connection.send(stream, data)


async def _status(run: ExecHandler, streams: ContainerStreams, action: str) -> dict[str, Any]:
    """Run a process; return the Status of its end."""
    try:
        code = await run(streams)
    except KubeletError as refused:
        return _internal_error(f"unable to upgrade connection: {refused}")
    except Exception as error:  # noqa: BLE001 - the client gets it, as of a runtime that fails
        return _internal_error(f"error {action}: {error}")
    if not code:
        return {"metadata": {}, "status": "Success"}
    message = f"command terminated with non-zero exit code: exit status {code}"
    details = {"causes": [{"reason": "ExitCode", "message": str(code)}]}
    return {"metadata": {}, "status": "Failure", "message": message, "reason": "NonZeroExitCode", "details": details}


def _internal_error(why: str) -> dict[str, Any]:
    message, details = f"Internal error occurred: {why}", {"causes": [{"message": why}]}
    return {
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": "InternalError",
        "details": details,
        "code": 500,
    }


class TerminalSizeReader:
    """Reads the sizes of a terminal, which are JSON objects one after another, into a queue."""

    def __init__(self, sizes: TerminalSizeQueue) -> None:
        self._sizes, self._text = sizes, ""
        self._decoder = json.JSONDecoder()

    def feed(self, data: bytes) -> None:
        """Take received bytes. What is no size is skipped."""
        self._text = (self._text + data.decode("utf-8", "replace")).lstrip()[-256:]  # a size has about 26
        while self._text:
            try:
                size, length = self._decoder.raw_decode(self._text)
            except ValueError:
                return
            self._text = self._text[length:].lstrip()
            if isinstance(size, dict) and _is_side(size.get("Width")) and _is_side(size.get("Height")):
                self._sizes.put(TerminalSize(size["Width"], size["Height"]))


def _is_side(value: object) -> bool:
    """Return whether a value is a width or height of a terminal: an unsigned number of 16 bits."""
    return isinstance(value, int) and 0 <= value < 1 << 16
