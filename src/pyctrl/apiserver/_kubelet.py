"""Kubelets, as the API server reaches them for the subresources of pods."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pyctrl._pipes import Pipe

__all__ = ["ContainerStreams", "ExecHandler", "KubeletError", "KubeletServer"]


@dataclass(frozen=True, slots=True)
class ContainerStreams:
    """The streams of a process in a container. Those that the client did not request are at their end, or dropped."""

    stdin: Pipe
    stdout: Pipe
    stderr: Pipe
    tty: bool = False


#: Runs a process in a container with the streams of a client, and returns its exit code.
ExecHandler: TypeAlias = Callable[[ContainerStreams], Awaitable[int]]


class KubeletError(Exception):
    """A kubelet refuses a request, with the message of the response."""


class KubeletServer(Protocol):
    """The server of the kubelet of one node."""

    def get_exec(self, namespace: str, pod: str, container: str, command: list[str]) -> ExecHandler:
        """Return the function that runs a command in a container.

        Raises:
            KubeletError: The container does not run.
        """
        ...
