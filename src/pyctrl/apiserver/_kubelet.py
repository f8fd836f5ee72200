"""Kubelets, as the API server reaches them for the subresources of pods."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from pyctrl._pipes import Pipe

__all__ = ["ContainerStreams", "ExecHandler", "KubeletError", "KubeletServer", "PodLogOptions"]


@dataclass(frozen=True, slots=True)
class ContainerStreams:
    """The streams of a process in a container. Those that the client did not request are at their end, or dropped."""

    stdin: Pipe
    stdout: Pipe
    stderr: Pipe
    tty: bool = False


#: Runs a process in a container with the streams of a client, and returns its exit code.
ExecHandler: TypeAlias = Callable[[ContainerStreams], Awaitable[int]]


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

    def get_logs(self, namespace: str, pod: str, container: str, options: PodLogOptions) -> AsyncGenerator[bytes, None]:
        """Return the log of a container in chunks.

        Raises:
            KubeletError: The container has no log, with the code 404 if the kubelet does not know the pod.
        """
        ...
