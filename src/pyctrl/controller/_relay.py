"""Changes on their way from the informer to a handler: at once when nothing waits, else one after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from typing import Protocol

from pyctrl._slices import SLICE, Slice
from pyctrl.cache import Change, Created

__all__ = ["Pending", "Relay"]

#: Changes in a row that are handled in the informer's block: all who follow a kind do so, each on top of the other.
AT_ONCE = 20


class Pending(Protocol):
    """A change that is not done with: its handler waits for something."""

    async def finish(self) -> None:
        """Wait for it and do the rest."""

    def drop(self) -> None:
        """Do not: nobody is there any more for whom it matters."""


class Relay:
    """Hands changes to a function, in their order; a `Listener`.

    What happens now is handled in the very block in which the informer takes it: a worker that waits is the next to
    run. Everything else is kept, and handled by `run`, a time slice at a time: what was there before, what comes while
    something is waited for, what is more than a few changes in a row, and what follows one that took long. Nothing
    overtakes.

    What the function raises never gets to the informer; it ends `run`.

    Args:
        take: handles a change, or begins to.
    """

    def __init__(self, take: Callable[[Change], Pending | None]) -> None:
        self._take = take
        self._context = copy_context()  # and not the informer's: a handler may look at variables of its program
        self._kept: deque[Change] = deque()
        self._pending: Pending | None = None
        self._has_news = asyncio.Event()
        self._left = 0  # how many more may be handled at once
        self._error: BaseException | None = None
        self._loop = asyncio.get_running_loop()

    def push(self, change: Change) -> None:
        """Take a change from the informer."""
        # no await from here to the end of `take`: what came before is done with, and nothing can come between
        if self._kept or self._pending or not self._left or (type(change) is Created and change.initial):
            self._kept.append(change)
            self._has_news.set()
            return
        self._left -= 1
        began = self._loop.time()
        try:
            self._pending = self._context.run(self._take, change)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - the informer has no part in it
            self._error, self._left = error, 0
        if self._loop.time() - began > SLICE:
            self._left = 0
            self._has_news.set()
        # Half-way in good time: while one comes in each turn of the loop, none ever has to wait.
        if self._pending or self._error or self._left == AT_ONCE // 2:
            self._has_news.set()

    async def run(self) -> None:
        """Handle what is kept, until cancelled.

        Raises:
            Exception: the function has failed.
        """
        try:
            while self._error is None:
                self._has_news.clear()
                await self._handle_kept()
                self._left = AT_ONCE
                await self._has_news.wait()
            raise self._error
        finally:
            if self._pending:
                self._pending.drop()

    async def _handle_kept(self) -> None:
        slice_ = Slice.current()
        while self._kept or self._pending:
            if self._pending is None:
                self._pending = self._take(self._kept.popleft())
            if self._pending is not None:
                await self._pending.finish()
                self._pending = None
            if slice_.is_over(self._loop.time()):
                await slice_.renew()
