"""Processes in containers: commands as of `kubectl exec`, and attached processes as of `kubectl attach`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec

from pyctrl._pipes import Pipe
from pyctrl._tasks import unwrapped
from pyctrl._websocket import Opcode, WebSocketProtocolError
from pyctrl.api import Key
from pyctrl.client._client import Client
from pyctrl.client._streaming.web_socket import PodSocket, open_pod_socket
from pyctrl.errors import StreamBroken, error_from_status

__all__ = ["ExecResult", "RemoteProcess", "attach", "exec_command", "exec_process"]

_V5 = "v5.channel.k8s.io"  # the only protocol that can close stdin
_PROTOCOLS = (_V5, "v4.channel.k8s.io")
_STDIN, _STDOUT, _STDERR, _ERROR, _RESIZE, _CLOSE = 0, 1, 2, 3, 4, 255
_PART = 32 * 1024  # bytes of a message of stdin


@dataclass(frozen=True, slots=True)
class ExecResult:
    """The exit code and the output of a command."""

    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""


class RemoteProcess:
    """A process in a container, whose streams this client has.

    Read with ``await process.stdout.read()``, which returns ``b""`` at the end, or with ``read_all()``. Output that is
    not read stops the process when there is much of it, as with pipes of the operating system.

    Attributes:
        stdout: What the process prints.
        stderr: Its errors; empty with a terminal.
    """

    def __init__(self, opened: PodSocket) -> None:
        self.stdout: Pipe = Pipe()
        self.stderr: Pipe = Pipe()
        self._socket, self._protocol, self._request = opened.socket, opened.protocol, opened.request
        self._status = bytearray()  # of the error channel
        self._ended = asyncio.Event()
        self._failure: StreamBroken | None = None

    async def write(self, data: bytes) -> None:
        """Write to stdin.

        Raises:
            StreamBroken: the process or the connection has ended.
        """
        for start in range(0, len(data), _PART):
            await self._send(_STDIN, data[start : start + _PART])

    async def close_stdin(self) -> None:
        """Tell the process that its input has ended. A cluster before 1.29 cannot."""
        if self._protocol == _V5:
            await self._send(_CLOSE, bytes((_STDIN,)))

    async def resize(self, width: int, height: int) -> None:
        """Set the size of the terminal, in characters."""
        await self._send(_RESIZE, msgspec.json.encode({"Width": width, "Height": height}))

    async def wait(self) -> int:
        """Wait until the process ends, and return its exit code; for an attached process it is 0.

        Raises:
            ApiError: the process could not be started.
            StreamBroken: the connection ended before the process.
        """
        await self._ended.wait()
        if self._failure is not None:
            raise self._failure
        status: dict[str, Any] = msgspec.json.decode(bytes(self._status))
        if status.get("status") == "Success":
            return 0
        causes = (status.get("details") or {}).get("causes") or ()
        code = next((each.get("message") for each in causes if each.get("reason") == "ExitCode"), None)
        if status.get("reason") == "NonZeroExitCode" and code is not None:
            return int(code)
        raise error_from_status(status, http_code=500, request=str(self._request))

    async def receive(self) -> None:
        """Receive what the process sends, until its status."""
        try:
            await self._receive()
        except (WebSocketProtocolError, StreamBroken) as error:
            self._failure = StreamBroken(f"the response to {self._request} is no WebSocket: {error}")
            self._failure.__cause__ = error
        finally:
            if not self._status and self._failure is None:
                self._failure = StreamBroken(f"the connection of {self._request} ended before the command")
            self.stdout.close()
            self.stderr.close()
            self._ended.set()

    async def _receive(self) -> None:
        pipes = {_STDOUT: self.stdout, _STDERR: self.stderr}
        async for message in self._socket.messages():
            channel, data = message.data[:1], message.data[1:]
            if channel and channel[0] in pipes and data:
                await pipes[channel[0]].write(data)
            elif channel and channel[0] == _ERROR:
                self._status += data
            if self._status:
                return

    async def _send(self, channel: int, data: bytes) -> None:
        if self._ended.is_set():
            raise StreamBroken(f"the process of {self._request} has ended")
        try:
            await self._socket.send(Opcode.BINARY, bytes((channel,)) + data)
        except BrokenPipeError as error:
            raise StreamBroken(f"the connection of {self._request} is closed") from error


@asynccontextmanager
async def exec_process(
    client: Client,
    pod: Key,
    command: Sequence[str],
    *,
    container: str | None = None,
    stdin: bool = False,
    tty: bool = False,
    random: Random | None = None,
) -> AsyncIterator[RemoteProcess]:
    """Start a command in a container of a pod, and talk to it while it runs, as `kubectl exec -i` does.

    The end of the block disconnects, which need not end the command on a cluster. It needs the permission to create
    `pods/exec`.

    Args:
        client: a client of the cluster.
        pod: the pod.
        command: the program and its arguments; no shell is involved.
        container: the container; by default the only one of the pod.
        stdin: whether the command has input.
        tty: whether the command has a terminal.
        random: the source of the masks of WebSocket frames.

    Raises:
        NotFound: the pod does not exist.
        BadRequest: the pod does not have the container, or has several and none is named.
        TransportError: there is no connection, or it was interrupted.
    """
    query = [("command", each) for each in command] + _query(container, stdin=stdin, tty=tty)
    async with _running(client, pod, "exec", query, random) as process:
        yield process


@asynccontextmanager
async def attach(
    client: Client,
    pod: Key,
    *,
    container: str | None = None,
    stdin: bool = False,
    tty: bool = False,
    random: Random | None = None,
) -> AsyncIterator[RemoteProcess]:
    """Attach to the process of a container, as `kubectl attach` does. The end of the block detaches.

    The process gets input if the container has ``stdin: true``. It needs the permission to create `pods/attach`. For
    the arguments and errors see `exec_process`.
    """
    async with _running(client, pod, "attach", _query(container, stdin=stdin, tty=tty), random) as process:
        yield process


async def exec_command(
    client: Client,
    pod: Key,
    command: Sequence[str],
    *,
    container: str | None = None,
    stdin: bytes | None = None,
    random: Random | None = None,
) -> ExecResult:
    """Run a command in a container of a pod, as `kubectl exec` does, and return its exit code and output.

    It needs the permission to create `pods/exec`. There is no limit in time: use `asyncio.timeout`.

    Args:
        client: a client of the cluster.
        pod: the pod.
        command: the program and its arguments; no shell is involved.
        container: the container; by default the only one of the pod.
        stdin: the input of the command. A cluster before 1.29 cannot tell the command where it ends.
        random: the source of the masks of WebSocket frames.

    Raises:
        NotFound: the pod does not exist.
        BadRequest: the pod does not have the container, or has several and none is named.
        ApiError: the command could not be started.
        TransportError: there is no connection, or it was interrupted.
    """
    has_stdin = stdin is not None
    async with exec_process(client, pod, command, container=container, stdin=has_stdin, random=random) as process:
        with unwrapped():
            async with asyncio.TaskGroup() as tasks:
                sending = tasks.create_task(_send_input(process, stdin))
                stdout = tasks.create_task(process.stdout.read_all())
                stderr = tasks.create_task(process.stderr.read_all())
                exit_code = await process.wait()
                sending.cancel()
    return ExecResult(exit_code, stdout.result(), stderr.result())


def _query(container: str | None, *, stdin: bool, tty: bool) -> list[tuple[str, str]]:
    streams = {"stdout": True, "stderr": not tty, "stdin": stdin, "tty": tty}
    named = [("container", container)] if container else []
    return named + [(name, "true") for name, is_wanted in streams.items() if is_wanted]


@asynccontextmanager
async def _running(
    client: Client, pod: Key, subresource: str, query: Sequence[tuple[str, str]], random: Random | None
) -> AsyncIterator[RemoteProcess]:
    async with open_pod_socket(client, pod, subresource, _PROTOCOLS, query=query, random=random) as opened:
        process = RemoteProcess(opened)
        with unwrapped():
            async with asyncio.TaskGroup() as tasks:
                receiving = tasks.create_task(process.receive())
                try:
                    yield process
                finally:
                    receiving.cancel()


async def _send_input(process: RemoteProcess, stdin: bytes | None) -> None:
    with suppress(StreamBroken):  # the command has ended, or `wait` raises
        await process.write(stdin or b"")
        if stdin is not None:
            await process.close_stdin()
