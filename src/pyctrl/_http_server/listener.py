"""Accept loop of a server, with handling of exhausted file descriptors."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager

from pyctrl._http_server.client_warnings import ServerWarnings
from pyctrl._http_server.file_descriptors import SpareDescriptors, is_exhaustion, is_scarce
from pyctrl._tasks import unwrapped

__all__ = ["Listener"]

log = logging.getLogger("pyctrl.server")

BATCH = 16  # connections accepted in a row before other tasks run
RETRY_SECONDS = 0.1  # before accepting again after the process ran out of descriptors

Connect = Callable[[socket.socket], Awaitable[object]]


async def _at_once() -> None:
    """Accept the next connection without waiting."""


class Listener:
    """Accepts connections at an address until its block ends.

    Without free descriptors, asyncio's own server logs an error with a traceback for each attempt, and retries at once
    for each waiting connection. This one logs once a minute, and waits between attempts.

    Args:
        name: the name of the server, for logs.
        connect: sets up a connection with an accepted socket.
        make_place: waits until another connection is allowed.
        free_descriptor: closes one of the server's connections; returns False if there is none to close.
        has_reserve: whether to hold spare descriptors for this server, and to use those that other servers leave free.
    """

    def __init__(
        self,
        name: str,
        connect: Connect,
        *,
        make_place: Callable[[], Awaitable[None]] = _at_once,
        free_descriptor: Callable[[], bool] = lambda: False,
        has_reserve: bool = False,
    ) -> None:
        self._name, self._connect, self._make_place, self._free_descriptor = name, connect, make_place, free_descriptor
        self._spares = SpareDescriptors() if has_reserve else None
        self._tasks: set[asyncio.Task[None]] = set()
        self._warnings = ServerWarnings(name)

    @asynccontextmanager
    async def listening(self, host: str | None, port: int, *, backlog: int) -> AsyncIterator[int]:
        """Listen, and yield the port; the end of the block closes the listening sockets, but no connection.

        Raises:
            OSError: the address does not exist, or the port is in use.
        """
        sockets = await _bind(host, port, backlog)
        self.released()
        try:
            with unwrapped():
                async with asyncio.TaskGroup() as group:
                    for each in sockets:
                        self._begin(group, self._accept(each, group))
                    try:
                        yield int(sockets[0].getsockname()[1])
                    finally:
                        for task in self._tasks:
                            task.cancel()
        finally:
            if self._spares is not None:
                self._spares.close()
            for each in sockets:
                each.close()

    def released(self) -> None:
        """Refill the spare descriptors after a connection was closed."""
        if self._spares is not None:
            self._spares.fill()

    def _begin(self, group: asyncio.TaskGroup, work: Coroutine[None, None, None]) -> None:
        task = group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listening: socket.socket, group: asyncio.TaskGroup) -> None:
        while True:
            await _until_readable(listening)
            for _ in range(BATCH):
                try:
                    accepted, _address = listening.accept()
                except (BlockingIOError, InterruptedError):
                    break
                except ConnectionError:
                    continue  # the client has disconnected already
                except OSError as error:
                    await self._recover(error)
                    break
                if self._may_keep(accepted):
                    await self._place(accepted)
                    self._begin(group, self._connected(accepted))

    def _may_keep(self, accepted: socket.socket) -> bool:
        """Return whether a connection may be kept; close it if its descriptor is reserved for others."""
        if self._spares is not None or not is_scarce(accepted.fileno()) or self._free_descriptor():
            return True
        self._warnings.warn("Too few file descriptors are left, refusing connections")
        accepted.close()
        return False

    async def _place(self, accepted: socket.socket) -> None:
        try:
            await self._make_place()
        except BaseException:
            accepted.close()
            raise

    async def _connected(self, accepted: socket.socket) -> None:
        accepted.setblocking(False)
        try:
            await self._connect(accepted)
        except OSError as error:  # also TLS errors: a client with another protocol is not worth a warning
            log.debug("Failed to connect", extra={"server": self._name, "error": str(error)})
            accepted.close()
        except Exception:
            log.exception("Failed to connect", extra={"server": self._name})
            accepted.close()

    async def _recover(self, error: OSError) -> None:
        """Handle a failed accept: release a spare descriptor, or close an idle connection and wait."""
        if not is_exhaustion(error):
            self._warnings.warn(f"Failed to accept a connection: {error.strerror}")
            await asyncio.sleep(RETRY_SECONDS)
        elif self._spares is None or not self._spares.give_up_one():
            self._warnings.warn("Out of file descriptors, not accepting connections")
            self._free_descriptor()
            await asyncio.sleep(RETRY_SECONDS)


async def _bind(host: str | None, port: int, backlog: int) -> list[socket.socket]:
    """Return sockets that listen at each address of a host; all addresses if it is None."""
    loop = asyncio.get_running_loop()
    # the loop handles families, options and errors of each platform; its own accept loop is not started
    server = await loop.create_server(asyncio.Protocol, host, port, start_serving=False)
    sockets = [each.dup() for each in server.sockets]
    server.close()
    for each in sockets:
        each.setblocking(False)
        each.listen(backlog)
    return sockets


async def _until_readable(listening: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    is_readable = asyncio.Event()
    loop.add_reader(listening, is_readable.set)
    try:
        await is_readable.wait()
    finally:
        loop.remove_reader(listening)
