"""Kubelets, as the API server reaches them for the subresources of pods."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol, TypeAlias

from pyctrl._pipes import Pipe

__all__ = [
    "ContainerStreams",
    "ExecHandler",
    "KubeletError",
    "KubeletServer",
    "PodLogOptions",
    "PortForwardHandler",
    "TerminalSize",
    "TerminalSizeQueue",
]


class TerminalSize(NamedTuple):
    """The size of a terminal in characters."""

    width: int
    height: int


class TerminalSizeQueue:
    """The size of a client's terminal, and its changes. A change that is not read is replaced by the next one.

    Iterating over it yields each new size until the client sends no more.
    """

    def __init__(self) -> None:
        #: The last size that the client has sent; None before the first.
        self.current: TerminalSize | None = None
        self._is_new = self._is_closed = False
        self._changed = asyncio.Event()

    async def next(self) -> TerminalSize | None:
        """Wait for a new size and return it; None when there will be no more."""
        while not self._is_new and not self._is_closed:
            self._changed.clear()
            await self._changed.wait()
        if not self._is_new:
            return None
        self._is_new = False
        return self.current

    async def __aiter__(self) -> AsyncIterator[TerminalSize]:
        while (size := await self.next()) is not None:
            yield size

    def put(self, size: TerminalSize) -> None:
        """Set a new size."""
        self.current, self._is_new = size, True
        self._changed.set()

    def close(self) -> None:
        """End the changes."""
        self._is_closed = True
        self._changed.set()


@dataclass(frozen=True, slots=True)
class ContainerStreams:
    """The streams of a process in a container. Those that the client did not request are at their end, or dropped."""

    stdin: Pipe
    stdout: Pipe
    stderr: Pipe
    tty: bool = False
    sizes: TerminalSizeQueue = field(default_factory=TerminalSizeQueue)


#: Runs a process in a container with the streams of a client, and returns its exit code.
ExecHandler: TypeAlias = Callable[[ContainerStreams], Awaitable[int]]

#: Forwards one connection to a port of a pod: it reads the first pipe, and writes to the second one.
PortForwardHandler: TypeAlias = Callable[[int, Pipe, Pipe], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodLogOptions:
    """What a client requests of the log of a container.

    Attributes:
        follow: Whether the log is streamed until the container ends.
        previous: Whether it is the log of the run that ended last.
        timestamps: Whether each line begins with its time.
        since: The time of the first line.
        tail_lines: The number of lines before the end at which the log begins.
        limit_bytes: The number of bytes after which it ends.
    """

    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    since: datetime | None = None
    tail_lines: int | None = None
    limit_bytes: int | None = None


class KubeletError(Exception):
    """A kubelet refuses a request, with the message and the status code of the response."""

    def __init__(self, message: str, *, code: int = 400) -> None:
        super().__init__(message)
        self.code = code


class KubeletServer(Protocol):
    """The server of the kubelet of one node."""

    def get_exec(self, namespace: str, pod: str, container: str, command: list[str]) -> ExecHandler:
        """Return the function that runs a command in a container.

        Raises:
            KubeletError: The container does not run.
        """
        ...

    def get_attach(self, namespace: str, pod: str, container: str) -> ExecHandler:
        """Return the function that attaches to the process of a container, until this process ends; it returns 0.

        Raises:
            KubeletError: The container does not run.
        """
        ...

    def get_port_forward(self, namespace: str, pod: str) -> PortForwardHandler:
        """Return the function that forwards connections to the ports of a pod.

        It returns when the connection has ended, and raises KubeletError if it cannot be opened.

        Raises:
            KubeletError: The pod does not run.
        """
        ...

    def find_address(self, namespace: str, pod: str, port: int) -> tuple[str, int] | None:
        """Return host and port of this machine at which a port of a pod listens, or None."""
        ...

    def get_logs(self, namespace: str, pod: str, container: str, options: PodLogOptions) -> AsyncGenerator[bytes, None]:
        """Return the log of a container in chunks.

        Raises:
            KubeletError: The container has no log, with the code 404 if the kubelet does not know the pod.
        """
        ...
