"""Suppression of duplicate concurrent calls, as of Go's singleflight."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

__all__ = ["SingleFlight"]


class SingleFlight:
    """Runner of one call at a time. Callers that arrive during a call share its outcome or its error.

    If the caller that runs the call is cancelled, the next waiter runs its own. It may be used from one event loop
    after another, not from two at once.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._completed = 0
        self._error: Exception | None = None

    async def run(self, function: Callable[[], Awaitable[None]]) -> None:
        """Call ``function``, or wait for the call in progress. Raises the error of the call."""
        completed_before = self._completed
        async with self._lock_of_this_loop():
            if self._completed == completed_before:
                await self._call(function)
        if self._error is not None:
            raise self._error

    async def _call(self, function: Callable[[], Awaitable[None]]) -> None:
        self._error = None
        try:
            await function()
        except Exception as error:  # noqa: BLE001 - raised to every waiting caller
            self._error = error
        self._completed += 1

    def _lock_of_this_loop(self) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # a lock that has been waited for is bound to its loop
            self._loop, self._lock = loop, asyncio.Lock()
        return self._lock
