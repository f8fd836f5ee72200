"""One attempt at a time: whoever asks while one is under way shares its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

__all__ = ["SingleFlight"]


class SingleFlight:
    """Runs one attempt for all who ask for it at the same time; its result, or its error, is everybody's.

    An attempt that is cancelled with its caller is nobody's outcome: the next in line makes its own. May be used
    from one event loop after another, not from two at once.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._landed = 0
        self._error: Exception | None = None

    async def run(self, attempt: Callable[[], Awaitable[None]]) -> None:
        """Make the attempt, or wait for the one under way. Raises what it raised."""
        landed_before = self._landed
        async with self._lock_of_this_loop():
            if self._landed == landed_before:
                await self._fly(attempt)
        if self._error is not None:
            raise self._error

    async def _fly(self, attempt: Callable[[], Awaitable[None]]) -> None:
        self._error = None
        try:
            await attempt()
        except Exception as error:  # noqa: BLE001 - not handled here, handed to everybody who waits
            self._error = error
        self._landed += 1

    def _lock_of_this_loop(self) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # a lock that was ever waited for belongs to its loop for good
            self._loop, self._lock = loop, asyncio.Lock()
        return self._lock
