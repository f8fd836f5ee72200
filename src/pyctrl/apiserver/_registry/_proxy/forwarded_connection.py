"""A connection to a port of a pod, through its kubelet."""

from __future__ import annotations

import asyncio

from pyctrl._pipes import Pipe
from pyctrl._tasks import end
from pyctrl.apiserver._kubelet import PortForwardHandler

__all__ = ["ForwardedConnection"]


class ForwardedConnection:
    """A connection to a port of a pod. It must be closed, which ends the function that serves it.

    Args:
        forward: Serves the connection.
    """

    def __init__(self, forward: PortForwardHandler, port: int) -> None:
        self._sent, self._received = Pipe(), Pipe()
        self._task = asyncio.get_running_loop().create_task(self._serve(forward, port))

    async def _serve(self, forward: PortForwardHandler, port: int) -> None:
        try:
            await forward(port, self._sent, self._received)
        finally:
            self._sent.discard()
            self._received.close()

    async def read(self) -> bytes:
        """Return received bytes, at least one; b"" at the end.

        Raises:
            KubeletError: The connection cannot be opened. An error of the function that serves it is raised, too.
        """
        data = await self._received.read()
        if not data and self._task.done() and not self._task.cancelled() and (error := self._task.exception()):
            raise error
        return data

    async def write(self, data: bytes) -> None:
        """Write bytes. Waits while many are unread.

        Raises:
            BrokenPipeError: The connection is closed.
        """
        await self._sent.write(data)

    async def close(self) -> None:
        """Close both directions."""
        self._sent.close()
        self._received.discard()
        await end([self._task])
